"""Confirm: a dialog that says what will happen and what is kept before anything does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from engine.core.model import Struct
from tui.app.gate_queue import GUARD
from tui.kit.canvas import Canvas
from tui.kit.paint import BLANK, Line, Span, wrap

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


class Choice(Struct, frozen=True, kw_only=True):
    key: str
    label: str
    value: str


class ConfirmScreen(ModalScreen[str]):
    """Dismisses with the chosen value, or with nothing."""

    CSS_PATH = "dialogs.tcss"

    def __init__(self, title: str, words: Sequence[str], choices: Sequence[Choice]) -> None:
        super().__init__()
        self.heading = title
        self.words = words
        self.choices = [*choices, Choice(key="escape", label="cancel", value="")]
        self._opened = 0.0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="confirm"):
            yield Canvas(id="words")

    def on_mount(self) -> None:
        self.query_one("#confirm").border_title = self.heading
        self._opened = cast("DevteamApp", self.app).options.clock()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        canvas = self.query_one("#words", Canvas)
        width = self.query_one("#confirm").content_region.width
        if width <= 0:
            return
        lines: list[Line] = []
        for paragraph in self.words:
            lines += wrap(paragraph, width, "fg")
        lines.append(BLANK)
        for choice in self.choices:
            key = "esc" if choice.key == "escape" else choice.key
            spans: list[Span] = [(f"{key:>4}  ", "accent bold"), (choice.label, "fg")]
            lines.append(tuple(spans))
        canvas.styles.height = len(lines)
        canvas.set_lines(lines)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        clock = cast("DevteamApp", self.app).options.clock
        for choice in self.choices:
            if event.key == choice.key and (choice.key == "escape" or clock() - self._opened >= GUARD):
                self.dismiss(choice.value)
                return

    def on_click(self, event: events.Click) -> None:
        canvas = self.query_one("#words", Canvas)
        offset = event.get_content_offset(canvas)
        first = len(canvas.lines) - len(self.choices)
        if offset is not None and 0 <= offset.y - first < len(self.choices):
            self.dismiss(self.choices[offset.y - first].value)
