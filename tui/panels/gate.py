"""The gate bar: docked, steals no focus. Only its buttons can be clicked; the text above them is only text."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from engine.core.gate_choices import meaning
from engine.core.state import GateState
from engine.core.wording import plural
from tui.kit.canvas import Canvas
from tui.kit.keys import GATE_CHOICES, KeyMap
from tui.kit.paint import BLANK, Line, Span, crop, width_of
from tui.kit.view import View
from tui.panels.desk_text import consequence, consequence_lines
from tui.panels.gate_text import gate_body, gate_title, void_lines

LISTED = 28
"""Rows of a screen from which every answer of the desk's gate has a row of its own."""


def choice_spans(gate: GateState, keys: KeyMap, width: int) -> tuple[Line, list[tuple[int, int, str]]]:
    """The buttons of a gate, and which cells belong to which; meanings are added where there is room for all."""
    offered = [name for name, choice in GATE_CHOICES.items() if choice in gate.choices]
    long = [_label(gate, name) for name in offered]
    short = [GATE_CHOICES[name].value for name in offered]
    for labels in (long, short):
        cells = sum(len(keys.shown(name)) + len(label) + 5 for name, label in zip(offered, labels, strict=True))
        if cells <= width or labels is short:
            break
    spans: list[Span] = []
    places: list[tuple[int, int, str]] = []
    used = 0
    for number, (name, label) in enumerate(zip(offered, labels, strict=True)):
        key = keys.shown(name)
        ground = "on-gate" if number == 0 else "on-selected"
        spans.append((f" {key} ", f"{'ground' if number == 0 else 'gate'} bold {ground}"))
        spans.append((f"{label} ", f"{'ground' if number == 0 else 'fg'} {ground}"))
        cells = len(key) + len(label) + 3
        places.append((used, used + cells, name))
        spans.append(("  ", ""))
        used += cells + 2
    return tuple(spans), places


Places = list[tuple[int, int, int, str]]
"""Row, first and last cell of what can be clicked, and what it does."""


def choice_rows(view: View, gate: GateState, keys: KeyMap, width: int) -> tuple[list[Line], Places]:
    """One row an answer: its key, its word, what it will cause."""
    lines: list[Line] = []
    places: Places = []
    offered = [name for name, choice in GATE_CHOICES.items() if choice in gate.choices]
    longest = max((len(GATE_CHOICES[name].value) for name in offered), default=0)
    for number, name in enumerate(offered):
        choice = GATE_CHOICES[name]
        badge = "ground bold on-gate" if number == 0 else "gate bold on-selected"
        word = f"  {choice.value:<{longest}}  "
        said: Span = (consequence(view.state, gate, choice), "fg" if number == 0 else "muted")
        lines.append(crop([(f" {keys.shown(name)} ", badge), (word, "fg bold"), said], width))
        places.append((number, 0, width_of(lines[-1]), name))
    return lines, places


def aside_line(view: View, waiting: int, keys: KeyMap) -> Line:
    """Gates that wait while another task is looked at."""
    waits = f"{waiting} waiting for you"
    how = f" {view.glyphs.sep} {keys.shown('gate')}: show it; what is not shown cannot be answered"
    return ((f"{view.glyphs.gate} {waits}", "gate bold"), (how, "muted"))


def _label(gate: GateState, name: str) -> str:
    choice = GATE_CHOICES[name]
    meant = meaning(gate.kind, choice)
    return f"{choice}: {meant.short}" if meant and meant.short != choice else choice.value


class GateButtons(Canvas):
    """The one place of the bar where a click means something."""

    class Pressed(Message):
        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__(id="gate-buttons")
        self._places: Places = []

    def show(self, lines: list[Line], places: Places) -> None:
        self._places = places
        self.styles.height = max(1, len(lines))
        self.set_lines(lines)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        for row, start, end, name in self._places:
            if row == offset.y and start <= offset.x < end:
                self.post_message(self.Pressed(name))


class GateText(Canvas, can_focus=False):
    """What the gate says. Can be scrolled and selected; a click on it does nothing else."""


class GateBar(Vertical):
    def __init__(self) -> None:
        super().__init__(id="gate")
        self.expanded = False
        self.brief = False
        """Only the facts until opened: on screens that need the room."""
        self.desk = False
        """The desk says the rest: only what each key will cause."""
        self._last: tuple[View, GateState, int, int, KeyMap, str] | None = None

    def compose(self) -> ComposeResult:
        yield Canvas(id="gate-title")
        yield GateText(id="gate-text")
        yield GateButtons()

    def show(self, view: View, gate: GateState | None, at: int, of: int, keys: KeyMap, sending: str) -> None:
        self.set_class(bool(of), "-open")
        self.set_class(bool(of) and gate is None, "-aside")
        self.screen.set_class(gate is not None, "-gate")
        if gate is None:
            self._last = None
            self.query_one("#gate-text", Canvas).display = False  # what a key would cause is not said while it is not
            self.query_one("#gate-title", Canvas).set_lines([aside_line(view, of, keys)] if of else [])
            return
        self._last = (view, gate, at, of, keys, sending)
        self.redraw()

    def redraw(self) -> None:
        width = self.content_region.width or self.size.width - 2
        if self._last is None or width <= 0:
            return
        view, gate, at, of, keys, sending = self._last
        self.query_one("#gate-title", Canvas).set_lines([gate_title(view, gate, at, of, width)])
        void = void_lines(view, gate, width - 1)
        rows, places = choice_rows(view, gate, keys, width - 1)
        listed = self.desk and self.brief and not self.expanded and self.screen.size.height >= LISTED
        self._draw_text(view, gate, keys, void if listed else None, width)
        if view.replaying:
            rows, places = [(("a recording: what was answered comes later in it", "muted"),)], []
        elif sending:
            rows, places = [((f"sending {sending} {view.glyphs.ellipsis}", "gate"),)], []
        elif not listed:
            line, spans = choice_spans(gate, keys, width)
            rows, places = [line], [(0, *span) for span in spans]
        self.query_one(GateButtons).show(rows, places)

    def _draw_text(self, view: View, gate: GateState, keys: KeyMap, only: list[Line] | None, width: int) -> None:
        """What stands above the answers; `only`: nothing but this, where every answer has a row of its own."""
        text = self.query_one("#gate-text", Canvas)
        if only is not None:
            text.display = bool(only)
            text.styles.height = len(only)
            text.set_lines(only)
            return
        text.display = True
        if self.brief and not self.expanded and self.desk:
            lines = consequence_lines(view, gate, keys, width - 1)
        else:
            lines = gate_body(view, gate, width - 1)
        room = self._room()
        text.styles.height = max(1, min(len(lines), room))
        if self.brief and not self.expanded:
            text.set_lines(lines[:room])
        elif len(lines) > room and not self.expanded:
            hidden = len(lines) - room + 1
            more = (
                f"{view.glyphs.ellipsis} {plural(hidden, 'more line')} {view.glyphs.sep} {keys.shown('gate')}: show all"
            )
            text.set_lines([*lines[: room - 1], ((more, "muted"),)])
        else:
            text.set_lines(lines or [BLANK])

    def _room(self) -> int:
        height = self.screen.size.height
        if self.expanded:
            return max(4, height * 6 // 10)
        if self.brief:
            return 1
        return max(2, min(16, (height - 16) // 2))

    def set_expanded(self, expanded: bool) -> None:
        self.expanded = expanded
        text = self.query_one("#gate-text", Canvas)
        text.can_focus = expanded
        self.redraw()
        if expanded:
            text.focus()
        else:
            text.scroll_to(y=0, animate=False)

    def on_resize(self) -> None:
        self.redraw()
