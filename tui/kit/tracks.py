"""The tracks of the flight strip: stages as bars, their captions, spend and tests as columns, the clock. Pure.

Every track has one cell for a slice of time and ends at `now`; of a recording what comes later is there, but dimmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.core.model import Struct
from tui.kit.axis import Axis
from tui.kit.flight import Flight, Lane, Leg, Stage, TickKind
from tui.kit.meter import merged
from tui.kit.paint import Line, Span, cells_of, outside
from tui.kit.view import View
from tui.kit.wording import clock_time, share

STYLES = {
    Stage.IMPLEMENT: "accent",
    Stage.CHECKS: "rung-1",
    Stage.REVIEW: "rung-4",
    Stage.COUNCIL: "warn",
    Stage.GATE: "gate",
    Stage.WAIT: "muted",
}
LETTERS = {
    Stage.IMPLEMENT: "i",
    Stage.CHECKS: "c",
    Stage.REVIEW: "r",
    Stage.COUNCIL: "B",
    Stage.GATE: "?",
    Stage.WAIT: "w",
}
LATER = "line"
"""The style of what a recording has after the moment that is looked at."""
SHORT_FLIGHT = 900.0
"""Seconds below which the axis names seconds, too."""
APART = 14
"""Cells between two times of day, at least."""
STEPS = (1, 5, 10, 15, 30, *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)))
"""Seconds between two times of day."""


class Track(Struct, frozen=True, kw_only=True):
    """How wide, over which time, and up to when."""

    axis: Axis
    cells: int
    now: float

    def cell(self, wall: float) -> int:
        return self.axis.cell(wall, self.cells)

    def time_at(self, cell: int) -> float:
        """The moment in the middle of a cell."""
        return self.axis.wall((cell + 0.5) / max(1, self.cells))


def bars(view: View, lane: Lane, track: Track) -> Line:
    """One cell a slice of time: the stage's colour, as high as the rung."""
    glyphs = view.glyphs
    now = track.cell(track.now)
    tops = max(1, len(view.state.policy.ladder.rungs))
    ground, ahead = (glyphs.rule, ".") if glyphs.ascii else ("╌", "·")
    cells: list[Span] = [(ground if at <= now else ahead, "line") for at in range(track.cells)]
    for leg in lane.legs:
        first = track.cell(leg.start)
        last = track.cell(track.now if leg.end is None else leg.end)
        for at in range(first, last + 1):
            if at <= now and leg.start <= track.now:
                cells[at] = (_cell(view, leg, tops), STYLES[leg.stage])
            elif view.until and not view.letters:
                cells[at] = (_cell(view, leg, tops), LATER)
    for tick in lane.ticks:
        if tick.at <= track.now:
            cells[track.cell(tick.at)] = _tick(view, tick.kind)
    if view.until and track.now < view.until:
        cells[now] = (glyphs.bar, "fg bold")
    return merged(cells)


def _tick(view: View, kind: TickKind) -> Span:
    glyphs = view.glyphs
    match kind:
        case TickKind.COMMIT:
            return glyphs.ok, "good bold"
        case TickKind.ENDED:
            return glyphs.bad, "bad bold"
        case TickKind.CLIMB:
            return glyphs.up, "warn bold"
        case TickKind.RETRY:
            return "!" if glyphs.ascii else "↻", "warn"
        case TickKind.COUNCIL:
            return glyphs.knob, "warn bold"
        case _:
            assert_never(kind)


def _cell(view: View, leg: Leg, tops: int) -> str:
    if view.letters:
        return LETTERS[leg.stage]
    if leg.stage is Stage.GATE:
        return view.glyphs.gate
    if leg.stage is Stage.WAIT:
        return view.glyphs.shade
    steps = view.glyphs.spark
    return steps[max(0, min(len(steps) - 1, round((leg.rung + 1) / tops * len(steps)) - 1))]


def captions(lane: Lane, track: Track) -> Line:
    """Below the bars: which task, which stage, what came of it; as much as a leg is long, nothing before it came."""
    text = [" "] * track.cells
    styles = [""] * track.cells
    task = ""
    free = 0
    for leg in _joined(lane.legs, track.now):
        at = max(free, track.cell(leg.start))
        end = track.cell(track.now if leg.end is None else leg.end) + 1
        name = f"{outside(leg.task)} " if leg.task != task else ""
        room = end - at
        stage, came = leg.stage.value, outside(leg.words)
        said = came if leg.stage is not Stage.IMPLEMENT and came else stage
        candidates = [f"{name}{stage} {came}".strip(), f"{name}{said}", f"{name}{stage}", name.strip(), said]
        words = next((one for one in candidates if one and cells_of(one) < room), "")
        if not words:
            continue
        task = leg.task if name and words.startswith(name.strip()) else task
        style = "bad" if leg.good is False else "good" if leg.good else STYLES[leg.stage]
        for offset, char in enumerate(words):
            text[at + offset], styles[at + offset] = char, style
        free = at + cells_of(words) + 1
    return merged(list(zip(text, styles, strict=True)))


def _joined(legs: Sequence[Leg], now: float) -> list[Leg]:
    """Neighbours of one stage and iteration as one: preparing, implementing and the scope's check. Only what began
    before now; what has not ended then has no outcome yet."""
    out: list[Leg] = []
    for leg in legs:
        if leg.start > now:
            continue
        if leg.end is not None and leg.end > now:
            leg = leg._replace(end=None, words="", good=None)
        last = out[-1] if out else None
        if last is not None and (last.task, last.stage, last.iteration) == (leg.task, leg.stage, leg.iteration):
            good = leg.good if leg.good is not None else last.good
            out[-1] = last._replace(end=leg.end, words=leg.words or last.words, good=good)
        else:
            out.append(leg)
    return out


Column = tuple[float, float, str]
"""When, how high from 0 to 1, and in which style."""


def columns(view: View, points: Sequence[Column], track: Track, right: str, more: int = 0) -> Line:
    """A row of columns: how a measure grew, and at the right edge what it will come to; `more`: cells beyond the time
    that are free for that."""
    steps = view.glyphs.spark
    seen = [(track.cell(when), value, style) for when, value, style in points if when <= track.now]
    now = track.cell(track.now)
    cells: list[Span] = []
    held, tone, at = 0.0, "", 0
    for cell in range(track.cells):
        while at < len(seen) and seen[at][0] <= cell:
            _, held, tone = seen[at]
            at += 1
        if cell > now or not held:
            cells.append((" ", ""))
        else:
            cells.append((steps[max(0, round(share(held, 1.0) * (len(steps) - 1)))], tone))
    return edged([*cells, *[(" ", "")] * more], right, "fg bold")


def edged(cells: list[Span], words: str, style: str) -> Line:
    """Words at the right end of a row of cells."""
    if words and len(words) + 1 < len(cells) // 2:
        return (*merged(cells[: -len(words) - 1]), (f" {words}", style))
    return merged(cells)


def clock(view: View, track: Track, right: str, more: int = 0) -> Line:
    """Time of day along the axis; `now` where it is, or which moment of a recording is looked at; `more` as above."""
    glyphs, axis, cells = view.glyphs, track.axis, track.cells
    row: list[Span] = [(glyphs.rule, "line")] * cells
    now = track.cell(track.now)
    cut = 8 if axis.length < SHORT_FLIGHT else 5
    last = cells - max(0, len(right) + 2 - more if right else 0)
    offset = view.state.utc_offset
    here = f"{glyphs.up}{clock_time(track.now, offset) if view.until else 'now'}"
    place = max(0, min(now - (0 if view.until else 1), last - len(here)))
    marks = [(0, clock_time(axis.start, offset)[:cut], "muted")]
    marks += [(cell, clock_time(at, offset)[:cut], "muted") for cell, at in round_times(axis, cells, offset, cut + 2)]
    marks.append((place, here, "accent bold"))
    folds = [axis.cell(begin, cells) for begin, _end in axis.pauses]
    for cell in [*folds, *([min(now + 5, cells - 1)] if axis.hurried else [])]:
        row[cell] = ("/" if glyphs.ascii else "╱", "muted")
    for cell, words, style in marks:
        near = -len(words) - 2 < cell - place < len(here) + 2 and style == "muted"
        if near or cell + len(words) > last:
            continue
        for at, char in enumerate(words):
            row[cell + at] = (char, style)
    return edged([*row, *[(" ", "")] * more], right, "fg bold")


def round_times(axis: Axis, cells: int, offset: float, apart: int) -> list[tuple[int, float]]:
    """Round times of day with the cells they lie in, that far apart from each other and from the axis' beginning."""
    between = max(APART, cells // 8)
    out: list[tuple[int, float]] = []
    free = apart
    for cell in range(apart, cells - 4):
        first, last = axis.wall(cell / cells), axis.wall((cell + 1) / cells)
        step = next((one for one in STEPS if one >= (last - first) * between), STEPS[-1])  # what is to come hurries
        at = (last + offset) // step * step - offset
        if cell >= free and first < at <= last:
            out.append((cell, at))
            free = cell + apart
    return out


def legend(view: View, flight: Flight, width: int) -> Line:
    """Which colour, or which letter, is which stage: those that were seen, as many as fit."""
    seen = {leg.stage for lane in flight.lanes.values() for leg in lane.legs} | {Stage.IMPLEMENT, Stage.CHECKS}
    spans: list[Span] = [("  ", "")]
    used = 2
    for stage in Stage:
        if stage not in seen:
            continue
        sign = LETTERS[stage] if view.letters else view.glyphs.spark[5]
        words = f" {stage.value}"
        if used + 2 + len(words) > width:
            break
        spans += [(" ", ""), (sign, STYLES[stage]), (words, "muted")]
        used += 2 + len(words)
    return tuple(spans)
