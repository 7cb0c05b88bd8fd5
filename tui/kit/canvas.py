"""Canvas: draws lines of styled text with the line API. Everything devteam paints goes through here or LineView."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from engine.core.clean import clean
from tui.kit.glyphs import plain_ascii
from tui.kit.ink import ink_of
from tui.kit.paint import BLANK, Line, plain

if TYPE_CHECKING:
    from textual.selection import Selection

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


FEW_ROWS = 6
"""Changed rows that are painted one by one; of more the whole canvas is painted."""


def harmless(text: str) -> str:
    """The last check before a terminal: whatever a panel forgot to clean ends here as plain cells."""
    if _UNSAFE.search(text) is None:
        return text
    return clean(text).replace("\n", "⏎").replace("\t", "    ")


class Canvas(ScrollView, can_focus=False):
    """A block of lines. `set_lines` with the same lines costs a comparison and nothing else."""

    DEFAULT_CSS = """
    Canvas {
        background: transparent;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size: 1 1;
        scrollbar-color: $line;
        scrollbar-color-hover: $muted;
        scrollbar-color-active: $accent;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-corner-color: $background;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: tuple[Line, ...] = ()
        self._base: Style | None = None

    def on_mount(self) -> None:
        if self.lines:  # set before there was a place to lay them out
            self.refresh(layout=True)

    def set_lines(self, lines: Sequence[Line]) -> bool:
        """Show these lines; true if they differ from what is shown."""
        new = tuple(lines)
        if new == self.lines:
            return False
        before, self.lines = self.lines, new
        if len(new) != len(before):
            self.virtual_size = Size(self.scrollable_content_region.width or self.size.width, len(new))
            if self.show_vertical_scrollbar and len(new) <= self.container_size.height:
                self._take_bar_away()
            self.refresh(layout=self.styles.auto_dimensions)
            return True
        changed = [row for row, line in enumerate(new) if line is not before[row] and line != before[row]]
        if len(changed) > FEW_ROWS:
            self.refresh()
        else:
            for row in changed:
                self.refresh_line(row)
        return True

    def _take_bar_away(self) -> None:
        """Textual leaves the bar of rows that fit exactly where it was: they were drawn for one cell less for good."""
        if self.styles.overflow_y == "auto":
            self.show_vertical_scrollbar = self.vertical_scrollbar.display = False

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines)

    def line_at(self, row: int) -> Line:
        return self.lines[row] if 0 <= row < len(self.lines) else BLANK

    def ground_of(self, row: int) -> str:
        """Style words for a whole row: a cursor's background."""
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base = self.rich_style  # blends the colours of all ancestors: once a repaint, not once a line
        return super().render_lines(crop)

    def base(self) -> Style:
        return self._base or self.rich_style

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        width = self.size.width
        ink = ink_of(self.app)
        base = self.base()
        ground = self.ground_of(row)
        if ground:
            base += ink.style(ground)
        fold = self.app.has_class("-ascii")
        segments = [
            Segment(plain_ascii(harmless(text)) if fold else harmless(text), base + ink.style(words))
            for text, words in self.line_at(row)
            if text
        ]
        strip = self._with_selection(Strip(segments), row)
        return strip.crop_extend(self.scroll_offset.x, self.scroll_offset.x + width, base).apply_offsets(
            self.scroll_offset.x, row
        )

    def _with_selection(self, strip: Strip, row: int) -> Strip:
        selection = self.text_selection
        if selection is None or (span := selection.get_span(row)) is None:
            return strip
        start, end = span
        length = strip.cell_length
        end = length if end == -1 else end
        picked: Style = self.screen.get_component_rich_style("screen--selection")
        before, inside, after = strip.divide([start, min(end, length), length]) if length else (strip, strip, strip)
        return Strip.join([before, inside.apply_style(picked), after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(plain(self.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()
