"""Sheet: a bordered, scrollable page of lines."""

from __future__ import annotations

from textual.content import Content

from tui.kit.canvas import Canvas, harmless
from tui.kit.glyphs import plain_ascii
from tui.kit.paint import fit, plain


class Sheet(Canvas, can_focus=True):
    DEFAULT_CSS = """
    Sheet {
        border: round $line;
        border-title-color: $muted;
        border-title-style: bold;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    Sheet:focus { border: round $accent; border-title-color: $accent; }
    """

    def set_title(self, title: str, subtitle: str = "") -> None:
        """Words on the borders, cut by us: Textual's own ellipsis is no ASCII."""
        room = self.size.width - 6 if self.size.width > 10 else 200  # not laid out yet: cut when it is
        fold = plain_ascii if self.app.has_class("-ascii") else str
        self.border_title = Content(fold(fit(harmless(title), room))) if title else None
        self.border_subtitle = Content(fold(fit(harmless(subtitle), room))) if subtitle else None

    @property
    def room(self) -> tuple[int, int]:
        """Cells for text: width and height."""
        region = self.scrollable_content_region
        return region.width, region.height

    def text(self) -> str:
        return plain(self.lines)
