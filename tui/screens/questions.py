"""Questions: every gate of the sprint, open ones first, each in full; enter goes to the one under the cursor."""

from __future__ import annotations

from engine.core.state import GateState
from engine.core.wording import plural
from tui.kit.needs import NeedKind, by_need, needs
from tui.kit.paint import BLANK, Line, crop, outside, wrap
from tui.kit.view import View
from tui.panels.question_text import question_lines, question_row
from tui.screens.list_page import ListPage

Entry = GateState | str | None
"""A gate, a task that stands still, or a heading."""


class Questions(ListPage):
    NAME = "questions"
    LIST_TITLE = "QUESTIONS"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[Entry] = []

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        state = view.state
        waiting = by_need(state, state.open_gates())
        standing = [card for card in needs(state) if card.kind is not NeedKind.GATE]
        answered = sorted((gate for gate in state.gates.values() if not gate.open), key=lambda gate: -gate.opened_at)
        rows: list[Line] = []
        self._entries = []
        if waiting or standing:
            rows.append(((plural(len(waiting) + len(standing), "question") + " for you", "gate bold"),))
            self._entries.append(None)
        for gate in waiting:
            rows.append(question_row(view, gate, width))
            self._entries.append(gate)
        for card in standing:
            title = outside(state.tasks[card.task].spec.title)
            sign, style = (view.glyphs.stop, "bad") if card.kind is NeedKind.BLOCKED else (view.glyphs.gate, "warn")
            rows.append(crop([(f" {sign} ", style), (f"T{outside(card.task)} {title}", "fg")], width))
            self._entries.append(card.task)
        if answered:
            rows += [BLANK, (("answered", "muted bold"),)] if rows else [(("answered", "muted bold"),)]
            self._entries += [None] * (len(rows) - len(self._entries))
        for gate in answered:
            rows.append(question_row(view, gate, width))
            self._entries.append(gate)
        if not rows:
            return [(("no questions yet", "muted"),)], [0]
        return rows, [at for at, entry in enumerate(self._entries) if entry is None]

    def _entry(self) -> Entry:
        at = self.menu.cursor
        return self._entries[at] if 0 <= at < len(self._entries) else None

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        entry = self._entry()
        cards = needs(view.state)
        if entry is None:
            return wrap("Gates, questions of the planner and parked tasks appear here.", width, "muted")
        if isinstance(entry, str):
            card = next((one for one in cards if one.task == entry), None)
            self.sheet.set_title(f"T{outside(entry)}")
            lines = wrap(outside(card.why), width, "fg") if card is not None else []
            more = outside(card.again) if card is not None else ""
            return [*lines, *(wrap(more, width, "accent", first="to do: ") if more else [])]
        gate = view.state.gates.get(entry.id, entry)
        self.sheet.set_title(f"{outside(gate.id)} {view.glyphs.sep} {gate.kind}")
        card = next((one for one in cards if one.gate == gate.id), None)
        return question_lines(view, gate, card, self.dev.keys, min(width, 110))

    def moved(self, index: int) -> None:
        """What is shown is what a key answers: the gate under the cursor, or none."""
        entry = self._entry()
        if isinstance(entry, GateState) and entry.open:
            self.dev.gates.turn_to_gate(entry.id)
        elif isinstance(entry, str):
            self.dev.choose(entry)
        else:
            self.dev.gates.put_aside()

    def update_view(self, view: View) -> None:
        super().update_view(view)
        gate = view.gate
        if gate is not None and gate.id != getattr(self._entry(), "id", ""):  # [ and ] step through them here, too
            at = next((place for place, one in enumerate(self._entries) if getattr(one, "id", "") == gate.id), None)
            if at is not None:
                self.menu.cursor = at
                super().update_view(view)

    def picked(self, index: int) -> None:
        """To where it is answered: the desk, with this one in sight."""
        entry = self._entry()
        if isinstance(entry, str):
            self.dev.choose(entry)
        elif entry is not None and entry.open:
            self.dev.gates.turn_to_gate(entry.id)
        else:
            return
        self.dev.pop_screen()
        self.dev.redraw()
