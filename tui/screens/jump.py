"""Jump mode: a letter on everything that can have the keys, tabs too; the letter goes there. Works on every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_lowercase

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from engine.core.model import Struct
from tui.kit.canvas import Canvas


class Place(Struct, frozen=True, kw_only=True):
    """Where a letter stands, and what it does."""

    at: Offset
    go: Callable[[], object]


def places(page: Screen[object], more: Sequence[Place]) -> list[tuple[str, Place]]:
    """Letters and places, from above and from the left: on the corner of a pane, so that its title can be read."""
    found = [
        Place(at=widget.region.offset, go=partial(page.set_focus, widget))
        for widget in page.query("*")
        if widget.focusable and widget.region.area and not isinstance(widget, Input)
    ]
    ordered = sorted([*found, *more], key=lambda place: (place.at.y, place.at.x))
    return list(zip(ascii_lowercase, ordered, strict=False))


class JumpScreen(ModalScreen[Place]):
    """Dismisses with where to, or with nothing."""

    CSS_PATH = "dialogs.tcss"

    def __init__(self, letters: list[tuple[str, Place]]) -> None:
        super().__init__()
        self._letters = letters

    def compose(self) -> ComposeResult:
        for letter, place in self._letters:
            mark = Canvas(classes="letter")
            mark.set_lines([((f" {letter} ", "ground on-gate bold"),)])
            mark.styles.offset = place.at
            yield mark

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(next((place for letter, place in self._letters if letter == event.key), None))

    def on_click(self) -> None:
        self.dismiss(None)
