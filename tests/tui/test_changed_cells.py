"""What reaches the terminal is the change alone; and what the terminal then shows is what was painted."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tests.depth import examples
from tui.app.changed_cells import UNKNOWN, Cell, ChangedCells, Shown, cells

WIDTH, HEIGHT = 12, 3
TOKEN = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;]*)m|\x1b\]8;([^\x1b]*)\x1b\\|(.)", re.DOTALL)
CONSOLE = Console(color_system="truecolor", force_terminal=True)
STYLES = (None, Style(bold=True), Style(color="red"), Style(color="red", meta={"offset": (1, 2)}), Style(link="x:y"))


class Terminal:
    """As much of one as the dashboard uses: moving, colours, links, text."""

    def __init__(self) -> None:
        self.rows: list[list[Cell]] = [[UNKNOWN] * WIDTH for _ in range(HEIGHT)]

    def take(self, written: str) -> None:
        y = x = 0
        codes = link = ""
        for row, column, sgr, address, text in TOKEN.findall(written):
            if row:
                y, x = int(row) - 1, int(column) - 1
            elif text:
                ((_, _), *more) = found = cells([Segment(text)], ColorSystem.TRUECOLOR) or [("", "")]
                look = (f"\x1b[{codes}m" if codes else "") + link
                if (not more and found[0][0] == "") or (len(found) == 1 and text in "\u0301"):
                    place = x - 1 if self.rows[y][x - 1][0] else x - 2
                    self.rows[y][place] = (self.rows[y][place][0] + text, self.rows[y][place][1])
                    continue
                for cell, _ in found:
                    self.rows[y][x] = (cell, look)
                    x += 1
            elif address.startswith(";"):
                link = ""
            elif address:
                link = f"\x1b]8;{address}\x1b\\"
            else:
                codes = "" if sgr in ("", "0") else sgr


@st.composite
def rows(draw: st.DrawFn, width: int) -> Strip:
    """A row of exactly so many cells, with wide characters."""
    segments, left = [], width
    while left:
        character = draw(st.sampled_from("ab漢é·")) if left > 1 else draw(st.sampled_from("abé·"))
        count = draw(st.integers(1, max(1, left // 2)))
        text = character * count
        style = draw(st.sampled_from(STYLES))
        segments.append(Segment(text, style))
        left -= count * (2 if character == "漢" else 1)
    return Strip(segments, width)


def whole(draw: st.DrawFn) -> LayoutUpdate:
    return LayoutUpdate([[draw(rows(WIDTH))] for _ in range(HEIGHT)], Region(0, 0, WIDTH, HEIGHT))


def part(draw: st.DrawFn) -> ChopsUpdate:
    """A region of the middle, as three chops a row."""
    left, right = sorted((draw(st.integers(1, WIDTH - 2)), draw(st.integers(2, WIDTH - 1))))
    right = max(right, left + 1)
    chops = [
        {0: draw(rows(left)), left: draw(rows(right - left)), right: draw(rows(WIDTH - right))} for _ in range(HEIGHT)
    ]
    spans = [(y, left, right) for y in range(HEIGHT) if draw(st.booleans())] or [(0, left, right)]
    return ChopsUpdate(chops, spans, [[left, right, WIDTH] for _ in range(HEIGHT)])


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_the_terminal_shows_what_was_painted(data: st.DataObject) -> None:
    """Against one that is written to as Textual does it, in full: any sequence of whole and partial updates."""
    plain, saving, shown = Terminal(), Terminal(), Shown()
    for number in range(data.draw(st.integers(2, 5))):
        update = data.draw(st.composite(whole if number == 0 or data.draw(st.booleans()) else part)())
        changed = ChangedCells(update, shown).render_segments(CONSOLE)
        plain.take(update.render_segments(CONSOLE).replace("\n", ""))
        saving.take(changed)
        assert saving.rows == plain.rows
        assert ChangedCells(update, shown).render_segments(CONSOLE) == ""


def test_a_clock_costs_its_digits() -> None:
    shown = Shown()
    bold = Style(bold=True)

    def painted(time: str) -> str:
        line = Strip([Segment("spent  ", bold), Segment(time, bold), Segment("  of everything")])
        return ChangedCells(LayoutUpdate([[line]], Region(0, 0, 40, 1)), shown).render_segments(CONSOLE)

    painted("0:08")
    assert painted("0:09") == "\x1b[1;11H\x1b[1m9\x1b[0m"
    assert painted("0:09") == ""
    shown.forget()
    assert "everything" in painted("0:09")


def test_the_first_half_of_a_wide_character_is_never_written_alone() -> None:
    shown = Shown()
    for text in ("漢漢", "a漢b", "漢ab", "ab漢"):
        ChangedCells(LayoutUpdate([[Strip([Segment(text)])]], Region(0, 0, 4, 1)), shown).render_segments(CONSOLE)
    written = ChangedCells(LayoutUpdate([[Strip([Segment("a漢b")])]], Region(0, 0, 4, 1)), shown)
    assert written.render_segments(CONSOLE) == "\x1b[1;2H漢b"
    shown.write(0, 2, [("x", "")])  # something narrow lies over its second half, and goes again
    assert shown.write(0, 0, cells([Segment("a漢b")], ColorSystem.TRUECOLOR)) == "\x1b[1;2H漢"
