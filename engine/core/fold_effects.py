"""Effects in flight: what their start, end, failure and interruption mean to the state."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import events as ev
from engine.core import (
    fold_gates,
    fold_interruptions,
    fold_spend,
    machine,
)
from engine.core.effects import AnyEffect, CallAgent, CreateBaseline, KeepTree, Land, SaveCheckpoint, Wait
from engine.core.failures import backoff
from engine.core.model import Role
from engine.core.state import State

KEPT_NOTES = 20
KEPT_CALLS = 1000
"""Call times kept for the permits, or as many as there are permits."""


def started(state: State, effect: AnyEffect) -> State:
    state = _busy(state, effect)
    state = replace(state, inflight={**state.inflight, effect.id: effect}, effect_count=state.effect_count + 1)
    if isinstance(effect, CallAgent):
        kept = max(KEPT_CALLS, state.policy.limits.calls_per_hour)
        recent = state.calls_of_the_hour()[1 - kept :]
        state = replace(state, calls=state.calls + 1, recent_calls=(*recent, state.now))
    if isinstance(effect, Land):
        state = replace(state, land_run=state.run)
    return state


def _busy(state: State, effect: AnyEffect) -> State:
    task = state.tasks.get(effect.task)
    if task is None or not _works(effect) or _at_work(state, task.id):
        return state
    return replace(state, tasks={**state.tasks, task.id: replace(task, busy_since=state.now)})


def _at_work(state: State, task: str) -> bool:
    return any(_works(effect) for effect in state.task_in_flight(task))


def _works(effect: AnyEffect) -> bool:
    """Waiting is no work, and an answer to a question at a gate is none on the task."""
    return not isinstance(effect, Wait) and not (isinstance(effect, CallAgent) and effect.role is Role.ANSWERER)


def landed(state: State, effect_id: str, *, worked: bool = True) -> State:
    """`worked`: its time counts; of one whose end nobody saw, nobody knows how long it was at work."""
    effect = state.inflight.get(effect_id)
    if effect is None:
        return state
    state = replace(state, inflight={key: value for key, value in state.inflight.items() if key != effect_id})
    task = state.tasks.get(effect.task)
    if task is None or not task.busy_since or _at_work(state, task.id):
        return state
    seconds = max(0.0, state.now - task.busy_since) if worked else 0.0
    rested = replace(task, worked_seconds=task.worked_seconds + seconds, busy_since=0.0)
    return replace(state, tasks={**state.tasks, task.id: rested})


def failed(state: State, event: ev.EffectFailed) -> State:
    effect = state.inflight.get(event.id)
    state = landed(state, event.id)
    if effect is None:
        return state
    if event.fault is not None:
        return fold_interruptions.effect_interrupted(
            machine.suspend(state, event.fault, event.message, event.hint), effect
        )
    if isinstance(effect, CallAgent):
        state = fold_spend.charge_lost(state, effect)
    said = f"{event.message} — {event.hint}" if event.hint else event.message
    match effect:
        case CallAgent(role=Role.ANSWERER):
            return fold_gates.replied(state, effect.gate, f"(no answer: {said})")
        case SaveCheckpoint():
            return replace(state, checkpoint_due="", checkpoint_at=state.now, notes=note(state, said))
        case CreateBaseline():
            rest = tuple(name for name in state.milestones if name != effect.milestone)
            return replace(state, milestones=rest, notes=note(state, said))
        case KeepTree():
            left = tuple(name for name in state.keeps if name != effect.task)
            return replace(state, keeps=left, notes=note(state, said))
        case Land():
            return replace(state, land_due=False, notes=note(state, said))
        case _ if not effect.task:
            tries = state.sprint_tries + 1
            gives_up = event.kind == "permanent" or tries >= state.policy.retry.attempts
            return replace(
                state,
                sprint_tries=tries,
                sprint_not_before=state.now + backoff(state.policy.retry, tries, event.id),
                sprint_error=said if gives_up else "",
            )
        case _:
            return fold_interruptions.effect_failed(state, effect, event, said)


def abandoned(state: State) -> State:
    """What a run left under way when it ended is over: charged as reserved, and done again by the next."""
    for effect_id in state.inflight:
        state = interrupted(state, ev.EffectInterrupted(id=effect_id))
    return state


def interrupted(state: State, event: ev.EffectInterrupted) -> State:
    effect = state.inflight.get(event.id)
    state = landed(state, event.id, worked=False)
    if effect is None:
        return state
    if isinstance(effect, CallAgent):
        state = fold_spend.charge_lost(state, effect)
    return fold_interruptions.effect_interrupted(state, effect)


def note(state: State, text: str) -> tuple[str, ...]:
    return (*state.notes, text)[-KEPT_NOTES:] if text else state.notes
