"""Jump mode: a letter on everything that can have the keys; the letter goes there. Works on every page."""

from __future__ import annotations

from string import ascii_lowercase

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from tui.kit.canvas import Canvas


def targets(page: object) -> list[tuple[str, Widget]]:
    """Letters and widgets, from above and from the left."""
    found = [
        widget
        for widget in page.query("*")  # type: ignore[attr-defined]
        if widget.focusable and widget.region.area and not isinstance(widget, Input)
    ]
    found.sort(key=lambda widget: (widget.region.y, widget.region.x))
    return list(zip(ascii_lowercase, found, strict=False))


class JumpScreen(ModalScreen[Widget]):
    """Dismisses with what was jumped to, or with nothing."""

    CSS_PATH = "dialogs.tcss"

    def __init__(self, letters: list[tuple[str, Widget]]) -> None:
        super().__init__()
        self._letters = letters

    def compose(self) -> ComposeResult:
        for letter, widget in self._letters:
            mark = Canvas(classes="letter")
            mark.set_lines([((f" {letter} ", "ground on-gate bold"),)])
            mark.styles.offset = Offset(widget.region.x + 1, widget.region.y)
            yield mark

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(next((widget for letter, widget in self._letters if letter == event.key), None))

    def on_click(self) -> None:
        self.dismiss(None)
