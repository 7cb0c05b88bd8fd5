"""Which words on a screen were cut, and by how much: the painters are watched while they cut, so that any text counts
and not only those that a test knows of. A cut is wrong where there was room for the rest."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget

from tui.app.application import DevteamApp
from tui.kit import paint
from tui.kit.arrange import TILE_LEAST, TILE_WIDTH
from tui.kit.canvas import Canvas
from tui.kit.framed import Framed
from tui.kit.glyphs import plain_ascii
from tui.kit.line_view import LineView
from tui.kit.paint import Line, cells_of, plain

MARKS = re.compile(r"…|\.\.\.|~(?=\W|$)")
GAPS = re.compile(r" {3,}|[─-]{3,}")
"""Blanks between words, and a border's own line; two cells of each stay as they are."""

CODE = re.compile(r" *\d+ [-+−]? *|── line \d+  ")
"""What a line of a change begins with, and the heading of a hunk that quotes one."""
A_WORD = 8
"""Columns that text which is wrapped leaves free anyway."""
FRAME = 3
"""Cells between the texts of two panes that stand side by side."""


class Cuts:
    """What the painters left out: the words as they are shown, and the words they stand for."""

    def __init__(self) -> None:
        self.whole: dict[str, str] = {}

    def note(self, shown: str, whole: str) -> None:
        shown, whole = shown.rstrip(), whole.rstrip()
        if not shown.endswith(("…", "...")) or len(shown) <= 3 or shown == whole:
            return
        for words in {shown, plain_ascii(shown)}:  # as it is where there is nothing but ASCII
            known = self.whole.get(words)
            self.whole[words] = whole if known is None or len(whole) < len(known) else known

    def missing(self, row: str) -> list[int]:
        """Of every cut in a row of the screen, how many cells were left out."""
        found = []
        for mark in MARKS.finditer(row):
            before = row[: mark.end()]
            known = [shown for shown in self.whole if before.endswith(shown)]
            if known:
                longest = max(known, key=len)
                found.append(cells_of(self.whole[longest]) - cells_of(longest) + 1)
        return found


@contextmanager
def watched() -> Iterator[Cuts]:
    """While this is open every cut of every painter is noted."""
    cuts = Cuts()
    fit, crop, wrap_to = paint.fit, paint.crop, paint.wrap_to

    def fitted(text: str, width: int, ellipsis: str = "…") -> str:
        shown = fit(text, width, ellipsis)
        cuts.note(shown, text)
        return shown

    def cropped(line: Any, width: int) -> Line:
        whole = tuple(line)
        shown = crop(whole, width)
        cuts.note(plain([shown]), plain([whole]))
        return shown

    def wrapped(text: str, width: int, style: str, most: int, **how: Any) -> list[Line]:
        lines = wrap_to(text, width, style, most, **how)
        cuts.note(lines[-1][-1][0], text)
        return lines

    new: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "fit": (fit, fitted),
        "crop": (crop, cropped),
        "wrap_to": (wrap_to, wrapped),
    }
    places = [
        (module, name, old, with_note)
        for module_name, module in list(sys.modules.items())
        if module_name.startswith("tui.")
        for name, (old, with_note) in new.items()
        if getattr(module, name, None) is old
    ]
    for module, name, _, with_note in places:
        setattr(module, name, with_note)
    try:
        yield cuts
    finally:
        for module, name, old, _ in places:
            setattr(module, name, old)


class Pane:
    """One canvas as it is on screen: its visible rows, and what is free in it."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.region: Region = canvas.region
        inner = canvas.scrollable_content_region
        top = round(canvas.scroll_offset.y)
        talk = isinstance(canvas, LineView)
        self.rows = [
            canvas.render_line(row).text.rstrip() if talk else plain([canvas.lines[top + row]])
            for row in range(min(inner.height, inner.height if talk else len(canvas.lines) - top))
        ]
        self.width = max(0, inner.width - isinstance(canvas, Framed))
        self.free_rows = max(0, inner.height - len(canvas.lines))

    @property
    def free_columns(self) -> int:
        """Cells at the right that no row uses."""
        return self.width - max((cells_of(row) for row in self.rows), default=0)


def panes(app: DevteamApp) -> list[Pane]:
    return [
        Pane(canvas)
        for canvas in app.screen.query(Canvas)
        if canvas.display and canvas.is_on_screen and canvas.scrollable_content_region.width > 0
    ]


def blanks(row: str, width: int) -> int:
    """Cells of a row that could hold more words; the indent of code could not."""
    numbered = CODE.match(row)
    rest = row[numbered.end() :] if numbered else row
    return sum(len(gap) - 2 for gap in GAPS.findall(rest + " " * max(0, width - cells_of(row))))


def beside(pane: Pane, others: list[Pane]) -> int:
    """Columns that text may take of what stands beside a pane: those that are free over its whole height; of an output,
    which lays out its lines anew in any width, all beyond those that it needs to be read."""
    free = 0
    for other in others:
        near = 0 <= other.region.x - pane.region.right <= FRAME or 0 <= pane.region.x - other.region.right <= FRAME
        if near and other.region.y < pane.region.bottom and pane.region.y < other.region.bottom:
            talk = isinstance(other.canvas, LineView)
            free = max(free, other.region.width - TILE_WIDTH if talk else other.free_columns - A_WORD)
    return free


def hidden_beside_room(app: DevteamApp) -> list[str]:
    """Panes that hide rows while one above or below them, in the same column, has rows to spare."""
    wrong = []
    shown = panes(app)
    for pane in shown:
        missing = len(pane.canvas.lines) - pane.region.height + 2
        if missing <= 0 or isinstance(pane.canvas, LineView) or not isinstance(pane.canvas, Framed):
            continue
        for other in shown:
            near = abs(other.region.y - pane.region.bottom) <= 1 or abs(pane.region.y - other.region.bottom) <= 1
            if not near or other.region.x != pane.region.x or other.region.width != pane.region.width:
                continue
            talk = isinstance(other.canvas, LineView)
            free = other.region.height - TILE_LEAST if talk else other.free_rows
            if free > 0:
                wrong.append(f"#{pane.canvas.id} hides {missing} rows, #{other.canvas.id} has {free} rows to spare")
    return wrong


def cut_beside_room(app: DevteamApp, cuts: Cuts) -> list[str]:
    """Every word that was cut although there was room for the rest: in its row, below it, or in the pane beside it."""
    wrong = [*on_borders(app, cuts), *hidden_beside_room(app)]
    shown = panes(app)
    for pane in shown:
        name = pane.canvas.id or type(pane.canvas).__name__
        for row in pane.rows:
            for missing in cuts.missing(row):
                code = CODE.match(row) is not None  # wrapped where somebody asks for it
                if missing <= (free := blanks(row, pane.width)):
                    wrong.append(f"#{name}: {missing} cells are cut beside {free} blanks: {row!r}")
                elif missing <= pane.free_rows * pane.width and not code:
                    wrong.append(f"#{name}: {missing} cells are cut above {pane.free_rows} free rows: {row!r}")
                elif missing <= (free := beside(pane, shown)) and not code:
                    wrong.append(f"#{name}: {missing} cells are cut, the pane beside has {free} free columns: {row!r}")
    return wrong


def on_borders(app: DevteamApp, cuts: Cuts) -> list[str]:
    """Titles of panes that are cut beside the border's own line, or by somebody who does not ask us."""
    wrong = []
    for widget in app.screen.query(Widget):
        if not widget.display or not widget.is_on_screen or widget.region.width <= 0:
            continue
        for title, place in ((widget.border_title, "upper"), (widget.border_subtitle, "lower")):
            if not title or not widget.styles.border.top[0]:
                continue
            words = Content.from_markup(title).plain if isinstance(title, str) else str(title)
            room = widget.region.width - 4
            if cells_of(words) > room:
                wrong.append(f"#{widget.id}: Textual cuts its {place} title to {room} cells: {words!r}")
            for missing in cuts.missing(words):
                if missing <= room - cells_of(words) - 2:
                    wrong.append(f"#{widget.id}: its {place} title is cut beside {room - cells_of(words)}: {words!r}")
    return wrong
