"""Plots with axes, in braille or ASCII, as lines. Pure.

Own code, looked at against textual-plotext: that one brings plotext 5 (it refuses 6), draws through ANSI text past our
cleaner, themes and ASCII mode, and measured 31 ms CPU a redraw; this is below one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from engine.core.model import Struct
from tui.kit.glyphs import Glyphs
from tui.kit.meter import merged
from tui.kit.paint import Line, Span, cells_of

Point = tuple[float, float]
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell: four rows of two."""
BRAILLE = 0x2800
MARKS = "*o+x"
"""One a series where there are only ASCII cells."""
LEAST_WIDTH, LEAST_HEIGHT = 20, 4


class Series(Struct, frozen=True, kw_only=True):
    """One line of a plot."""

    points: tuple[Point, ...]
    style: str = "accent"
    name: str = ""
    steps: bool = False
    """A value holds until the next one: money that is spent, tests that pass."""
    filled: bool = False
    """The ground below the line is filled."""


def plot(
    series: Sequence[Series],
    width: int,
    height: int,
    glyphs: Glyphs,
    *,
    y_words: Callable[[float], str],
    x_words: Callable[[float], str],
    y_marks: Sequence[float] = (),
    x_marks: Sequence[float] = (),
    legend: bool = True,
) -> list[Line]:
    """At most `height` rows of `width` cells: the lines, an axis at the left and one below, every label whole.

    The axis at the left has round numbers at equal distances, from nothing to at least the highest value; `y_marks`
    are other ones to use, from nothing to the highest. `x_marks` are the places below that may have a label.
    """
    shown = [one for one in series if one.points]
    if not shown or width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return []
    xs = [x for one in shown for x, _ in one.points]
    ys = [y for one in shown for _, y in one.points if math.isfinite(y)]
    left, right = min(xs), max(xs)
    names = [one for one in shown if one.name]
    head = legend_line(names, glyphs, width) if legend and names else None
    ticks, rows = _scale(max([*ys, 0.0]), height - 2 - (1 if head else 0), y_marks)
    label = max(cells_of(y_words(tick)) for tick in ticks)
    track = width - label - 2
    if rows < 2 or track < LEAST_WIDTH // 2:
        return []
    area = Area(left, right, ticks[-1], track, rows)
    body = _ascii(shown, area) if glyphs.ascii else _braille(shown, area)
    at_row = {area.row_of(tick): y_words(tick) for tick in ticks}
    lines: list[Line] = [head] if head else []
    cross = "+" if glyphs.ascii else "┤"
    for row in range(rows):
        words = at_row.get(row, "")
        axis = cross if words else glyphs.bar
        lines.append(((f"{words:>{label}} ", "muted"), (axis, "line"), *body[row]))
    corner = "+" if glyphs.ascii else "└"
    marks = x_marks or ((left, (left + right) / 2, right) if right > left else (left,))
    lines.append(((" " * (label + 1), ""), (corner + glyphs.rule * track, "line")))
    lines.append(((" " * (label + 2), ""), *_x_labels(area, marks, x_words)))
    return lines


def _scale(high: float, rows: int, marks: Sequence[float]) -> tuple[list[float], int]:
    """Where labels stand, and over how many rows: at equal distances, as many as there is room for."""
    if marks:
        return list(marks), rows
    high = high if high > 0 else 1.0
    best, used, worth = [0.0, high], rows, 0.0
    for wanted in range(1, max(2, (rows - 1) // 2 + 1)):
        ticks = nice_ticks(0.0, high, wanted)
        apart = (rows - 1) // (len(ticks) - 1)
        taken = (len(ticks) - 1) * apart + 1
        found = taken * high / ticks[-1] * (1.0 if len(ticks) > 2 else 0.6)  # little is left empty above the highest
        if apart >= min(2, rows - 1) and found > worth:
            best, used, worth = ticks, taken, found
    return best, used


def legend_line(series: Sequence[Series], glyphs: Glyphs, width: int) -> Line | None:
    """Which colour, or which mark, is what; None where it does not fit whole."""
    spans: list[Span] = []
    for number, one in enumerate(series):
        sign = MARKS[number % len(MARKS)] if glyphs.ascii else "━"
        spans += [(f"{sign * 2} ", one.style), (f"{one.name}   ", "muted")]
    return tuple(spans) if sum(cells_of(text) for text, _ in spans) <= width else None


def nice_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers from `low` to at least `high`, about as many as wanted."""
    span = high - low
    if not math.isfinite(span) or span < 1e-9:  # nothing that a screen could show
        return [low, low + 1.0]
    rough = span / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10, 20) if factor * power >= rough * 0.999)
    count = max(1, math.ceil(span / step - 1e-9))
    return [low + step * number for number in range(count + 1)]


class Area:
    """Where a value lies among the cells."""

    def __init__(self, left: float, right: float, top: float, cells: int, rows: int) -> None:
        self.left, self.span = left, max(right - left, 1e-9)
        self.top, self.cells, self.rows = top, cells, rows

    def across(self, x: float, steps: int) -> int:
        """The column of so many."""
        return min(steps - 1, max(0, round((x - self.left) / self.span * (steps - 1))))

    def down(self, y: float, steps: int) -> int:
        """The row of so many, from above."""
        part = y / self.top if math.isfinite(y) else 0.0
        return min(steps - 1, max(0, round((1.0 - min(1.0, max(0.0, part))) * (steps - 1))))

    def row_of(self, y: float) -> int:
        return self.down(y, self.rows)


def _path(one: Series, area: Area, across: int, down: int) -> list[tuple[int, int]]:
    """The dots of a series, neighbours joined."""
    dots: list[tuple[int, int]] = []
    last: tuple[int, int] | None = None
    for x, y in one.points:
        here = (area.across(x, across), area.down(y, down))
        if last is not None:
            if one.steps:
                dots += [(column, last[1]) for column in range(last[0], here[0] + 1)]
                low, high = sorted((last[1], here[1]))
                dots += [(here[0], row) for row in range(low, high + 1)]
            else:
                dots += _joined(last, here)
        dots.append(here)
        last = here
    return dots


def _joined(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    return [
        (
            round(start[0] + (end[0] - start[0]) * at / length),
            round(start[1] + (end[1] - start[1]) * at / length),
        )
        for at in range(length + 1)
    ]


def _braille(series: Sequence[Series], area: Area) -> list[Line]:
    bits = [[0] * area.cells for _ in range(area.rows)]
    styles = [[""] * area.cells for _ in range(area.rows)]
    for one in series:
        dots = _path(one, area, area.cells * 2, area.rows * 4)
        if one.filled:
            edge: dict[int, int] = {}
            for column, row in dots:
                edge[column] = min(row, edge.get(column, row))
            dots = [(column, below) for column, row in edge.items() for below in range(row, area.rows * 4)]
        for column, row in dots:
            bits[row // 4][column // 2] |= DOTS[row % 4][column % 2]
            styles[row // 4][column // 2] = one.style
    return [
        merged([(chr(BRAILLE + bit) if bit else " ", style) for bit, style in zip(*row, strict=True)])
        for row in zip(bits, styles, strict=True)
    ]


def _ascii(series: Sequence[Series], area: Area) -> list[Line]:
    cells: list[list[Span]] = [[(" ", "")] * area.cells for _ in range(area.rows)]
    for number, one in enumerate(series):
        mark = MARKS[number % len(MARKS)]
        for column, row in _path(one, area, area.cells, area.rows):
            cells[row][column] = (mark, one.style)
    return [merged(row) for row in cells]


def _x_labels(area: Area, marks: Sequence[float], words: Callable[[float], str]) -> Line:
    """Whole labels at their own places: every one, or every second, third … counted from the last."""
    wanted = sorted(set(marks))
    for step in range(1, len(wanted) + 1):
        placed: list[tuple[int, str]] = []
        for mark in reversed(wanted[::-1][::step]):
            said = words(mark)
            middle = area.across(mark, area.cells) - cells_of(said) // 2
            placed.append((max(0, min(middle, area.cells - cells_of(said))), said))
        ends = [0, *(at + cells_of(said) + 2 for at, said in placed)]
        if all(at >= end for (at, _), end in zip(placed, ends, strict=False)):
            break
    else:
        return ()
    line: list[Span] = []
    used = 0
    for at, said in placed:
        line += [(" " * (at - used), ""), (said, "muted")]
        used = at + cells_of(said)
    return tuple(line) if used <= area.cells else ()
