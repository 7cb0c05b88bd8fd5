"""LineView: a stream of lines, 100,000 of them without strain. Follows the end, searches, copies, wraps, folds."""

from __future__ import annotations

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
        self.rows: list[Row] = []
        self.dropped = 0
        self.following = True
        self.folded = True
        self.needle = ""
        self.matches: list[int] = []
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
        self.source.extend(rows)
        start = len(self.rows)
        self._wrap_into(self.rows, rows, self._wrapped_at)
        if self.needle:
            needle = self.needle.casefold()
            self.matches += [at for at in range(start, len(self.rows)) if needle in self.rows[at].text.casefold()]
        if len(self.source) > CAPACITY:
            self._trim()
        self._settle()

    def _trim(self) -> None:
        cut = len(self.source) - CAPACITY + TRIM
        before = len(self.rows)
        self.source = self.source[cut:]
        self.dropped += cut
        self._rewrap()
        if not self.following:
            self.scroll_to(y=max(0, self.scroll_offset.y - (before - len(self.rows))), animate=False)

    def set_folded(self, folded: bool) -> None:
        self.folded = folded
        self._rewrap()
        self._settle()

    def _wrap_into(self, out: list[Row], rows: Iterable[Row], width: int) -> None:
        hidden = 1 if self.folded else -1
        for row in rows:
            if row.fold == hidden:
                continue
            text = row.text
            if not width or (len(text) <= width and (text.isascii() or cell_len(text) <= width)):
                out.append(row)
                continue
            out.extend(Row(row.style, piece, row.fold) for piece in wrapped(harmless(text), width))

    def _rewrap(self) -> None:
        self._wrapped_at = max(0, self.scrollable_content_region.width - 1) if self.is_attached else 0
        self.rows = []
        self._wrap_into(self.rows, self.source, self._wrapped_at)
        if self.needle:
            self.search(self.needle)

    def _settle(self) -> None:
        if not self.is_attached:
            return
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.rows))
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
        needle = query.casefold()
        self.matches = [at for at, row in enumerate(self.rows) if needle in row.text.casefold()] if needle else []
        self.refresh()
        return len(self.matches)

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
        return "\n".join(harmless(row.text).rstrip() for row in self.rows[top : top + self.size.height])

    def whole_text(self) -> str:
        return "\n".join(harmless(row.text).rstrip() for row in self.source)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(harmless(row.text) for row in self.rows)), "\n"

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        scroll = self.scroll_offset
        at = y + scroll.y
        width = self.size.width
        base = self.rich_style
        if at >= len(self.rows):
            return Strip.blank(width, base)
        row = self.rows[at]
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
