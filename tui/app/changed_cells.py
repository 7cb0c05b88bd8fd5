"""Writes to the terminal only the cells that differ from what is there: a clock costs its digits, not its window.

Textual repaints the region of a widget that was refreshed, a whole screen after a layout. Over ssh that is what is paid
for. Here every update is compared, cell by cell, with what was written before. `forget` when somebody else may have
written to the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

Cell = tuple[str, str]
"""What stands in a cell, and the codes before it. The second half of a wide character is empty."""
UNKNOWN: Cell = ("\0", "")
CLOSE = 3
"""Unchanged cells of the same look between two changed ones that are written again: moving costs more."""


class ChangedCells(CompositorUpdate):
    """An update that knows what the terminal shows already."""

    def __init__(self, update: LayoutUpdate | ChopsUpdate, shown: Shown) -> None:
        self._update = update
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        colors = console._color_system or ColorSystem.TRUECOLOR
        written = []
        for y, x, strip in pieces(self._update):
            written.append(self._shown.write(y, x, cells(strip, colors)))
        return "".join(written)


class Shown:
    """What the terminal shows, as far as it is known."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell]] = {}

    def forget(self) -> None:
        self._rows.clear()

    def write(self, y: int, x: int, new: list[Cell]) -> str:
        """Codes that turn this part of the row into `new`."""
        row = self._rows.setdefault(y, [])
        missing = x + len(new) - len(row)
        if missing > 0:
            row.extend([UNKNOWN] * missing)
        old = row[x : x + len(new)]
        if old == new:
            return ""
        row[x : x + len(new)] = new
        return "".join(f"\x1b[{y + 1};{x + start + 1}H{drawn(new[start:end])}" for start, end in runs(old, new))


def pieces(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Iterable[Segment]]]:
    """The parts of rows that an update writes: row, column, what."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            yield y, update.region.x, [segment for strip in strips for segment in strip]
        return
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > x2 or end <= x1:
                continue
            yield y, x, strip if x1 <= x and end <= x2 else strip.crop(0, min(end, x2) - x)


def cells(segments: Iterable[Segment], colors: ColorSystem) -> list[Cell]:
    found: list[Cell] = []
    for text, style, control in segments:
        if control:
            continue
        look = _look(style, colors) if style is not None else ""
        if text.isascii():
            found += [(character, look) for character in text]
            continue
        for character in text:
            width = get_character_cell_size(character)
            if width == 0 and found:
                # It combines with what stands before it, also with a wide character.
                place = -2 if found[-1][0] == "" and len(found) > 1 else -1
                found[place] = (found[place][0] + character, found[place][1])
            else:
                found.append((character, look))
                found += [("", look)] * (width - 1)
    return found


@lru_cache(4096)
def _look(style: Style, colors: ColorSystem) -> str:
    codes = Strip.render_ansi(style, colors)
    link = f"\x1b]8;id={style._link_id};{style._link}\x1b\\" if style._link else ""
    return (f"\x1b[{codes}m" if codes else "") + link


def runs(old: list[Cell], new: list[Cell]) -> Iterator[tuple[int, int]]:
    """Where the two differ, near ones joined; never beginning or ending inside a wide character."""
    start = end = -1
    for place, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        if start < 0:
            start = place
        elif place - end > CLOSE or any(cell[1] != new[end - 1][1] for cell in new[end:place]):
            yield _whole(new, start, end)
            start = place
        end = place + 1
    if start >= 0:
        yield _whole(new, start, end)


def _whole(row: list[Cell], start: int, end: int) -> tuple[int, int]:
    while start > 0 and row[start][0] == "":
        start -= 1
    while end < len(row) and row[end][0] == "":
        end += 1
    return start, end


def drawn(row: list[Cell]) -> str:
    """The cells with their codes, each look once."""
    out, look = [], ""
    for character, codes in row:
        if codes != look:
            out.append(_closed(look) + codes)
            look = codes
        out.append(character)
    return "".join(out) + _closed(look)


def _closed(look: str) -> str:
    return ("\x1b]8;;\x1b\\" if "\x1b]8;" in look else "") + ("\x1b[0m" if look.startswith("\x1b[") else "")
