"""RowList: lines with a cursor, those that hold the words looked for. Arrow keys move, enter and click choose."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.message import Message

from tui.kit.framed import Framed
from tui.kit.paint import Line, cells_of, plain, wrap_spans

APART = "   "
"""Blanks between what stands at the left of a row and what stands at its right: such a row is one row."""
NARROWEST = 16
"""Cells of a list below which nothing is unfolded."""


class RowList(Framed):
    BINDINGS = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "move(-10)", "page up", show=False),
        Binding("pagedown", "move(10)", "page down", show=False),
        Binding("home", "move(-1000000)", "first", show=False),
        Binding("end,G", "move(1000000)", "last", show=False),
        Binding("enter", "pick", "choose", show=False),
    ]

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
        """Number of the row it is on among all rows, shown or not."""
        self.needle = ""
        self._sifted = False
        self._rows: tuple[Line, ...] = ()
        self._whole: tuple[Line, ...] = ()
        self._skip: frozenset[int] = frozenset()
        self._seen: list[int] = []
        """For each row of the screen the number of the row it shows: of one that is unfolded several times the same."""
        if title:
            self.border_title = title

    def set_rows(self, rows: Sequence[Line], skip: Sequence[int] = (), whole: Sequence[Line] = ()) -> None:
        """Rows, which of them the cursor passes over (headings), and what they say where there is room for all of it:
        words are looked for in that."""
        self._rows, self._skip = tuple(rows), frozenset(skip)
        self._whole = tuple(whole) if len(whole) == len(rows) else self._rows
        self._sift()

    def set_needle(self, needle: str) -> None:
        """Show only the rows with these words, whatever the case, under their headings."""
        if needle != self.needle:
            self.needle = needle
            before = self.cursor
            self._sift()
            if self.cursor != before:
                self.post_message(self.Moved(self, self.cursor))

    def _sift(self) -> None:
        numbers = matching(self._whole, self._skip, self.needle)
        shown = unfolded([(number, self._rows[number], self._whole[number]) for number in numbers], *self.room)
        self._seen = [number for number, _ in shown]
        self.set_lines([line for _, line in shown])
        if self.needle:
            found = sum(number not in self._skip for number in numbers)
            self.border_subtitle = f"{found} of {len(self._rows) - len(self._skip)}"
            self._sifted = True
        elif self._sifted:
            self._sifted, self.border_subtitle = False, None
        self.cursor = max(0, min(self.cursor, len(self._rows) - 1))
        if self.cursor not in self._seen or self.cursor in self._skip:
            free = [number for number in self._seen if number not in self._skip]
            self.cursor = next((number for number in free if number >= self.cursor), free[-1] if free else 0)

    def _at(self) -> int:
        """The row of the screen that the cursor is on."""
        return self._seen.index(self.cursor) if self.cursor in self._seen else 0

    def _number(self, row: int) -> int:
        return self._seen[row] if 0 <= row < len(self._seen) else -1

    def line_at(self, row: int) -> Line:
        """The row under the cursor has a mark, not only a ground: there may be no colours."""
        line = super().line_at(row)
        number = self._number(row)
        if number != self.cursor or number in self._skip or not line or not line[0][0].startswith(" "):
            return line
        mark = ">" if self.app.has_class("-ascii") else "▌"
        return ((mark, "accent bold"), (line[0][0][1:], line[0][1]), *line[1:])

    @property
    def marked(self) -> bool:
        """The row under the cursor is told from the others without colours, or there is none."""
        number = self._number(self._at())
        return number < 0 or number in self._skip or self.line_at(self._at()) != super().line_at(self._at())

    def ground_of(self, row: int) -> str:
        number = self._number(row)
        return "on-selected" if number == self.cursor and self.lines and number not in self._skip else ""

    def action_move(self, by: int) -> None:
        before, numbers = self.cursor, list(dict.fromkeys(self._seen))
        at = numbers.index(self.cursor) if self.cursor in numbers else 0
        target = max(0, min(len(numbers) - 1, at + by))
        step = 1 if by > 0 else -1
        while 0 <= target < len(numbers) and numbers[target] in self._skip:
            target += step
        if 0 <= target < len(numbers):
            self.cursor = numbers[target]
        if self.cursor != before:
            self._reveal()
            self.refresh()
            self.post_message(self.Moved(self, self.cursor))

    def _reveal(self) -> None:
        at, top, height = self._at(), self.scroll_offset.y, self.scrollable_content_region.height
        if at < top:
            self.scroll_to(y=at, animate=False)
        elif at >= top + height:
            self.scroll_to(y=at - height + 1, animate=False)

    def action_pick(self) -> None:
        if self.lines and self.cursor not in self._skip:
            self.post_message(self.Picked(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else -1
        number = self._number(row)
        if number >= 0 and number not in self._skip:
            again = number == self.cursor
            self.cursor = number
            self.refresh()
            self.post_message(self.Picked(self, number) if again else self.Moved(self, number))


def unfolded(rows: Sequence[tuple[int, Line, Line]], width: int, height: int) -> list[tuple[int, Line]]:
    """Rows that were cut go on in a second one under their first word, while the list has rows left."""
    spare = height - len(rows)
    out: list[tuple[int, Line]] = []
    for number, line, whole in rows:
        words = plain([whole])
        lines = [line]
        cut = plain([line]).endswith(("…", "...")) and cells_of(words) > width
        if cut and spare > 0 and width > NARROWEST and APART not in words:
            lines = wrap_spans(whole, width, len(words) - len(words.lstrip()) + 2)
        if len(lines) - 1 > spare:
            lines = [line]
        spare -= len(lines) - 1
        out += [(number, part) for part in lines]
    return out


def matching(rows: Sequence[Line], skip: frozenset[int], needle: str) -> list[int]:
    """Numbers of the rows that hold the words, and of the headings above them."""
    words = needle.casefold().split()
    if not words:
        return list(range(len(rows)))
    out: list[int] = []
    heading: int | None = None
    for number, line in enumerate(rows):
        if number in skip:
            heading = number
            continue
        text = "".join(part for part, _ in line).casefold()
        above = "".join(part for part, _ in rows[heading]).casefold() if heading is not None else ""
        if all(word in text or word in above for word in words):
            if heading is not None and heading not in out:
                out.append(heading)
            out.append(number)
    return out
