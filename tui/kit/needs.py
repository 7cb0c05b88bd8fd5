"""What somebody is needed for: gates, parked questions and blocked tasks, by how much each one holds up. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import assert_never

from engine.core.gates import question_words
from engine.core.model import Struct
from engine.core.state import GateState, State, Status, TaskState
from engine.core.vocabulary import GateKind
from engine.core.wording import plural

STANDING = (Status.BLOCKED, Status.HALTED, Status.BUDGET_EXHAUSTED)


class NeedKind(StrEnum):
    """What somebody can do about it."""

    GATE = "gate"
    """Answer it."""
    QUESTION = "question"
    """Work is parked for a permission."""
    BLOCKED = "blocked"
    """A task stands still."""


class Need(Struct, frozen=True, kw_only=True):
    """One card of the desk."""

    kind: NeedKind
    task: str
    gate: str = ""
    why: str = ""
    again: str = ""
    """Why it is asked another time; empty the first time."""
    frees: tuple[str, ...] = ()
    """Tasks that cannot start before it."""
    since: float = 0.0
    complete: bool = False
    """A task gate whose every criterion has its proof: may be approved with others."""


def held_up(state: State, task: str) -> tuple[str, ...]:
    """Tasks that wait for this one, also through others, in the plan's order."""
    if task not in state.tasks:
        return ()
    held = {task}
    grown = True
    while grown:
        more = {
            other.id
            for other in state.tasks.values()
            if other.id not in held and not other.ended and held & set(other.spec.depends_on)
        }
        grown = bool(more)
        held |= more
    return tuple(name for name in state.tasks if name in held and name != task)


def by_need(state: State, gates: Iterable[GateState]) -> list[GateState]:
    """Gates by what they hold up, the oldest first among equals. One without a task holds up everything."""

    def rank(gate: GateState) -> tuple[int, float, str]:
        return (
            -len(held_up(state, gate.task) if gate.task else state.tasks) - (not gate.task),
            gate.opened_at,
            gate.id,
        )

    return sorted(gates, key=rank)


def needs(state: State) -> list[Need]:
    """Every card: gates first, then questions, then what stands still; by what they hold up within each."""
    cards = [_gate(state, gate) for gate in by_need(state, state.open_gates())]
    asked = {gate.task for gate in state.open_gates()}
    rest = [task for task in state.tasks.values() if task.id not in asked]
    for kind, statuses in ((NeedKind.QUESTION, (Status.PARKED,)), (NeedKind.BLOCKED, STANDING)):
        found = [task for task in rest if task.status in statuses]
        cards += sorted((_standing(state, task, kind) for task in found), key=lambda card: -len(card.frees))
    return cards


def _gate(state: State, gate: GateState) -> Need:
    task = state.tasks.get(gate.task)
    return Need(
        kind=NeedKind.GATE,
        task=gate.task,
        gate=gate.id,
        why=_why(gate, task),
        again=_again(gate, task),
        frees=held_up(state, gate.task),
        since=gate.opened_at,
        complete=task is not None and gate.kind is GateKind.TASK and not gate.forced and proven(task),
    )


def _why(gate: GateState, task: TaskState | None) -> str:
    match gate.kind:
        case GateKind.FIX:
            issues = len(task.review.issues) if task is not None and task.review is not None else 0
            return f"the review requests {plural(issues, 'change')}" if issues else "the review rejects it"
        case GateKind.TASK:
            return "a finding needs your decision" if gate.forced else "ready to commit"
        case GateKind.BLOCKED:
            return (task.blocker or task.reason) if task is not None else gate.title
        case GateKind.PERMISSION:
            return question_words(task) if task is not None else gate.title
        case GateKind.QUESTION:
            return "the planner has a question"
        case GateKind.PLAN:
            return "a plan needs your approval"
        case GateKind.PRD:
            return "requirements need your approval"
        case GateKind.SPRINT:
            return "the final review requests changes"
        case GateKind.LEARNING:
            return "agents contradict a learning"
        case _:
            assert_never(gate.kind)


def _again(gate: GateState, task: TaskState | None) -> str:
    """Why somebody who answered before is asked another time."""
    if task is None:
        return ""
    if gate.kind is GateKind.TASK and task.landed:
        what = "and changed this patch" if task.difference else "and the merged code was checked again"
        return f"asked again: {task.landed[-1]} was committed meanwhile, {what}"
    if gate.forced and gate.kind is GateKind.FIX:
        return f"asked in spite of auto: no agreement after {gate.attempt} attempts"
    if gate.kind is GateKind.FIX and gate.attempt > 1:
        return f"asked again: attempt {gate.attempt}, the last fix did not satisfy the review"
    if task.comments and gate.kind is GateKind.TASK:
        return "asked again: your comment was worked in"
    return ""


def _standing(state: State, task: TaskState, kind: NeedKind) -> Need:
    why = question_words(task) if kind is NeedKind.QUESTION else task.reason or task.blocker
    return Need(kind=kind, task=task.id, why=why, again=task.action, frees=held_up(state, task.id), since=task.ended_at)


def proven(task: TaskState) -> bool:
    """Every criterion is met in the review's eyes, and the engine saw red turn green or a plan that wants no proof."""
    review = task.review
    met = review is not None and review.approved and all(item.met for item in review.criteria)
    return met and task.proof is not None and task.proof.value in ("PROVEN", "HARMLESS")
