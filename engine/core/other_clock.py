"""What a state says of time, by a wall clock that was set since it was recorded. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.effects import Wait
from engine.core.state import State

SET_BY_HAND = 2.0
"""Seconds; less than that a time server does all day."""


def taken_over(state: State, moved: float) -> State:
    """For the next run: as much is left of every wait as was."""
    return replace(
        state,
        limits={agent: until + moved for agent, until in state.limits.items()},
        breakers={name: replace(one, opened_at=one.opened_at + moved) for name, one in state.breakers.items()},
        recent_calls=tuple(call + moved for call in state.recent_calls),
    )


def to_show(state: State, moved: float) -> State:
    """For who looks at it: until when something is waited for, and since when, by the clock on their wall."""
    if not moved:
        return state
    return replace(
        state,
        inflight={
            name: replace(effect, until=effect.until + moved) if isinstance(effect, Wait) else effect
            for name, effect in state.inflight.items()
        },
        gates={name: replace(gate, opened_at=gate.opened_at + moved) for name, gate in state.gates.items()},
        suspended_since=state.suspended_since + moved,
        sprint_not_before=state.sprint_not_before + moved,
    )


def meant(moment: float, now: float, wall: float) -> float:
    """A time of day that somebody else said, by the engine's clock.

    Where the wall clock was set since the engine started, either may be the wrong one. The wait that ends first is the
    one to try: too early costs a question."""
    if abs(wall - now) < SET_BY_HAND:
        return moment
    left = [seconds for seconds in (moment - wall, moment - now) if seconds > 0]
    return now + min(left) if left else moment
