"""What each role is told, from the state: the prompt of one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from engine.core.effects import CallAgent
from engine.core.model import CheckResult, Role, Struct
from engine.core.state import State, TaskState
from engine.core.vocabulary import Recovery
from engine.files import write_inside
from engine.prompts.fields import (
    AnswererFields,
    CouncillorFields,
    Fields,
    ImplementerFields,
    Note,
    ReviewerFields,
    ScopeJudgeFields,
    SynthesistFields,
)

SHORT_DIFF = 24_000
"""A diff up to this many characters stands in the prompt; a longer one is a file the agent reads."""


class Brief(Struct, frozen=True, kw_only=True):
    """A folder in the agent's private HOME with what its prompt points at instead of copying it."""

    folder: Path
    seen: Path
    """The same folder as the agent sees it."""
    redact: Callable[[str], str]

    def write(self, name: str, text: str) -> str:
        """Put a file there, in place of an older one; gives its path for the agent."""
        write_inside(self.folder, name, self.redact(text))
        return str(self.seen / name)


def fields(
    effect: CallAgent,
    state: State,
    diff: str,
    diff_file: str,
    context_file: str,
    lessons: tuple[str, ...] = (),
    *,
    role_prompt: str = "",
    tried: tuple[Note, ...] = (),
    others: tuple[ReviewerFields, ...] = (),
) -> Fields:
    """The fields of a role's template. The reviewer is never told what the implementer says."""
    task = state.tasks[effect.task]
    shown, kept = (diff, "") if len(diff) <= SHORT_DIFF else ("", diff_file)
    match effect.role:
        case Role.REVIEWER:
            told = under_review(state, task, shown, kept)
            return replace(told, context_file=context_file, role_prompt=role_prompt, others=others)
        case Role.SCOPE_JUDGE:
            return ScopeJudgeFields(task=task.spec, changes=task.changes, diff=shown, diff_file=kept)
        case Role.COUNCILLOR:
            return CouncillorFields(
                seat=effect.seat,
                task=task.spec,
                checks=_failing(task),
                findings=task.feedback.findings if task.feedback else (),
                history=_history(state, task),
                tried=tried,
                diff=shown,
                diff_file=kept,
                context_file=context_file,
            )
        case Role.SYNTHESIST:
            notes = tuple(Note(origin=seat, text=text) for seat, text in task.seats.items() if text)
            return SynthesistFields(task=task.spec, diagnoses=notes, checks=_failing(task))
        case Role.ANSWERER:
            gate = state.gates.get(effect.gate)
            return AnswererFields(
                question=effect.question,
                task=task.spec,
                gate=gate.title if gate else "",
                checks=task.checks,
                diff=shown,
                diff_file=kept,
                context_file=context_file,
            )
        case (
            Role.IMPLEMENTER
            | Role.PLANNER
            | Role.PLAN_REVIEWER
            | Role.GATHERER
            | Role.PRD_WRITER
            | Role.SPRINT_REVIEWER
        ):
            briefed = _implementer(task, effect, context_file, lessons)
            # A session that goes on was there itself; a fresh one hears everything.
            history = () if effect.session else _history(state, task)
            return replace(briefed, run_checks=state.baseline, history=history, role_prompt=role_prompt)
        case _:
            assert_never(effect.role)


def under_review(state: State, task: TaskState, diff: str, diff_file: str) -> ReviewerFields:
    """One task as its reviewer sees it: the change and what was measured."""
    phases = state.plan.phases if state.plan is not None else ()
    return ReviewerFields(
        task=task.spec,
        scaffold=0 <= task.phase < len(phases) and phases[task.phase].scaffold,
        changes=task.changes,
        diff=diff,
        diff_file=diff_file,
        checks=task.checks,
        findings=task.findings,
        comments=task.comments,
    )


def _implementer(task: TaskState, effect: CallAgent, context_file: str, lessons: tuple[str, ...]) -> ImplementerFields:
    last = task.feedback
    reverted = task.reverted or (last.reverted if last else ())
    notes = list(task.comments)
    if task.recovery is Recovery.FRESH:
        notes.append("The last attempts went in circles. Start afresh: question the approach, not only the details.")
    return ImplementerFields(
        task=task.spec,
        iteration=effect.iteration,
        attempt=effect.attempt,
        context_file=context_file,
        learnings=lessons,
        checks=last.checks if last else (),
        findings=last.findings if last else (),
        review=last.review if last else None,
        reverted=reverted,
        refused=_refused(task),
        last_chance=task.over_bound > 0,
        comments=tuple(notes),
        diagnosis=task.diagnosis,
        error=last.error if last else "",
        earlier=task.earlier,
        changes=task.changes if task.earlier else (),
        strict_scope=bool(reverted),
    )


SCOPE_RULES = (
    *("secret", "too-many", "too-large", "too-deep", "nested-repository", "submodule"),
    *("symlink", "special-file", "type-change"),
)
"""What no change may hold, wherever it is."""


def _refused(task: TaskState) -> tuple[str, ...]:
    """Why something of the last attempt was put back, where it was not for its place: a secret, too many files."""
    found = task.scope_findings or (task.feedback.findings if task.feedback else ())
    return tuple(one.text for one in found if one.severity == "error" and one.rule in SCOPE_RULES)


def _failing(task: TaskState) -> tuple[CheckResult, ...]:
    return task.feedback.checks if task.feedback else task.checks


def _history(state: State, task: TaskState) -> tuple[Note, ...]:
    names = [rung.name for rung in state.policy.ladder.rungs]
    return tuple(
        Note(
            origin=f"iteration {record.iteration} ({names[min(record.rung, len(names) - 1)]})",
            text=f"changed {', '.join(record.files) or 'nothing'}; {record.error or record.reason}",
        )
        for record in task.history
    )
