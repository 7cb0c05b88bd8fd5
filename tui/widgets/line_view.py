"""LineView: a stream of lines, 100,000 of them without strain. Follows the end, searches, copies, wraps, folds."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from tui.ink import ink_of
from tui.paint import head_of
from tui.widgets.canvas import Canvas, harmless

if TYPE_CHECKING:
    from textual.selection import Selection


class Row(NamedTuple):
    """One line of a stream. fold: 0 always shown, 1 only when unfolded, -1 only when folded."""

    style: str
    text: str
    fold: int = 0


CAPACITY = 100_000
TRIM = 10_000
"""Rows dropped at once when full: dropping one at a time would move the whole list for every line."""


class LineView(Canvas, can_focus=True):
    """Rows are cleaned and measured when they are drawn, so a hidden or scrolled-away line costs almost nothing."""

    DEFAULT_CSS = """
    LineView { overflow-y: scroll; }
    """

    class FollowChanged(Message):
        """The view follows the end, or no longer does."""

        def __init__(self, view: LineView, following: bool) -> None:
            super().__init__()
            self.view = view
            self.following = following

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.source: list[Row] = []
        self.dropped = 0
        self.following = True
        self.folded = True
        self.needle = ""
        self.matches: list[int] = []
        self._lines = array("L")
        """For each row on screen, the number of its line since the beginning; a wrapped line has several rows."""
        self._starts = array("L")
        """Where in its line each row begins. Two numbers a row, not a copy of its text: 100,000 lines stay small."""
        self._wrapped_at = 0

    # ── content ──

    def reset(self, rows: Iterable[Row] = ()) -> None:
        """Another stream."""
        self.source = list(rows)
        self.dropped = 0
        self._rewrap()
        self._settle()

    def extend(self, rows: Sequence[Row]) -> None:
        """More of the same stream."""
        if not rows:
            return
        first = self.dropped + len(self.source)
        self.source.extend(rows)
        self._wrap(first)
        if self.needle:
            self.matches += self._matching(first)
        if len(self.source) > CAPACITY:
            self._trim()
        self._settle()

    def _trim(self) -> None:
        cut = len(self.source) - CAPACITY + TRIM
        del self.source[:cut]
        self.dropped += cut
        gone = bisect_left(self._lines, self.dropped)
        del self._lines[:gone], self._starts[:gone]
        self.matches = [at - gone for at in self.matches if at >= gone]
        if not self.following:
            self.scroll_to(y=max(0, self.scroll_offset.y - gone), animate=False)

    def set_folded(self, folded: bool) -> None:
        self.folded = folded
        self._rewrap()
        self._settle()

    @property
    def row_count(self) -> int:
        return len(self._lines)

    def row_at(self, at: int) -> Row:
        """A row of the screen: a line, or the part of a wrapped one."""
        number, start = self._lines[at], self._starts[at]
        row = self.source[number - self.dropped]
        last = at + 1 >= len(self._lines) or self._lines[at + 1] != number
        if last and not start:
            return row
        end = None if last else self._starts[at + 1]
        return Row(row.style, harmless(row.text)[start:end], row.fold)

    def _wrap(self, first: int) -> None:
        """Lay out the lines from a number on."""
        hidden, width = 1 if self.folded else -1, self._wrapped_at
        lines, starts = self._lines, self._starts
        for number, row in enumerate(self.source[first - self.dropped :], first):
            if row.fold == hidden:
                continue
            text = row.text
            lines.append(number)
            starts.append(0)
            if not width or (len(text) <= width and (text.isascii() or cell_len(text) <= width)):
                continue
            start = 0
            for piece in wrapped(harmless(text), width)[:-1]:
                start += len(piece)
                lines.append(number)
                starts.append(start)

    def _rewrap(self) -> None:
        self._wrapped_at = max(0, self.scrollable_content_region.width - 1) if self.is_attached else 0
        self._lines, self._starts = array("L"), array("L")
        self._wrap(self.dropped)
        if self.needle:
            self.search(self.needle)

    def _settle(self) -> None:
        if not self.is_attached:
            return
        self.virtual_size = Size(self.scrollable_content_region.width, self.row_count)
        if self.following:
            self.scroll_end(animate=False, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        width = max(0, self.scrollable_content_region.width - 1)
        if width != self._wrapped_at:
            self._rewrap()
        self._settle()

    # ── following ──

    def set_following(self, following: bool) -> None:
        if following == self.following:
            return
        self.following = following
        if following:
            self.scroll_end(animate=False)
        self.post_message(self.FollowChanged(self, following))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value < self.max_scroll_y:
            self.set_following(False)
        elif self.max_scroll_y and new_value >= self.max_scroll_y:
            self.set_following(True)

    # ── searching and copying ──

    def search(self, query: str) -> int:
        """Mark every row that holds the words, whatever the case; how many there are."""
        self.needle = query
        self.matches = self._matching(self.dropped) if query else []
        self.refresh()
        return len(self.matches)

    def _matching(self, first: int) -> list[int]:
        """Rows at which the lines begin that hold the needle, from a line's number on."""
        needle, hidden = self.needle.casefold(), 1 if self.folded else -1
        found = (
            number
            for number, row in enumerate(self.source[first - self.dropped :], first)
            if row.fold != hidden and needle in row.text.casefold()
        )
        return [bisect_left(self._lines, number) for number in found]

    def step_match(self, direction: int) -> int:
        """Go to the next or previous match; its number from 1, or 0 when there is none."""
        if not self.matches:
            return 0
        top = self.scroll_offset.y
        if direction > 0:
            at = next((number for number, row in enumerate(self.matches) if row > top), 0)
        else:
            at = next((number for number in range(len(self.matches) - 1, -1, -1) if self.matches[number] < top), -1)
        self.set_following(False)
        self.scroll_to(y=self.matches[at], animate=False)
        return at % len(self.matches) + 1

    def visible_text(self) -> str:
        """What is on screen, as plain text."""
        top = self.scroll_offset.y
        shown = range(top, min(self.row_count, top + self.size.height))
        return "\n".join(harmless(self.row_at(at).text).rstrip() for at in shown)

    def whole_text(self) -> str:
        return "\n".join(harmless(row.text).rstrip() for row in self.source)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(harmless(self.row_at(at).text) for at in range(self.row_count))), "\n"

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        scroll = self.scroll_offset
        at = y + scroll.y
        width = self.size.width
        base = self.rich_style
        if at >= self.row_count:
            return Strip.blank(width, base)
        row = self.row_at(at)
        ink = ink_of(self.app)
        style = base + ink.style(row.style)
        text = harmless(row.text)
        if self.needle and self.needle.casefold() in text.casefold():
            strip = Strip(_marked(text, self.needle, style, style + ink.style("ground on-warning")))
        else:
            strip = Strip([Segment(text, style)])
        strip = self._with_selection(strip, at)
        return strip.crop_extend(scroll.x, scroll.x + width, base).apply_offsets(scroll.x, at)


def wrapped(text: str, width: int) -> list[str]:
    """A long line in pieces of at most `width` cells, broken after a space where one is near."""
    pieces: list[str] = []
    rest = text
    while rest:
        piece = rest[:width] if rest.isascii() else head_of(rest, width)
        if len(piece) < len(rest):
            space = piece.rfind(" ")
            if space > len(piece) // 2:
                piece = piece[: space + 1]
        pieces.append(piece)
        rest = rest[len(piece) :]
    return pieces or [""]


def _marked(text: str, query: str, style: object, mark: object) -> list[Segment]:
    """The text with every occurrence of the query in the marked style."""
    low, needle = text.casefold(), query.casefold()
    if len(low) != len(text):  # casefolding changed the length: mark the whole row rather than the wrong cells
        return [Segment(text, mark)]  # type: ignore[arg-type]
    out: list[Segment] = []
    at = 0
    while (found := low.find(needle, at)) != -1:
        out.append(Segment(text[at:found], style))  # type: ignore[arg-type]
        out.append(Segment(text[found : found + len(needle)], mark))  # type: ignore[arg-type]
        at = found + len(needle)
    out.append(Segment(text[at:], style))  # type: ignore[arg-type]
    return [segment for segment in out if segment.text]
