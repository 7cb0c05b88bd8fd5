"""The modes of the one screen, and which one a situation asks for. Pure."""

from __future__ import annotations

from enum import StrEnum

from tui.kit.view import View


class Mode(StrEnum):
    """What the one screen shows."""

    FLIGHT = "flight"
    """Nobody is needed."""
    DESK = "desk"
    """Somebody is."""
    MORNING = "morning"
    """The run has ended."""


def mode_for(view: View) -> Mode:
    """What the situation asks for."""
    if view.gate is not None and not view.replaying:
        return Mode.DESK
    state = view.state
    if state.outcome and not state.running and state.tasks and not view.gates() and not view.replaying:
        return Mode.MORNING
    return Mode.FLIGHT
