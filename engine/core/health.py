"""The monitor: health from measured facts only, and what recovers from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.core.model import Health
from engine.core.policy import MonitorPolicy
from engine.core.state import TaskState
from engine.core.task_state import Record
from engine.core.vocabulary import Recovery
from engine.core.wording import plural


def assess(history: Sequence[Record], good_passing: int, window: int = 3) -> tuple[Health, str]:
    """The health after the last iteration of a task, with the reason in words."""
    if not history:
        return Health.PROGRESSING, "no iteration yet"
    last = history[-1]
    if last.green:
        tests = f" ({plural(last.passing, 'test')})" if last.total else ""
        return Health.PROGRESSING, f"all checks pass{tests}"
    if last.repeats:
        if len(history) < 2 or history[-2].tree == last.tree:
            return Health.STALLED, f"iteration {last.iteration} gave the tree of iteration {last.repeats} again"
        return Health.FLIP_FLOPPING, f"iteration {last.iteration} is back at the tree of iteration {last.repeats}"
    if reason := _flip_flop(history):
        return Health.FLIP_FLOPPING, reason
    if good_passing > 0 and len(history) >= 2:
        pair = history[-2:]
        if all(record.total and record.passing < good_passing for record in pair) and not pair[0].green:
            return Health.REGRESSING, f"{last.passing} tests pass, {good_passing} did before, twice in a row"
    recent = history[-window:]
    if len(recent) == window and not any(record.green for record in recent):
        if recent[0].error and all(record.error == recent[0].error for record in recent):
            return Health.STALLED, f"the same error {window} times: {recent[0].error}"
        if not any(record.changed for record in recent):
            return Health.STALLED, f"no change to the tree {window} times"
    if last.error and not last.total:
        return Health.PROGRESSING, last.error
    return Health.PROGRESSING, f"{last.passing} of {last.total} tests pass" if last.total else "under way"


def recovery(task: TaskState, health: Health, policy: MonitorPolicy) -> tuple[Recovery, str]:
    """What to do about it before the next iteration, and the tree to go back to."""
    if health is Health.PROGRESSING:
        return Recovery.NONE, ""
    if task.recoveries.get(health.value, 0) >= policy.recoveries:
        # Whatever the human says: work goes on from what was good, not from what regressed.
        worse = health in (Health.REGRESSING, Health.FLIP_FLOPPING)
        return Recovery.HUMAN, task.good_tree if worse and policy.auto_rollback else ""
    match health:
        case Health.STALLED:
            return Recovery.FRESH, ""
        case Health.REGRESSING:
            return (
                (Recovery.LAST_GOOD, task.good_tree)
                if policy.auto_rollback and task.good_tree
                else (Recovery.FRESH, "")
            )
        case Health.FLIP_FLOPPING:
            back = task.history[-3].tree if len(task.history) >= 3 else task.good_tree
            return (Recovery.BACK_TWO, back) if policy.auto_rollback and back else (Recovery.FRESH, "")
        case Health.BLOCKED:
            return Recovery.HUMAN, ""
        case _:
            assert_never(health)


def _flip_flop(history: Sequence[Record]) -> str:
    if len(history) < 3:
        return ""
    before_last, between, last = history[-3], history[-2], history[-1]
    if between.green or before_last.green:
        return ""
    if last.tree and last.tree == before_last.tree != between.tree:
        return f"iteration {last.iteration} is back at the tree of iteration {before_last.iteration}"
    if last.failing and last.failing == before_last.failing and between.failing and between.failing != last.failing:
        return f"the failures of iteration {before_last.iteration} are back: {last.failing[0]}"
    return ""
