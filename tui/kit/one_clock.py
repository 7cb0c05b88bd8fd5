"""The one clock of everything on screen. It never runs back: neither when an engine is lost nor when one begins."""

from __future__ import annotations

from engine.core.state import State
from engine.link.protocol import LinkStatus
from tui.kit.view import View


class OneClock:
    """What time it is for a sprint, and how long it has run, never less than was shown already."""

    def __init__(self) -> None:
        self._sprint = ""
        self._now = 0.0
        """When an engine was last seen at work on it."""
        self._elapsed = 0.0

    def now(self, state: State, link: LinkStatus, wall: float) -> float:
        """The wall's time; without an engine it stands where that was last alive, until another begins its run."""
        if not state.running or link.status not in ("lost", "connecting"):
            return wall
        begun = link.last_sign < state.run_started_at  # the sign is of the run before, or there is none
        stood = state.now if begun else link.last_sign
        return max(stood, self._now) if self._sprint == state.sprint else stood

    def least(self, state: State) -> float:
        """How long the sprint was said to have run."""
        return self._elapsed if state.sprint == self._sprint else 0.0

    def shown(self, view: View) -> None:
        """A frame is on screen."""
        state = view.state
        if view.replaying or not state.sprint:
            return
        if state.sprint != self._sprint:
            self._now = 0.0
        if state.running and view.link.status == "connected":
            self._now = view.now
        self._sprint, self._elapsed = state.sprint, view.elapsed()
