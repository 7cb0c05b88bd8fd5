"""The time of a viewer, which is not always the engine's: somebody may have set the wall clock between their starts."""

from __future__ import annotations

from functools import cache

from engine.clock import SystemClock
from engine.core.other_clock import SET_BY_HAND
from engine.core.state import State

now = SystemClock().now


def ahead_of(state: State) -> float:
    """Seconds that this process' clock is ahead of the engine's that recorded the state; 0 where nobody can tell."""
    if not state.boot:
        return 0.0
    boot, booted_at = _own_boot()
    moved = booted_at - state.booted_at if boot == state.boot else 0.0
    return moved if abs(moved) >= SET_BY_HAND else 0.0


@cache
def _own_boot() -> tuple[str, float]:
    return SystemClock().boot()
