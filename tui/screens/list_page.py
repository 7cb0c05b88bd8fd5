"""ListPage: a list at the left, filtered by `/`, and what it points at on the right. SheetPage: one sheet."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from typing import ClassVar

from textual._path import CSSPathType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from engine.core.events import Envelope, decode_envelope
from engine.link.protocol import Answered, AnyQuery, GetEvents
from tui.kit.paint import Line, cells_of, outside, plain
from tui.kit.row_list import RowList
from tui.kit.sheet import Sheet
from tui.kit.view import View
from tui.screens.page import Page

FILTER = "filter; esc: clear"

UNBOUND = 400
"""Cells in which no row of a list is cut."""
LIST_LEAST, LIST_MOST = 30, 48
"""Cells a list has in any case, and the share of the screen, in percent, that it never exceeds."""
LIST_FRAME = 4
NARROW, STACKED_ROWS = 100, 4
"""Cells of a screen below which a list may stand above its sheet, and the rows of it that are seen then."""
EVENTS_A_PAGE = 1000


def needed(row: Line) -> int:
    """Cells of a row without the blanks that bring its end to the right."""
    words = plain([row])
    gap = max((len(blanks) for blanks in re.findall(r" {3,}", words.lstrip())), default=1)
    return cells_of(words) - gap + 1


class SheetPage(Page):
    """One scrolling sheet drawn from the view; redrawn only when its lines change."""

    CSS_PATH: ClassVar[CSSPathType | None] = "pages.tcss"
    HEADING = ""
    QUERY: ClassVar[AnyQuery | None] = None
    """Asked for once when the page opens, for `taken`; None: the view has everything, or the page asks by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = self.QUERY is None
        self.error = ""
        """Why there is no answer."""

    def body(self) -> Iterable[Widget]:
        yield Sheet(id="sheet")

    def mounted(self) -> None:
        super().mounted()
        self.sheet.set_title(self.HEADING)
        self.sheet.focus()
        if self.QUERY is not None:
            self.run_worker(self._fill(self.QUERY), exit_on_error=False)

    async def _fill(self, query: AnyQuery) -> None:
        answer = await self.ask(query)
        self.taken(answer)
        self.error, self.loaded = answer.error, True
        self.dev.redraw()

    def taken(self, answer: Answered) -> None:
        """What the page is filled from is here."""

    def without(self, nothing: str) -> str:
        """What an empty page says: why it has no answer, that there is nothing, or that it still looks."""
        return outside(self.error) or (nothing if self.loaded else "loading")

    def pane_name(self) -> str:
        return (self.focused.id or "") if self.focused is not None else ""

    @property
    def sheet(self) -> Sheet:
        return self.query_one("#sheet", Sheet)

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        raise NotImplementedError

    def update_view(self, view: View) -> None:
        width, height = self.sheet.room
        if width > 0:
            if self.HEADING:
                self.sheet.set_title(self.HEADING)
            self.sheet.set_lines(self.draw(view, width, height))

    async def ask(self, query: AnyQuery) -> Answered:
        """Put a query to the link; what goes wrong becomes the answer's error."""
        try:
            return await self.dev.feed.link.fetch(query)
        except Exception as error:  # noqa: BLE001 the named boundary: a link that fails is told on the page
            return Answered(error=f"the engine cannot be asked: {error}")

    async def recorded(self) -> AsyncIterator[list[Envelope]]:
        """The events from before this window was opened, page by page; ends with a warning where they cannot be had."""
        after = 0
        while True:
            answer = await self.ask(GetEvents(after=after, limit=EVENTS_A_PAGE))
            if answer.error:
                self.dev.tell(f"older events cannot be shown: {answer.error}", "warning")
            page = [decode_envelope(line) for line in answer.events]
            if answer.error or not page or page[-1].seq <= after:
                return
            yield page
            after = page[-1].seq

    def text_to_copy(self) -> str:
        return self.sheet.text()

    def text_to_save(self) -> tuple[str, str]:
        return f"{self.NAME}.txt", self.sheet.text()


class ListPage(SheetPage):
    """`rows` gives the list, `draw` the sheet for the row under the cursor."""

    LIST_TITLE = ""
    LIST_BY_CONTENT = True
    """The list is as wide as its rows; else the style sheet says how wide."""
    STACKED = False
    """On a narrow screen the list stands above the sheet, which has the whole width."""

    def __init__(self) -> None:
        super().__init__()
        self._list_width = 0

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="body"):
            with Vertical(id="side"):
                yield Input(placeholder=FILTER, id="filter", compact=True)
                yield RowList(id="list", title=self.LIST_TITLE)
            yield Sheet(id="sheet")

    def mounted(self) -> None:
        super().mounted()
        self.query_one("#filter", Input).cursor_blink = False
        self.menu.focus()

    @property
    def menu(self) -> RowList:
        return self.query_one("#list", RowList)

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        """The list's lines, and which are headings."""
        raise NotImplementedError

    def update_view(self, view: View) -> None:
        whole = self.rows(view, UNBOUND)[0] if self.LIST_BY_CONTENT else []
        width, _ = self.menu.room
        if whole and self._fit_list(whole):
            width = self._list_width - LIST_FRAME  # what it has from the next frame on
        if width > 0:
            self.menu.set_rows(*self.rows(view, width), whole)
        super().update_view(view)

    def _fit_list(self, rows: list[Line]) -> bool:
        """As many columns as the widest row needs, while the sheet keeps more than the list; true if that changed."""
        if self.STACKED:
            above = self.size.width < NARROW
            self.set_class(above, "-stacked")
            self.query_one("#side").styles.height = min(len(rows), STACKED_ROWS) + 2 if above else "1fr"
            if above:
                return self._as_wide_as(self.size.width)
        most = max(LIST_LEAST, self.size.width * LIST_MOST // 100)
        wanted = max(LIST_LEAST, min(max((needed(row) for row in rows), default=0) + LIST_FRAME, most))
        return self._as_wide_as(wanted)

    def _as_wide_as(self, wanted: int) -> bool:
        if wanted == self._list_width:
            return False
        self._list_width = wanted
        self.query_one("#side").styles.width = wanted
        self.call_after_refresh(self.dev.redraw)
        return True

    # ── the filter ──

    def do_search(self) -> None:
        self.add_class("-filtering")
        self.query_one("#filter", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.sift(event.value)
        self.dev.redraw()

    def sift(self, words: str) -> None:
        """Show what holds these words. A hook, because Textual calls every class's own handler."""
        self.menu.set_needle(words)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.menu.focus()

    def do_back(self) -> None:
        if not self.has_class("-filtering"):
            super().do_back()
            return
        self.remove_class("-filtering")
        self.query_one("#filter", Input).value = ""
        self.menu.focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        event.stop()
        self.moved(event.index)
        self.sheet.scroll_to(y=0, animate=False)
        self.dev.redraw()

    def moved(self, index: int) -> None:
        """Another row is under the cursor."""

    def on_row_list_picked(self, event: RowList.Picked) -> None:
        event.stop()
        self.picked(event.index)

    def picked(self, index: int) -> None:
        """The row was chosen; by default its sheet gets the keys."""
        self.sheet.focus()
