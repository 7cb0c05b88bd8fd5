"""To the next task that runs, has failed, or waits for somebody: round the plan from where one looks. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from engine.core.state import State, Status, TaskState

FAILED = (Status.BLOCKED, Status.HALTED, Status.BUDGET_EXHAUSTED)


class Jump(StrEnum):
    """Where to."""

    RUNNING = "running"
    FAILED = "failed"
    WAITING = "waiting"


def fits(task: TaskState, jump: Jump) -> bool:
    match jump:
        case Jump.RUNNING:
            return task.status is Status.RUNNING
        case Jump.FAILED:
            last = task.history[-1] if task.history else None
            return task.status in FAILED or (not task.ended and last is not None and bool(last.failing or last.error))
        case Jump.WAITING:
            return bool(task.gate) or task.status is Status.PARKED
        case _:
            assert_never(jump)


def next_task(state: State, current: str, jump: Jump) -> str:
    """The next one after the current, round the plan; itself if it is the only one; empty if there is none."""
    names = list(state.tasks)
    start = names.index(current) + 1 if current in state.tasks else 0
    for name in (*names[start:], *names[:start]):
        if fits(state.tasks[name], jump):
            return name
    return ""
