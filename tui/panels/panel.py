"""Panel: a titled canvas that draws from a View. A hidden panel keeps the view and draws nothing."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from tui.kit.canvas import Canvas, harmless
from tui.kit.glyphs import plain_ascii
from tui.kit.paint import Line, fit
from tui.kit.view import View


class Panel(Canvas, can_focus=True):
    """Subclasses give `draw` and `title`; both are functions of the view and the size alone."""

    DEFAULT_CSS = """
    Panel {
        border: round $line;
        border-title-color: $muted;
        border-title-style: bold;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    Panel:focus { border: round $accent; border-title-color: $accent; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = View()
        self._title: tuple[str, str] = ("", "")

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        raise NotImplementedError

    def title(self, view: View) -> tuple[str, str]:
        """Words on the upper and on the lower border."""
        return "", ""

    def show(self, view: View) -> None:
        """Take a new snapshot; costs nothing while hidden, and no repaint when nothing it draws has changed."""
        self.view = view
        self.redraw()

    def redraw(self) -> None:
        region = self.scrollable_content_region
        if not self.display or region.width <= 0:
            return
        above, below = self.title(self.view)
        room = title_room(self)
        title = (fit(above, room), fit(below, room))
        if self.view.glyphs.ascii:
            title = (plain_ascii(title[0]), plain_ascii(title[1]))
        if title != self._title:
            self._title = title
            self.border_title = Content(harmless(title[0])) if title[0] else None
            self.border_subtitle = Content(harmless(title[1])) if title[1] else None
        self.set_lines(self.draw(self.view, region.width, region.height))

    def on_resize(self) -> None:
        self.redraw()

    def on_show(self) -> None:
        self.redraw()


def title_room(panel: Panel) -> int:
    """Cells a border title may take."""
    return max(0, panel.size.width - 6)


def shorter(*candidates: str, room: int) -> str:
    """The first wording that fits, the last one if none does."""
    return next((words for words in candidates if cell_len(words) <= room), candidates[-1])
