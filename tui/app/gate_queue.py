"""The queue of open gates: which one is shown, and whether it may be answered yet.

The gate decides what is looked at. Looking at another task puts the gate aside: nothing can be answered then.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.core.gates import problem
from engine.core.state import GateState, State
from engine.core.vocabulary import Choice
from tui.kit.needs import by_need

GUARD = 0.3
"""Seconds after a gate appears in which keys and clicks are ignored: typed-ahead keys must not approve anything."""


class GateQueue:
    """What unblocks most comes first; the shown one changes only when it is answered or the user steps on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: list[GateState] = []
        self._current = ""
        self._appeared = 0.0
        self.aside = False
        """The user looks at a task that no open gate is about."""
        self.state = State()
        self.sending = ""
        """The answer that is on its way for the shown gate."""

    @property
    def current(self) -> GateState | None:
        """The gate in sight; None while it is put aside."""
        return None if self.aside else self._found(self._current)

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

    def _found(self, name: str) -> GateState | None:
        return next((gate for gate in self._open if gate.id == name), None)

    def update(self, state: State) -> list[GateState]:
        """Take the open gates; returns those that are new."""
        known = {gate.id for gate in self._open}
        self.state = state
        self._open = by_need(state, state.open_gates())
        if not self._open:
            self.aside = False
        if self._found(self._current) is None:
            self._show(self._open[0].id if self._open else "")
        return [gate for gate in self._open if gate.id not in known]

    def appeared(self) -> None:
        """The bar comes into sight again, after a dialog or on another screen."""
        self._appeared = self._clock()

    def step(self, by: int) -> None:
        """To the next gate; from one put aside back to it."""
        if self.aside:
            self.resume()
        elif len(self._open) > 1:
            self._show(self._open[(self.at - 1 + by) % len(self._open)].id)

    def turn_to(self, task: str) -> None:
        """The user looks at a task: its gate comes into sight, or every gate is put aside."""
        own = next((gate for gate in self._open if gate.task == task), None)
        if own is None:
            self.aside = bool(self._open)
        elif (shown := self._found(self._current)) is None or shown.task != task:
            self.resume()
            self._show(own.id)
        else:
            self.resume()

    def turn_to_gate(self, name: str) -> None:
        if self._found(name) is not None:
            self.resume()
            self._show(name)

    def put_aside(self) -> None:
        """Something else is looked at: nothing can be answered."""
        self.aside = bool(self._open)

    def resume(self) -> None:
        if self.aside:
            self.aside = False
            self.appeared()

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
