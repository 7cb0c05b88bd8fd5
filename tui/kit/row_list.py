"""RowList: lines with a cursor. Arrow keys move, enter and click choose."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.message import Message

from tui.kit.canvas import Canvas
from tui.kit.paint import Line


class RowList(Canvas, can_focus=True):
    BINDINGS = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "move(-10)", "page up", show=False),
        Binding("pagedown", "move(10)", "page down", show=False),
        Binding("home", "move(-1000000)", "first", show=False),
        Binding("end,G", "move(1000000)", "last", show=False),
        Binding("enter", "pick", "choose", show=False),
    ]

    DEFAULT_CSS = """
    RowList {
        border: round $line;
        border-title-color: $muted;
        border-title-style: bold;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    RowList:focus { border: round $accent; border-title-color: $accent; }
    """

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

    class Picked(Message):
        """A row was chosen with enter or a click."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

    def __init__(self, *, id: str | None = None, title: str = "") -> None:
        super().__init__(id=id)
        self.cursor = 0
        self._skip: frozenset[int] = frozenset()
        if title:
            self.border_title = title

    def set_rows(self, rows: Sequence[Line], skip: Sequence[int] = ()) -> None:
        """Rows, and which of them the cursor passes over (headings)."""
        self._skip = frozenset(skip)
        self.set_lines(rows)
        self.cursor = max(0, min(self.cursor, len(rows) - 1))
        if self.cursor in self._skip:
            self._step(1)

    def line_at(self, row: int) -> Line:
        """The row under the cursor has a mark, not only a ground: there may be no colours."""
        line = super().line_at(row)
        if row != self.cursor or row in self._skip or not line or not line[0][0].startswith(" "):
            return line
        mark = ">" if self.app.has_class("-ascii") else "▌"
        return ((mark, "accent bold"), (line[0][0][1:], line[0][1]), *line[1:])

    def ground_of(self, row: int) -> str:
        return "on-selected" if row == self.cursor and self.lines and row not in self._skip else ""

    def action_move(self, by: int) -> None:
        before = self.cursor
        self.cursor = max(0, min(len(self.lines) - 1, self.cursor + by))
        if self.cursor in self._skip:
            self._step(1 if by > 0 else -1, before)
        if self.cursor != before:
            self._reveal()
            self.refresh()
            self.post_message(self.Moved(self, self.cursor))

    def _step(self, direction: int, fallback: int = 0) -> None:
        at = self.cursor
        while 0 <= at < len(self.lines):
            if at not in self._skip:
                self.cursor = at
                return
            at += direction
        self.cursor = fallback

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def action_pick(self) -> None:
        if self.lines and self.cursor not in self._skip:
            self.post_message(self.Picked(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else -1
        if 0 <= row < len(self.lines) and row not in self._skip:
            again = row == self.cursor
            self.cursor = row
            self.refresh()
            self.post_message(self.Picked(self, row) if again else self.Moved(self, row))
