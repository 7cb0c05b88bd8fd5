"""A checkpoint brings back how each task stood: what had ended then has ended again, what has ended since is open."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from engine.core.model import Decision, RestoredEnd
from engine.core.state import State, Status
from engine.core.task_state import Step, status_of


def ends_of(then: State, now: State) -> dict[str, RestoredEnd]:
    """Tasks that had ended then without being complete, and how; only those that stand otherwise now."""
    found = {}
    for name, past in then.tasks.items():
        known = now.tasks.get(name)
        unfinished = past.ended and past.status is not Status.COMPLETE and past.decision is not None
        if known is None or not unfinished or _same(past.status, past.reason, known.status, known.reason):
            continue
        found[name] = RestoredEnd(decision=past.decision or Decision.BLOCKED, reason=past.reason, action=past.action)
    return found


def opened_since(then: State, now: State) -> tuple[str, ...]:
    """Tasks that have ended since without a commit: they were still to be done then."""
    return tuple(
        name
        for name, task in now.tasks.items()
        if name in then.tasks and not then.tasks[name].ended and task.ended and not task.commit
    )


def end_again(state: State, ends: Mapping[str, RestoredEnd]) -> State:
    """The tasks stand as they did; what they cost and what is kept of them is not taken back."""
    for name, end in ends.items():
        task = state.tasks.get(name)
        if task is None or state.task_in_flight(name):
            continue
        over = replace(
            task,
            status=status_of(end.decision),
            step=Step.END,
            decision=end.decision,
            reason=end.reason,
            action=end.action,
            lane=-1,
            commit="",
            blocker="",
            gate="",
            resumes=None,
            skip_asked=False,
            ended_at=state.now,
        )
        state = replace(state, tasks={**state.tasks, name: over})
    return state


def _same(status: Status, reason: str, other: Status, words: str) -> bool:
    return status is other and reason == words
