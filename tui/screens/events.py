"""The log: every event, one line each, with a filter; the one under the cursor in full at the right."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from engine.core.clean import clean
from engine.core.events import Envelope, encode, type_of
from tui.kit.paint import Line, outside, wrap
from tui.kit.row_list import RowList
from tui.kit.sheet import Sheet
from tui.kit.view import View
from tui.panels.recent import event_line, event_words
from tui.screens.list_page import ListPage

SHOWN = 5000


class Log(ListPage):
    NAME = "log"
    LIST_BY_CONTENT = False
    CSS_PATH = ["pages.tcss", "events.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self._older: list[Envelope] = []
        self._shown: list[Envelope] = []
        self._filter = ""
        self._at_end = True
        self.loaded = False

    def body(self) -> Iterable[Widget]:
        with Vertical(id="log"):
            yield Input(
                placeholder="filter by words, task id or event name; enter: keep, esc: clear", id="filter", compact=True
            )
            with Horizontal(id="body"):
                yield RowList(id="list", title="EVENTS")
                yield Sheet(id="sheet")

    def mounted(self) -> None:
        super().mounted()
        self.run_worker(self._load(), exit_on_error=False)

    async def _load(self) -> None:
        async for page in self.recorded():
            self._older = [*self._older, *page][-SHOWN:]
        self.loaded = True
        self.dev.redraw()

    def _matches(self, envelope: Envelope) -> bool:
        words, _ = event_words(envelope.event)
        task = getattr(envelope.event, "task", "")
        return self._filter in f"{type_of(envelope.event)} {task} {words}".casefold()

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        last = self._older[-1].seq if self._older else 0
        every = [*self._older, *(envelope for envelope in self.dev.feed.events if envelope.seq > last)][-SHOWN:]
        self._shown = [envelope for envelope in every if self._matches(envelope)] if self._filter else every
        if not self._shown:
            return [(("no matching event; esc: clear" if self._filter else "no event yet", "muted"),)], [0]
        if self._at_end:
            self.menu.cursor = len(self._shown) - 1
            self.call_after_refresh(self.menu.scroll_end, animate=False)
        self.menu.border_subtitle = f"{len(self._shown):,} of {len(every):,}"
        return [((" ", ""), *event_line(envelope, view, width - 1)) for envelope in self._shown], []

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        at = self.menu.cursor
        if not 0 <= at < len(self._shown):
            return []
        envelope = self._shown[at]
        self.sheet.set_title(f"{type_of(envelope.event).upper().replace('_', ' ')} {view.glyphs.sep} {envelope.seq}")
        try:
            pretty = msgspec.json.format(encode(envelope.event), indent=2).decode(errors="replace")
        except UnicodeEncodeError:  # text that no journal could have kept
            pretty = msgspec.json.format(
                msgspec.json.encode(_readable(msgspec.to_builtins(envelope.event))), indent=2
            ).decode()
        return [row for line in pretty.split("\n") for row in _json_lines(line, width)]

    def moved(self, index: int) -> None:
        self._at_end = index >= len(self._shown) - 1

    def do_follow(self) -> None:
        self._at_end = True
        self.dev.redraw()

    def sift(self, words: str) -> None:
        self._filter = words.strip().casefold()
        self._at_end = True


def _readable(value: object) -> object:
    """The same without what is no text: escape sequences, and halves of characters."""
    match value:
        case str():
            return clean(value).encode("utf-8", "replace").decode()
        case dict():
            return {name: _readable(one) for name, one in value.items()}
        case list() | tuple():
            return [_readable(one) for one in value]
    return value


def _json_lines(line: str, width: int) -> list[Line]:
    """A line of JSON, its name in colour; a long value goes on below, a little further in."""
    indent = " " * (len(line) - len(line.lstrip()))
    first, *rest = wrap(outside(line), width, "fg", first=indent, rest=f"{indent}    ")
    name, colon, value = first[1][0].partition(": ")
    if not colon:
        return [first, *rest]
    return [((indent + name, "accent"), (": ", "muted"), (value, "fg")), *rest]
