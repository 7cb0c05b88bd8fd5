"""What becomes of a task whose effect failed or was cut off, whose run began anew, or whose base or work went away."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import events as ev
from engine.core import fold_reopening
from engine.core.effects import AnyEffect, CallAgent
from engine.core.failures import backoff
from engine.core.fold_gates import KEPT_COMMENTS, limit
from engine.core.model import Decision, Role
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step
from engine.core.vocabulary import Choice


def effect_failed(state: State, effect: AnyEffect, event: ev.EffectFailed, said: str) -> State:
    for name in effect.members() if isinstance(effect, CallAgent) else (effect.task,):
        if name in state.tasks:
            state = _failed_for(state, state.tasks[name], effect, event, said)
    return state


def _failed_for(state: State, task: TaskState, effect: AnyEffect, event: ev.EffectFailed, said: str) -> State:
    tries = task.tries + 1
    if event.kind == "permanent" or tries >= state.policy.retry.attempts:
        again = Step.PREPARE if _implements(effect) else task.step
        stop = replace(task, step=Step.BLOCKED_GATE, blocker=said, action=event.hint, tries=0, again=again)
        return state.with_task(replace(stop, decision=Decision.BLOCKED))
    wait = backoff(state.policy.retry, tries, event.id)
    step = Step.PREPARE if _implements(effect) else task.step
    return state.with_task(replace(task, step=step, tries=tries, not_before=state.now + wait))


def effect_interrupted(state: State, effect: AnyEffect) -> State:
    """The attempt is taken up again from the tree it started with; every other effect is simply done again."""
    task = state.tasks.get(effect.task)
    if task is None or not _implements(effect):
        return state
    return state.with_task(replace(task, step=Step.PREPARE))


def taken_up(state: State, at: float) -> State:
    """A new run: no backoff outlives the clock, and what a human had to mend outside the task is tried again."""
    gates, tasks = dict(state.gates), dict(state.tasks)
    for name, task in state.tasks.items():
        if task.not_before > at:
            tasks[name] = task = replace(task, not_before=at)
        if task.judged:  # checks and settings may be others by now
            tasks[name] = task = replace(task, judged=())
        if task.status is Status.RUNNING and task.step is Step.BLOCKED_GATE and task.mend:
            if task.gate in gates:
                gates[task.gate] = replace(gates[task.gate], choice=Choice.WITHDRAWN)
            step = task.again or Step.PREPARE
            tasks[name] = replace(task, step=step, again=None, blocker="", action="", mend=False, gate="")
    return replace(state, gates=gates, tasks=tasks)


def base_moved(state: State, task: TaskState, event: ev.BaseMoved) -> TaskState:
    """Trees of the old base would undo the other lane's commit, so none of them is ever gone back to.

    Review, approval and override are about the task's own change: they stand while that is the same. Checks are about
    the whole tree: they are run again on the merged one.
    """
    landed = (*task.landed, *event.landed)[-20:]
    task = replace(
        task,
        good_tree="",
        history=fold_reopening.treeless(task),
        judged=(),
        checks=(),
        check_errors=0,
        tries=0,
        findings=task.scope_findings,
        landed=landed,
    )
    if event.tree and event.same_patch:
        return replace(task, base=event.base, tree=event.tree, step=Step.CHECKS)
    task = replace(task, review=None, overridden=False, override="", approved=False, queued_at=0.0)
    if event.tree:
        return replace(task, base=event.base, tree=event.tree, step=Step.CHECKS, difference=event.difference)
    said = f"another task changed the same places: {', '.join(event.conflicts[:3])}"
    return replace(
        task,
        base="",
        tree="",
        session="",
        earlier=None,
        step=Step.NEXT,
        comments=(*task.comments, said)[-KEPT_COMMENTS:],
        granted=task.granted + (task.iteration >= limit(state, task)),
    )


def work_lost(task: TaskState, event: ev.WorkLost) -> TaskState:
    """Nothing that was said of the lost trees is about what comes next; the words to the agent stand."""
    return replace(
        task,
        base="",
        tree="",
        before="",
        good_tree="",
        rollback="",
        session="",
        earlier=None,
        history=fold_reopening.treeless(task),
        judged=(),
        checks=(),
        check_errors=0,
        tries=0,
        findings=(),
        review=None,
        overridden=False,
        override="",
        approved=False,
        queued_at=0.0,
        step=Step.NEXT,
        comments=(*task.comments, event.reason)[-KEPT_COMMENTS:],
        granted=task.granted + 1,
    )


def _implements(effect: AnyEffect) -> bool:
    return isinstance(effect, CallAgent) and effect.role is Role.IMPLEMENTER
