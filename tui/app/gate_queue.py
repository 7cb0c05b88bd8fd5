"""The queue of open gates: which one is shown, and whether it may be answered yet."""

from __future__ import annotations

from collections.abc import Callable

from engine.core.gates import problem
from engine.core.state import GateState, State
from engine.core.vocabulary import Choice

GUARD = 0.3
"""Seconds after a gate appears in which keys and clicks are ignored: typed-ahead keys must not approve anything."""


class GateQueue:
    """New gates join at the end; the shown one changes only when it is answered or the user steps on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: list[GateState] = []
        self._current = ""
        self._appeared = 0.0
        self.state = State()
        self.sending = ""
        """The answer that is on its way for the shown gate."""

    @property
    def current(self) -> GateState | None:
        return next((gate for gate in self._open if gate.id == self._current), None)

    @property
    def total(self) -> int:
        return len(self._open)

    @property
    def at(self) -> int:
        """Place of the shown gate, from 1."""
        return next((place for place, gate in enumerate(self._open, 1) if gate.id == self._current), 0)

    @property
    def ready(self) -> bool:
        return self._clock() - self._appeared >= GUARD

    def update(self, state: State, opened: list[GateState]) -> list[GateState]:
        """Take the open gates; returns those that are new."""
        known = {gate.id for gate in self._open}
        self.state = state
        self._open = opened
        if self.current is None:
            self._show(opened[0].id if opened else "")
        return [gate for gate in opened if gate.id not in known]

    def appeared(self) -> None:
        """The bar comes into sight again, after a dialog or on another screen."""
        self._appeared = self._clock()

    def step(self, by: int) -> None:
        if len(self._open) > 1:
            self._show(self._open[(self.at - 1 + by) % len(self._open)].id)

    def _show(self, gate: str) -> None:
        if gate != self._current:
            self._current = gate
            self.sending = ""
            self.appeared()

    def objection(self, choice: Choice, text: str) -> str:
        """Why the shown gate cannot be answered so; empty if it can. The engine judges again with the same rule."""
        gate = self.current
        if gate is None:
            return "no gate is open"
        return problem(gate, self.state.tasks.get(gate.task), choice, text, gate.tree)
