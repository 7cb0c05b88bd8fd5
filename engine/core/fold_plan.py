"""The plan as the user edits it while it is worked on: what its tasks become."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.fold_gates import another_round
from engine.core.fold_reopening import with_grants, withdrawn
from engine.core.model import Plan, TaskSpec
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step

TICKED = "ticked in the plan"
WAITING = (Step.FIX_GATE, Step.BLOCKED_GATE, Step.TASK_GATE, Step.PERMISSION_GATE, Step.COMMIT)
"""Steps at which an attempt is over and only a word or its turn is missing."""


def changed(state: State, plan: Plan) -> State:
    """The user's edit. An attempt at the old words cannot complete the new ones: what only waits begins anew."""
    state = replace(state, plan=plan, tasks=tasks_of(plan, state.tasks), final=None)
    for name, task in state.tasks.items():
        busy = any(effect.task == name for effect in state.inflight.values())
        if task.edited is not None and task.step in WAITING and not busy:
            state = withdrawn(state, task.gate)
            again = another_round(state, replace(task, gate="", approved=False, queued_at=0.0, again=None, mend=False))
            state = replace(state, tasks={**state.tasks, name: again})
    return state


def tasks_of(plan: Plan, known: dict[str, TaskState]) -> dict[str, TaskState]:
    """The plan's tasks; complete ones keep what they are, the other ended ones may be ticked by hand."""
    tasks: dict[str, TaskState] = {}
    for index, phase in enumerate(plan.phases):
        for spec in phase.tasks:
            old = known.get(spec.id)
            if old is not None and old.status is not Status.PENDING:
                taken = replace(old, phase=index)
                if old.status is Status.RUNNING:
                    taken = _while_it_runs(taken, spec)
                if old.ended and old.status is not Status.COMPLETE:
                    taken = replace(taken, spec=with_grants(spec, old.allowed))
                    if spec.done:
                        taken = replace(taken, status=Status.COMPLETE, decision=None, reason=TICKED, action="")
                tasks[spec.id] = taken
                continue
            task = (
                TaskState(spec=spec, phase=index)
                if old is None
                else replace(old, spec=with_grants(spec, old.allowed), phase=index)
            )
            if spec.done and task.iteration:
                # Opened again after it was complete: the tick is the engine's own, of before.
                task = replace(task, spec=replace(task.spec, done=False))
            elif spec.done:
                task = replace(task, status=Status.COMPLETE, reason=TICKED)
            elif spec.skipped:
                task = replace(task, status=Status.SKIPPED, reason="skipped in the plan")
            tasks[spec.id] = task
    for name, old in known.items():
        if name not in tasks and old.status is not Status.PENDING:
            tasks[name] = replace(old, phase=min(old.phase, len(plan.phases) - 1))
    return tasks


def _while_it_runs(task: TaskState, spec: TaskSpec) -> TaskState:
    """Its words are other ones now: they hold from the next iteration on, and this one cannot complete the task."""
    if _words(spec) == _words(task.spec):
        return replace(task, edited=None)
    edited = replace(with_grants(spec, task.allowed), done=False, skipped=False)
    return replace(task, edited=edited, granted=task.granted + (task.edited is None))


def _words(spec: TaskSpec) -> tuple[object, ...]:
    return spec.title, spec.description, spec.accept, spec.scope, spec.verify, spec.proof
