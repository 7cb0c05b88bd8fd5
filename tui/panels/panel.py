"""Panel: a titled canvas that draws from a View. A hidden panel keeps the view and draws nothing."""

from __future__ import annotations

from rich.cells import cell_len

from tui.kit.framed import Framed
from tui.kit.paint import Line
from tui.kit.view import View


class Panel(Framed):
    """Subclasses give `draw` and `title`; both are functions of the view and the size alone."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = View()

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
        width, height = self.room
        if not self.display or width <= 0:
            return
        self.set_title(*self.title(self.view))
        self.set_lines(self.draw(self.view, width, height))

    def on_resize(self) -> None:
        self.redraw()

    def on_show(self) -> None:
        self.redraw()


def shorter(*candidates: str, room: int) -> str:
    """The first wording that fits, the last one if none does."""
    return next((words for words in candidates if cell_len(words) <= room), candidates[-1])
