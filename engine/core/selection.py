"""Which task comes next: scaffold first, phase by phase, dependencies done, priority, then the plan's order."""

from __future__ import annotations

from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step


def ready(state: State) -> list[TaskState]:
    """Pending tasks that may start now, best first."""
    phase = _open_phase(state)
    if phase is None:
        return []
    waiting = [
        task
        for task in state.tasks.values()
        if task.status is Status.PENDING and task.phase == phase and not (task.spec.depends_on and unmet(state, task))
    ]
    return sorted(waiting, key=lambda task: -task.spec.priority)


def unmet(state: State, task: TaskState) -> list[str]:
    """Dependencies that are not complete yet."""
    return [
        name
        for name in task.spec.depends_on
        if name not in state.tasks or state.tasks[name].status is not Status.COMPLETE
    ]


def doomed(state: State) -> list[tuple[TaskState, str]]:
    """Pending tasks whose dependency ended without being complete, and why."""
    found = []
    for task in state.tasks.values():
        if task.status is not Status.PENDING or not task.spec.depends_on:
            continue
        for name in task.spec.depends_on:
            other = state.tasks.get(name)
            if other is None:
                found.append((task, f"depends on {name}, which is not in the plan"))
                break
            if other.ended and other.status not in (Status.COMPLETE, Status.PARKED):
                found.append((task, f"depends on {name}, which is {other.status.value}"))
                break
    return found


def in_the_way(state: State, task: TaskState) -> str:
    """The task that a doomed one is given up for, through all that were given up in between; empty: none that is."""
    seen: set[str] = set()
    while task.id not in seen:
        seen.add(task.id)
        over = (state.tasks[name] for name in task.spec.depends_on if name in state.tasks)
        ended = next((one for one in over if one.ended and one.status is not Status.COMPLETE), None)
        if ended is None:
            return task.id if len(seen) > 1 else ""
        task = ended
        if task.started_at:
            return task.id
    return ""


def first_in_train(state: State, task: TaskState) -> bool:
    """Finished tasks commit oldest first: the first of them is committed, or checked again on what came before it."""
    train = [one for one in state.tasks.values() if one.queued_at and one.step in (Step.COMMIT, Step.CHECKS)]
    running = [one for one in train if one.status is Status.RUNNING]
    return not running or min(running, key=lambda one: one.queued_at).id == task.id


def free_lanes(state: State) -> list[int]:
    used = {task.lane for task in state.tasks.values() if task.status is Status.RUNNING}
    return [lane for lane in range(max(1, state.policy.lanes)) if lane not in used]


def _open_phase(state: State) -> int | None:
    """The first phase with work left: phases are barriers, scaffold phases come first."""
    if state.plan is None:
        return None
    open_phases = {task.phase for task in state.tasks.values() if not task.ended}
    order = sorted(
        range(len(state.plan.phases)),
        key=lambda index: (not state.plan.phases[index].scaffold, index),  # type: ignore[union-attr]
    )
    return next((index for index in order if index in open_phases), None)
