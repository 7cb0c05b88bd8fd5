"""Frames with words on their borders. Framed: a canvas in one; a cell stays free before its scroll bar."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui.kit.canvas import Canvas, harmless
from tui.kit.glyphs import plain_ascii
from tui.kit.paint import cells_of, fit

BESIDE_TITLE = 6
"""Cells of the frame that its title leaves free, corners counted."""
LAID_OUT = 13
"""Cells below which a frame has no place yet."""
FRAME = """
    border: round $line;
    border-title-color: $muted;
    border-title-style: bold;
    border-subtitle-color: $muted;
    padding: 0 0 0 1;
"""


def key_width(key: str) -> int:
    """Cells that a pane's key takes on its border: the key in brackets and a blank."""
    return cells_of(key) + 3 if key else 0


class BorderWords:
    """Words on the upper and the lower border of a widget, cut by us: Textual's own ellipsis is no ASCII."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._words = ("", "", "", "")
        self.key = ""
        """Goes to this pane; stands before its title."""

    @property
    def room(self) -> int:
        """Cells that words on the border may take."""
        width = self._widget.outer_size.width
        return max(0, width - BESIDE_TITLE - key_width(self.key)) if width > LAID_OUT else 200

    def set(self, title: str, subtitle: str, style: str = "") -> None:
        """`style`: of the upper words, where they are more than a heading. The same words cost nothing."""
        fold = plain_ascii if self._widget.app.has_class("-ascii") else str
        upper, lower = (fold(fit(harmless(words), self.room)) for words in (title, subtitle))
        if (upper, lower, style, self.key) != self._words:
            self._words = (upper, lower, style, self.key)
            key = (f"[{fold(self.key)}] ", "$accent") if self.key else ""
            self._widget.border_title = Content.assemble(key, (upper, style)) if upper else None
            self._widget.border_subtitle = Content(lower) if lower else None


class Framed(Canvas, can_focus=True):
    DEFAULT_CSS = f"""
    Framed {{ {FRAME} }}
    Framed:focus {{ border: round $accent; border-title-color: $accent; }}
    """

    class Placed(Message):
        """It has a place, or another one: what is drawn for it before that is drawn for nothing."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._border = BorderWords(self)

    def on_resize(self) -> None:
        self.post_message(self.Placed())

    def on_show(self) -> None:
        self.post_message(self.Placed())

    @property
    def room(self) -> tuple[int, int]:
        """Cells for text: width and height."""
        region = self.scrollable_content_region
        return max(0, region.width - 1), region.height

    @property
    def title_room(self) -> int:
        """Cells a title on the border may take."""
        return self._border.room

    def set_key(self, key: str) -> None:
        """The key that goes here, for the border."""
        self._border.key = key

    def set_title(self, title: str, subtitle: str = "") -> None:
        self._border.set(title, subtitle)
