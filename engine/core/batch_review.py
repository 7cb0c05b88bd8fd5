"""Reviews: one for each task, or one for a batch: the tasks that are done side by side (`review = "batch"`).

A batch is whoever stands before its review once nobody in the other lanes is about to join. A review that wants changes
goes back to the tasks concerned; gates and commits stay each task's own.
"""

from __future__ import annotations

from typing import assert_never

from engine.core.admission import Turn
from engine.core.effects import Wait
from engine.core.model import Role
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step

TOGETHER = 2
"""Tries at an answer about all of them; after that each one is asked about alone."""


def ask(turn: Turn, task: TaskState) -> None:
    """The review of this task, or of the batch it is the first of."""
    state = turn.state
    if state.policy.review != "batch" or task.tries >= TOGETHER:
        turn.call(task, Role.REVIEWER)
        return
    running = [one for one in state.tasks.values() if one.status is Status.RUNNING]
    batch = [one for one in running if _stands_ready(state, one)]
    if batch[0].id != task.id or any(_will_join(state, one) for one in running if one not in batch):
        return
    turn.call(task, Role.REVIEWER, batch=batch if len(batch) > 1 else ())


def _stands_ready(state: State, task: TaskState) -> bool:
    ready = task.step is Step.REVIEW and task.tries < TOGETHER and task.not_before <= state.now
    return ready and not _leaving(task) and not state.task_in_flight(task.id)


def _leaving(task: TaskState) -> bool:
    return task.skip_asked and not task.commit


def _will_join(state: State, task: TaskState) -> bool:
    """It is on its way to a review, and nothing but its own work is between."""
    match task.step:
        case Step.REVIEW:
            asked = any(not isinstance(effect, Wait) for effect in state.task_in_flight(task.id))
            return task.tries < TOGETHER and not asked and not _leaving(task)
        case (
            Step.NEXT
            | Step.ROLLBACK
            | Step.PREPARE
            | Step.IMPLEMENT
            | Step.SCOPE
            | Step.SCOPE_JUDGE
            | Step.CHECKS
            | Step.DECIDE
        ):
            waits = any(isinstance(effect, Wait) for effect in state.task_in_flight(task.id))
            # One whose checks failed may fail again and again; one that the review sent back is expected with the rest.
            struggles = task.feedback is not None and task.feedback.review is None
            return not (waits or struggles or task.queued_at or _leaving(task))
        case (
            Step.FIX_GATE
            | Step.BLOCKED_GATE
            | Step.TASK_GATE
            | Step.PERMISSION_GATE
            | Step.COUNCIL
            | Step.COMMIT
            | Step.END
        ):
            return False
        case _:
            assert_never(task.step)
