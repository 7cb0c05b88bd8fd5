"""What each iteration did, stage by stage, gathered from the run's facts: what the drawn report is made of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.model import CheckResult, Decision, FileChange, Review, Role, Struct, Verdict

Key = tuple[str, int]


class IterationFacts(Struct, frozen=True, kw_only=True):
    """One iteration of one task."""

    rung: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    scope: Verdict | None = None
    changes: tuple[FileChange, ...] = ()
    """What this attempt changed."""
    reverted: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    merged: tuple[CheckResult, ...] = ()
    """The checks once more, after it was decided: over what was committed meanwhile."""
    review: Review | None = None
    decision: Decision | None = None
    reason: str = ""
    claim: str = ""
    """The agent's own closing words."""
    usd: float = 0.0
    calls: int = 0
    tree: str = ""


class Iterated:
    """Takes envelopes in order, each once, and knows every iteration."""

    def __init__(self) -> None:
        self.seq = 0
        self.found: dict[Key, IterationFacts] = {}
        self._at: dict[str, int] = {}

    def take(self, envelope: ev.Envelope) -> None:
        if envelope.seq <= self.seq:
            return
        self.seq = envelope.seq
        match envelope.event:
            case ev.IterationStarted(task=task, iteration=iteration, rung=rung):
                self._at[task] = iteration
                self.found[task, iteration] = IterationFacts(rung=rung, started_at=envelope.at)
            case ev.AgentFinished(task=task, tasks=tasks, role=role, result=result, charged_usd=usd):
                members = tasks or (task,)
                for one in members:
                    known = self._of(one)
                    said = result.text if role is Role.IMPLEMENTER else known.claim
                    more = replace(known, usd=known.usd + max(0.0, usd) / len(members), calls=known.calls + 1)
                    self._put(one, replace(more, claim=said))
            case ev.ScopeChecked(task=task, verdict=verdict, attempt_changes=changes, reverted=reverted, tree=tree):
                self._put(task, replace(self._of(task), scope=verdict, changes=changes, reverted=reverted, tree=tree))
            case ev.ChecksFinished(task=task, results=results, purpose="task"):
                known = self._of(task)
                again = known.checks and known.decision is not None
                self._put(task, replace(known, merged=results) if again else replace(known, checks=results))
            case ev.ReviewFinished(task=task, review=review):
                self._put(task, replace(self._of(task), review=review))
            case ev.Decided(task=task, decision=decision, reason=reason):
                self._put(task, replace(self._of(task), decision=decision, reason=reason, ended_at=envelope.at))
            case _:
                pass

    def _of(self, task: str) -> IterationFacts:
        return self.found.get((task, self._at.get(task, 0)), IterationFacts())

    def _put(self, task: str, facts: IterationFacts) -> None:
        if task in self._at:
            self.found[task, self._at[task]] = facts

    def before(self, task: str, iteration: int) -> IterationFacts | None:
        """The iteration that came before, where there was one."""
        earlier = [number for name, number in self.found if name == task and number < iteration]
        return self.found[task, max(earlier)] if earlier else None


def failing_of(facts: IterationFacts) -> tuple[str, ...]:
    """Tests that fail, in the order in which the checks name them."""
    return tuple(dict.fromkeys(name for result in facts.checks for name in result.failing))


def passing_of(facts: IterationFacts) -> tuple[int, int] | None:
    counted = [result.counts for result in facts.checks if result.counts is not None and result.counts.total]
    return (sum(one.passed for one in counted), sum(one.total for one in counted)) if counted else None


def section_of(output: str, test: str) -> list[str]:
    """The part of a test runner's output that is about one test, with its own indents; empty where none is.

    Looked for by the test's last name in a heading (pytest's underscores, unittest's and Go's words, the mark that
    JavaScript runners put before a failing name); it ends at the next heading of the same make.
    """
    name = test.rsplit("::", 1)[-1].rsplit(" > ", 1)[-1].rsplit(".", 1)[-1].strip()
    lines = output.split("\n")
    for at, line in enumerate(lines):
        make = _heading(line)
        if make and name and name in line:
            end = next((place for place in range(at + 1, len(lines)) if _heading(lines[place]) == make), len(lines))
            closing = (place for place in range(at + 1, end) if lines[place].startswith("=" * 10))
            return _trimmed(lines[at : next(closing, end)])
    return []


def _heading(line: str) -> str:
    """What kind of heading a line is; empty: none."""
    for make, begins in (("pytest", "____"), ("unittest", "FAIL: "), ("unittest", "ERROR: "), ("go", "--- FAIL: ")):
        if line.strip().startswith(begins):
            return make
    return "node" if line.lstrip()[:2] in ("● ", "✕ ", "✖ ", "× ") else ""


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Without blank lines at either end."""
    found = list(lines)
    while found and not found[-1].strip():
        found.pop()
    return found
