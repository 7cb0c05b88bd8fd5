"""Framed: a canvas in a frame with words on its borders; a cell stays free between its text and the scroll bar."""

from __future__ import annotations

from textual.content import Content

from tui.kit.canvas import Canvas, harmless
from tui.kit.glyphs import plain_ascii
from tui.kit.paint import fit

BESIDE_TITLE = 4
"""Cells of the frame that its title leaves free, corners not counted."""
LAID_OUT = 10
"""Cells below which a frame has no place yet."""


class Framed(Canvas, can_focus=True):
    DEFAULT_CSS = """
    Framed {
        border: round $line;
        border-title-color: $muted;
        border-title-style: bold;
        border-subtitle-color: $muted;
        padding: 0 0 0 1;
    }
    Framed:focus { border: round $accent; border-title-color: $accent; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._words: tuple[str, str] = ("", "")

    @property
    def room(self) -> tuple[int, int]:
        """Cells for text: width and height."""
        region = self.scrollable_content_region
        return max(0, region.width - 1), region.height

    @property
    def title_room(self) -> int:
        """Cells a title on the border may take."""
        return max(0, self.size.width - BESIDE_TITLE) if self.size.width > LAID_OUT else 200

    def set_title(self, title: str, subtitle: str = "") -> None:
        """Words on the borders, cut by us: Textual's own ellipsis is no ASCII."""
        fold = plain_ascii if self.app.has_class("-ascii") else str
        words = (fold(fit(harmless(title), self.title_room)), fold(fit(harmless(subtitle), self.title_room)))
        if words != self._words:
            self._words = words
            self.border_title = Content(words[0]) if words[0] else None
            self.border_subtitle = Content(words[1]) if words[1] else None
