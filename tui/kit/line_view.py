"""LineView: a stream of lines, 100,000 of them without strain. Follows the end, searches, copies, wraps, folds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from tui.kit.canvas import Canvas, harmless
from tui.kit.ink import ink_of
from tui.kit.layout import Layout, hanging
from tui.kit.paint import fit
from tui.kit.rows import BLOCK, Row, Rows

if TYPE_CHECKING:
    from textual.selection import Selection


GUTTER = 9
"""Cells of a time of day and the blank after it."""
REFINE = 0.004
"""Seconds a frame may spend on laying out what is not on screen."""


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
        self.source = Rows()
        self.following = True
        self.folded = True
        self.needle = ""
        self.matches: list[int] = []
        """Numbers of the lines that hold the needle."""
        self._searched = 0
        self.timed = False
        """When each thing was said stands before it."""
        self.empty = ""
        """What stands there while nothing was said, in ASCII."""
        self.stamp: Callable[[int], str] = lambda _line: ""
        """The time of a line, where it has one of its own."""
        self.at_match = -1
        """The line of the match that was gone to."""
        self._layout = Layout(self.source, 0, True)

    # ── content ──

    def reset(self, rows: Rows) -> None:
        """Another stream."""
        self.source = rows
        self._lay_out()
        self.search(self.needle)
        self._settle()

    def take(self) -> None:
        """More of the same stream: what has come to its rows since, and what was dropped of them."""
        top = self._top()
        shortened = self._layout.take()
        if self.needle:
            self.matches = [line for line in self.matches if line >= self.source.first]
            self.matches += self._matching(self._searched)
        self._settle(top if shortened else None)

    def set_folded(self, folded: bool) -> None:
        top = self._top()
        self.folded = folded
        self._lay_out()
        self.search(self.needle)
        self._settle(top)

    def set_timed(self, timed: bool) -> None:
        top = self._top()
        self.timed = timed
        self._lay_out()
        self._settle(top)

    def refine(self) -> bool:
        """Lay out some of what is far from the screen; true while there is more of it."""
        if not self._layout.guessed:
            return False
        top = self._top()
        if self._layout.refine(REFINE):
            self._settle(top)
        return self._layout.guessed

    @property
    def row_count(self) -> int:
        return self._layout.total

    def row_at(self, at: int) -> Row:
        """A row of the screen: a line, or the part of a wrapped one."""
        if self._layout.behind:  # drawn before the frame that tells of it
            self._layout.take()
        line, start, end = self._layout.place(at)
        row = self._line(line)
        if not start and end is None:
            return row
        text = harmless(row.text)
        indent = hanging(text, self._layout.width) if start else ""
        return Row(row.style, indent + text[start:end], row.fold)

    def _line(self, number: int) -> Row:
        return self.source.block(number // BLOCK)[number % BLOCK]

    def _top(self) -> tuple[int, int] | None:
        """The line at the top of the screen and where in it: the reader's place, whatever happens above it."""
        if self.following or not self.row_count:
            return None
        line, start, _ = self._layout.place(min(self.scroll_offset.y, self.row_count - 1))
        return line, start

    def _width(self) -> int:
        gutter = GUTTER if self.timed else 0
        return max(0, self.scrollable_content_region.width - 1 - gutter) if self.is_attached else 0

    def _lay_out(self) -> None:
        self._layout = Layout(self.source, self._width(), self.folded)

    def _settle(self, top: tuple[int, int] | None = None) -> None:
        if not self.is_attached:
            return
        height = self.scrollable_content_region.height
        row = self._layout.row_of(*top) if top is not None else self.scroll_offset.y
        if self.following:
            self._layout.firm_end(height)
        else:
            self._layout.firm(row, height)
        self._measure()
        if self.following:
            self.scroll_end(animate=False, immediate=True)
        elif row != self.scroll_offset.y:
            self.scroll_to(y=row, animate=False, immediate=True)
        self.refresh()

    def _measure(self) -> None:
        """Say how high the content is. The scrollbar is always there, so nothing else moves: no new layout."""
        size = Size(self.scrollable_content_region.width, self.row_count)
        if size != self.virtual_size:
            self.set_reactive(LineView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height

    def on_resize(self) -> None:
        top = self._top()
        if self._width() != self._layout.width:
            self._lay_out()
        self._settle(top)

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
        if self._layout.guessed:
            self._layout.firm(int(new_value), self.scrollable_content_region.height)
        if new_value < old_value and new_value < self.max_scroll_y:
            self.set_following(False)
        elif self.max_scroll_y and new_value >= self.max_scroll_y:
            self.set_following(True)

    # ── searching and copying ──

    def search(self, query: str) -> int:
        """Mark every line that holds the words, whatever the case; how many there are."""
        self.needle = query
        self.at_match = -1
        self.matches = self._matching(self.source.first) if query else []
        self.refresh()
        return len(self.matches)

    def _matching(self, first: int) -> list[int]:
        """Numbers of the lines that are shown and hold the needle, from a number on."""
        needle, hidden = self.needle.casefold(), 1 if self.folded else -1
        first = max(first, self.source.first)
        self._searched = self.source.end
        return [
            number
            for number, row in enumerate(self.source.since(first), first)
            if row.fold != hidden and needle in row.text.casefold()
        ]

    def step_match(self, direction: int) -> int:
        """Go to the next or previous match; its number from 1, or 0 when there is none."""
        if not self.matches:
            return 0
        rows = (
            self.scroll_offset.y,
            min(self.scroll_offset.y + self.scrollable_content_region.height, self.row_count) - 1,
        )
        top, bottom = (self._layout.place(max(0, min(row, self.row_count - 1))).line for row in rows)
        if top <= self.at_match <= bottom:  # the last screen cannot be scrolled to every match on it
            top = self.at_match
        at = bisect_right(self.matches, top) if direction > 0 else bisect_left(self.matches, top) - 1
        at %= len(self.matches)
        self.set_following(False)
        self.at_match = self.matches[at]
        self._settle((self.at_match, 0))
        return at + 1

    def visible_text(self) -> str:
        """What is on screen, as plain text."""
        top = self.scroll_offset.y
        shown = range(top, min(self.row_count, top + self.size.height))
        return "\n".join(harmless(self.row_at(at).text).rstrip() for at in shown)

    def whole_text(self) -> str:
        return "\n".join(harmless(row.text).rstrip() for row in self.source)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else self.row_count - 1
        rows = [harmless(self.row_at(at).text) for at in range(first, min(last + 1, self.row_count))]
        return selection.extract("\n" * first + "\n".join(rows)), "\n"

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        scroll = self.scroll_offset
        at = y + scroll.y
        width = self.size.width
        base = self.base()
        if at >= self.row_count:
            if at == 0 and self.empty:
                said = Segment(fit(self.empty, width), base + ink_of(self.app).style("muted"))
                return Strip([said]).adjust_cell_length(width, base)
            return Strip.blank(width, base)
        row = self.row_at(at)
        ink = ink_of(self.app)
        style = base + ink.style(row.style)
        text = harmless(row.text)
        line, start, _ = self._layout.place(at)
        if self.needle and self.needle.casefold() in text.casefold():
            found = "ground on-accent bold" if line == self.at_match else "ground on-warning"
            segments = _marked(text, self.needle, style, style + ink.style(found))
        else:
            segments = [Segment(text, style)]
        if self.timed:
            words = self.stamp(line) if not start else ""
            segments = [Segment(f"{words:<{GUTTER}}", base + ink.style("muted")), *segments]
        strip = Strip(segments)
        strip = self._with_selection(strip, at)
        return strip.crop_extend(scroll.x, scroll.x + width, base).apply_offsets(scroll.x, at)


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
