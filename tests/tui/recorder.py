"""Writes a sprint's history fact by fact, in the vocabulary of the engine; the story itself is in recordings.py."""

from __future__ import annotations

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.activity import AgentOutput, AnyActivity, CheckProgress, Countdown, OutputKind
from engine.core.model import (
    AgentResult,
    CheckKind,
    CheckResult,
    Decision,
    FileChange,
    Health,
    ResultKind,
    Review,
    Role,
    TestCounts,
    Tokens,
    Verdict,
)
from engine.core.policy import Policy
from engine.core.vocabulary import Claim, Recovery
from engine.link.codec import Recorded
from engine.link.protocol import Answered, AnyQuery

START = 1_790_000_000.0
Item = ev.Envelope | AnyActivity | Recorded


class Recorder:
    """Appends facts and activities; time moves only when told to."""

    def __init__(self, sprint: str, policy: Policy | None = None) -> None:
        self.sprint = sprint
        self.policy = policy or Policy()
        self.items: list[Item] = []
        self.marks: dict[str, int] = {}
        self.now = START
        self.seq = 0
        self.effects = 0
        self.lanes: dict[str, int] = {}
        self.iterations: dict[str, int] = {}
        self.rungs: dict[str, int] = {}
        self.trees: dict[str, str] = {}

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def mark(self, name: str) -> None:
        self.marks[name] = len(self.items)

    def fact(self, event: ev.AnyEvent, after: float = 0.2) -> None:
        self.now += after
        self.seq += 1
        # As the journal gives it back: words of the closed sets, not strings that look like them.
        try:
            recorded = ev.decode(ev.encode(event))
        except UnicodeEncodeError:  # hostile text that no journal could hold, straight from a live engine
            recorded = event
        self.items.append(ev.Envelope(seq=self.seq, stream=self.sprint, at=self.now, event=recorded))

    def live(self, activity: AnyActivity) -> None:
        self.items.append(activity)

    def answer(self, query: AnyQuery, answer: Answered) -> None:
        self.items.append(Recorded(query=query, answer=answer))

    def effect(self) -> str:
        self.effects += 1
        return f"e{self.effects}"

    def tree(self, task: str) -> str:
        """A new tree for a task: looks like a hash, is the same in every run."""
        text = f"{task}-{self.effects}".encode()
        made = "".join(f"{(byte * 37 + 11) % 256:02x}" for byte in text).ljust(40, "c")[:40]
        self.trees[task] = made
        return made

    # ── a task's life ──

    def start_task(self, task: str, lane: int, rung: int, complexity: int, reason: str) -> None:
        self.lanes[task], self.rungs[task], self.iterations[task] = lane, rung, 0
        self.fact(ev.TaskStarted(task=task, lane=lane, rung=rung, complexity=complexity, reason=reason))

    def iterate(self, task: str) -> int:
        self.iterations[task] += 1
        number = self.iterations[task]
        self.fact(ev.IterationStarted(task=task, iteration=number, rung=self.rungs[task]))
        self.prepare(task)
        return number

    def prepare(self, task: str) -> None:
        prepare = ef.PrepareWorkspace(
            id=self.effect(), task=task, lane=self.lanes[task], iteration=self.iterations[task]
        )
        self.fact(ev.EffectStarted(effect=prepare))
        tree = self.trees.get(task) or self.tree(task)
        base = "base".ljust(40, "0")
        self.fact(ev.WorkspaceReady(id=prepare.id, task=task, lane=self.lanes[task], tree=tree, base=base), 0.4)

    def begin_call(
        self, task: str, role: Role, *, rung: int | None = None, seat: str = "", gate: str = ""
    ) -> ef.CallAgent:
        step = self.policy.ladder.rungs[self.rungs.get(task, 0) if rung is None else rung]
        call = ef.CallAgent(
            id=self.effect(),
            task=task,
            lane=self.lanes.get(task, -1),
            role=role,
            rung=step,
            iteration=self.iterations.get(task, 0),
            attempt=1,
            seat=seat,
            gate=gate,
            reserve_usd=step.reserve_usd,
            dependency=step.agent,
        )
        self.fact(ev.EffectStarted(effect=call))
        return call

    def say(
        self,
        call: ef.CallAgent,
        kind: OutputKind,
        text: str = "",
        *,
        tool: str = "",
        path: str = "",
        after: float = 1.5,
    ) -> None:
        self.now += after
        self.live(
            AgentOutput(
                effect=call.id,
                task=call.task,
                lane=call.lane,
                at=self.now,
                kind=kind,
                role=call.role,
                seat=call.seat,
                text=text,
                tool=tool,
                path=path,
            )
        )

    def end_call(
        self,
        call: ef.CallAgent,
        cost: float,
        *,
        kind: ResultKind = ResultKind.OK,
        text: str = "",
        claim: str = "complete",
        error: str = "",
        reset_at: float | None = None,
        after: float = 4.0,
    ) -> None:
        tokens = Tokens(input=int(cost * 42_000) + 900, output=int(cost * 9_000) + 120, cache_read=int(cost * 210_000))
        result = AgentResult(
            kind=kind,
            text=text,
            session=f"s-{call.task}",
            model=call.rung.model,
            tokens=tokens,
            cost_usd=cost,
            claim=Claim(claim),
            error=error,
            reset_at=reset_at,
            seconds=30.0,
        )
        self.fact(
            ev.AgentFinished(
                id=call.id,
                task=call.task,
                role=call.role,
                rung=call.rung,
                result=result,
                iteration=call.iteration,
                seat=call.seat,
                charged_usd=cost,
                reserved_usd=call.reserve_usd,
            ),
            after,
        )

    def scope(self, task: str, changes: tuple[FileChange, ...], *, reverted: tuple[str, ...] = ()) -> None:
        effect = ef.CheckScope(
            id=self.effect(),
            task=task,
            lane=self.lanes[task],
            iteration=self.iterations[task],
            attempt=1,
            before="b",
            base="b",
        )
        self.fact(ev.EffectStarted(effect=effect))
        self.fact(
            ev.ScopeChecked(
                id=effect.id,
                task=task,
                verdict=Verdict.FAIL if reverted else Verdict.PASS,
                tree=self.tree(task),
                changes=changes,
                attempt_changes=changes,
                reverted=reverted,
                reason=f"{len(reverted)} paths outside the task's scope were put back" if reverted else "",
            ),
            0.6,
        )

    def begin_checks(self, task: str) -> ef.RunChecks:
        effect = ef.RunChecks(
            id=self.effect(),
            task=task,
            lane=self.lanes[task],
            tree=self.trees[task],
            base="b",
            iteration=self.iterations[task],
        )
        self.fact(ev.EffectStarted(effect=effect))
        return effect

    def progress(
        self, effect: ef.RunChecks, check: str, state: str = "running", verdict: str = "", detail: str = ""
    ) -> None:
        self.now += 0.8
        self.live(
            CheckProgress(
                effect=effect.id,
                task=effect.task,
                lane=effect.lane,
                at=self.now,
                check=check,
                state=state,
                verdict=verdict,
                detail=detail,
            )
        )

    def end_checks(self, effect: ef.RunChecks, results: tuple[CheckResult, ...]) -> None:
        for result in results:
            self.progress(effect, result.name)
            self.progress(effect, result.name, "done", result.verdict.value)
        self.fact(
            ev.ChecksFinished(
                id=effect.id,
                task=effect.task,
                tree=effect.tree,
                base="b",
                purpose="task",
                results=results,
                evidence=self.tree(effect.task + "evidence")[:16].ljust(64, "e"),
                iteration=effect.iteration,
            )
        )

    def review(self, task: str, review: Review, cost: float = 0.12) -> None:
        call = self.begin_call(task, Role.REVIEWER, rung=len(self.policy.ladder.rungs) - 1)
        self.say(call, OutputKind.TOOL_CALL, tool="Read", path="src/auth/passwords.py")
        self.end_call(call, cost, text=review.summary, claim="")
        self.fact(ev.ReviewFinished(id=call.id, task=task, tree=self.trees[task], review=review))

    def decide(
        self, task: str, decision: Decision, reason: str, *, rung: int | None = None, recovery: str = ""
    ) -> None:
        to = self.rungs[task] if rung is None else rung
        self.fact(
            ev.Decided(
                task=task,
                iteration=self.iterations[task],
                decision=decision,
                reason=reason,
                rung=to,
                recovery=Recovery(recovery),
            )
        )
        self.rungs[task] = to

    def health(self, task: str, health: Health, reason: str) -> None:
        self.fact(ev.HealthChanged(task=task, health=health, reason=reason), 0.0)

    def gate(
        self, gate: str, task: str, kind: str, title: str, body: str, attempt: int = 0, forced: bool = False
    ) -> None:
        choices = {
            "fix": ("yes", "auto", "skip", "ask", "comment"),
            "task": ("yes", "auto", "ask", "comment"),
            "blocked": ("retry", "skip", "stop", "ask"),
        }[kind]
        self.fact(
            ev.GateOpened(
                gate=gate,
                task=task,
                kind=kind,
                title=title,
                body=body,
                attempt=attempt,
                choices=choices,
                tree=self.trees.get(task, ""),
                evidence="e3b0c44298fc1c149afbf4c8996fb924",
                forced=forced,
            )
        )

    def commit(self, task: str, title: str) -> None:
        effect = ef.Commit(
            id=self.effect(), task=task, lane=self.lanes[task], tree=self.trees[task], base="b", message=title
        )
        self.fact(ev.EffectStarted(effect=effect))
        commit = self.tree(task + "commit")
        self.fact(
            ev.Committed(
                id=effect.id,
                task=task,
                commit=commit,
                tree=self.trees[task],
                message=f"impl(login): T{task} — {title}",
                branch=f"devteam/{self.sprint}",
            )
        )
        self.fact(ev.TaskEnded(task=task, decision=Decision.COMPLETE, reason="all checks pass, every criterion met"))

    def limit_wait(self, task: str, until: float, reason: str) -> ef.Wait:
        effect = ef.Wait(
            id=self.effect(), task=task, lane=self.lanes[task], until=until, reason=reason, dependency="claude"
        )
        self.fact(ev.EffectStarted(effect=effect))
        self.live(Countdown(effect=effect.id, task=task, lane=effect.lane, at=self.now, until=until, reason=reason))
        return effect


def tests(
    passed: int,
    total: int,
    *,
    failing: tuple[str, ...] = (),
    fixed: int = 0,
    new: int = 0,
    before: int = 0,
    output: str = "",
) -> CheckResult:
    bad = total - passed
    return CheckResult(
        name="tests",
        kind=CheckKind.TESTS,
        verdict=Verdict.FAIL if bad else Verdict.PASS,
        reason=f"{bad} test{'s' if bad > 1 else ''} failing that passed before" if bad else "",
        command="python -m pytest -q",
        seconds=3.4,
        counts=TestCounts(total=total, passed=passed, failed=bad, new=new, fixed=fixed, broken_before=before),
        failing=failing,
        coverage=87.0 + passed / 10,
        output=output,
        source="junit",
        evidence="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    )


def check(
    name: str,
    kind: CheckKind,
    verdict: Verdict = Verdict.PASS,
    reason: str = "",
    *,
    errors: int = 0,
    seconds: float = 1.1,
) -> CheckResult:
    return CheckResult(
        name=name,
        kind=kind,
        verdict=verdict,
        reason=reason,
        errors=errors,
        seconds=seconds,
        command=COMMANDS[name],
        exit_code=0 if verdict is Verdict.PASS else 1,
        source="exit code",
    )


COMMANDS = {
    "types": "mypy --strict src",
    "lint": "ruff check src tests",
    "security": "bandit -q -r src",
    "build": "python -m build --wheel",
}


def others(**changed: CheckResult) -> tuple[CheckResult, ...]:
    """Types, lint, security and build, passing unless told otherwise."""
    kinds = {"types": CheckKind.TYPES, "lint": CheckKind.LINT, "security": CheckKind.SECURITY, "build": CheckKind.BUILD}
    return tuple(changed.get(name) or check(name, kind) for name, kind in kinds.items())
