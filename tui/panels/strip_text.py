"""What the flight strip draws: a row a lane, time to the right, the ladder as steps; spend and tests below. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.state import TaskState
from engine.core.wording import plural
from tui.kit.axis import Axis
from tui.kit.flight import Flight, Lane, Leg, Stage, TickKind
from tui.kit.meter import merged
from tui.kit.outlook import Outlook, outlook
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, fit, fitting, outside, pad, spread, width_of
from tui.kit.view import View, running_tasks
from tui.kit.wording import clock_time, duration, money, share

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
SHORT_FLIGHT = 900.0
"""Seconds below which the axis names seconds, too."""
LEAST_TRACK = 24
"""Cells of time below which a strip says nothing."""


def lanes_of(view: View, flight: Flight) -> list[int]:
    """The lanes that have or had work, by number."""
    used = {task.lane for task in running_tasks(view.state)} | set(flight.lanes)
    return sorted(lane for lane in used if lane >= 0)


def strip_lines(view: View, flight: Flight, width: int, height: int) -> list[Line]:
    """Exactly what fits: as many rows as `height`, each at most `width` cells."""
    lanes = lanes_of(view, flight)
    if not lanes or height <= 0 or width < LEAST_TRACK:
        return []
    ahead = outlook(view.state, view.now) if view.state.running and not view.replaying else Outlook()
    axis = flight.axis(view.now, view.now + ahead.seconds if ahead.tasks else view.now)
    below = 3 if height >= len(lanes) + 3 else 1 if height > len(lanes) else 0
    tall = height - below >= 2 * len(lanes)
    most = (height - below) // (2 if tall else 1)
    shown, hidden = lanes[:most], lanes[most:]
    if hidden:
        shown = lanes[: most - 1] if most > 1 else shown
    rows = [(lane, task_in(view, flight, lane)) for lane in shown]
    label = _label_width(view, rows, width, tall)
    track = width - label - 1
    lines: list[Line] = []
    for lane, task in rows:
        names = _labels(view, lane, task, label, tall)
        bars = _bars(view, flight.lanes.get(lane, Lane()), axis, track)
        lines.append((*names[0], (" ", ""), *bars))
        if tall:
            lines.append((*names[1], (" ", ""), *_captions(view, flight.lanes.get(lane, Lane()), axis, track)))
    if hidden:
        lines.append(crop([(f"  {view.glyphs.ellipsis} {len(lanes) - len(shown)} more lanes", "muted")], width))
    spend, tests, end = _expected(view, ahead)
    if below == 3:
        passing = [(at, float(count)) for at, count, _ in flight.tests]
        lines += [
            _curve(view, _spent(view, label), list(flight.spend), axis, track, spend, "accent"),
            _curve(view, _passing(view, flight, axis, label), passing, axis, track, tests, "good"),
        ]
    if below:
        lines.append(_clock(view, axis, label, track, end))
    return lines[:height]


def task_in(view: View, flight: Flight, lane: int) -> TaskState | None:
    running = next((task for task in running_tasks(view.state) if task.lane == lane), None)
    return running or view.state.tasks.get(flight.lanes[lane].task() if lane in flight.lanes else "")


def _spent(view: View, label: int) -> Line:
    now = [("   spend ", "muted"), (money(view.state.spent_usd), "fg bold")]
    return spread(
        fitting([now, [(f"of {money(view.state.policy.budget.session_usd)}", "muted")]], label, " "), [], label
    )


def _passing(view: View, flight: Flight, axis: Axis, label: int) -> Line:
    seen = [(passing, total) for at, passing, total in flight.tests if at <= axis.now]
    if not seen:
        return spread([("   tests", "muted")], [], label)
    passing, total = seen[-1]
    return spread(
        crop([("   tests ", "muted"), (f"{passing}", "fg bold"), (f" of {total} pass", "muted")], label), [], label
    )


def _expected(view: View, ahead: Outlook) -> tuple[str, str, str]:
    """What the right edge says of money, tests and time."""
    if not ahead.tasks:
        return "", "", "" if view.state.running or view.replaying else "ended"
    about = "~" if view.glyphs.ascii else "≈"
    end = clock_time(view.now + ahead.seconds, view.state.utc_offset)[:5]
    left = plural(ahead.tasks, "task")
    return f"{about}{money(view.state.spent_usd + ahead.usd)} in all", f"{left} to go", f"done {about}{end}"


def _label_width(view: View, rows: Sequence[tuple[int, TaskState | None]], width: int, tall: bool) -> int:
    """As wide as the longest title, while the time has room; then as its facts need."""
    longest = max((cells_of(_title(task)) for _, task in rows if task is not None), default=8) + 3
    facts = max((width_of(_facts(view, task)) + 1 for _, task in rows if task is not None), default=0)
    most = width - max(LEAST_TRACK, width // 2 if tall else LEAST_TRACK) - 1
    if not tall and longest + facts <= max(most, width // 2):
        longest += facts
    return max(12, min(longest, max(most, min(40, width - LEAST_TRACK - 1))))


def _title(task: TaskState) -> str:
    return f"{outside(task.id)} {outside(task.spec.title)}"


def _facts(view: View, task: TaskState) -> list[Span]:
    rung = view.rung_name(task.rung)
    tried = f"it {task.iteration}" if task.iteration else ""
    return [(f"{rung} ", f"rung-{min(task.rung, 3) + 1}"), (tried, "muted")]


def _labels(view: View, lane: int, task: TaskState | None, width: int, tall: bool) -> tuple[Line, Line]:
    glyphs = view.glyphs
    if task is None:
        return ((pad(f"   lane {lane + 1}", width), "muted"),), ((" " * width, ""),)
    from tui.kit.glyphs import of_status

    chosen = task.id == view.selected
    sign, _, style = of_status(task.status, glyphs)
    if task.gate:
        sign, style = glyphs.gate, "gate"
    mark: Span = (glyphs.cursor if chosen else " ", "accent bold")
    title = f"{_title(task)}"
    tone = "fg bold" if chosen else "muted" if task.ended else "fg"
    head: list[Span] = [mark, (f"{sign} ", style)]
    if not tall:
        facts = _facts(view, task)
        room = width - 3 - width_of(facts) - 1
        if room < cells_of(title):
            facts, room = [], width - 3
        return spread([*head, (fit(title, room, glyphs.ellipsis), tone)], facts, width, gap=1), BLANK
    first = fit(title, width - 3, glyphs.ellipsis)
    took = duration((task.ended_at if task.ended else view.now) - task.started_at) if task.started_at else ""
    parts: list[list[Span]] = [
        _facts(view, task),
        [(took, "muted")],
        [(money(task.spent_usd), "muted")] if task.spent_usd else [],
    ]
    second: Line = (("   ", ""), *fitting(parts, width - 3, f" {glyphs.sep} " if not glyphs.ascii else "  "))
    return (*head, (first, tone), (" " * (width - 3 - cells_of(first)), "")), (
        *second,
        (" " * max(0, width - width_of(second)), ""),
    )


def _bars(view: View, lane: Lane, axis: Axis, track: int) -> Line:
    """One cell a slice of time: the stage's colour, as high as the rung."""
    glyphs = view.glyphs
    now = axis.cell(axis.now, track)
    tops = max(1, len(view.state.policy.ladder.rungs))
    ground = glyphs.rule if glyphs.ascii else "╌"
    cells: list[Span] = [(ground if at <= now else ("." if glyphs.ascii else "·"), "line") for at in range(track)]
    for leg in lane.legs:
        first = axis.cell(leg.start, track)
        last = axis.cell(axis.now if leg.end is None else min(leg.end, axis.now), track)
        if leg.start > axis.now:
            continue
        for at in range(first, last + 1):
            cells[at] = (_cell(view, leg, tops), STYLES[leg.stage])
    for tick in lane.ticks:
        if tick.at > axis.now:
            continue
        at = axis.cell(tick.at, track)
        match tick.kind:
            case TickKind.COMMIT:
                cells[at] = (glyphs.ok, "good bold")
            case TickKind.ENDED:
                cells[at] = (glyphs.bad, "bad bold")
            case TickKind.CLIMB:
                cells[at] = (glyphs.up, "warn bold")
            case TickKind.RETRY:
                cells[at] = ("!" if glyphs.ascii else "↻", "warn")
            case TickKind.COUNCIL:
                cells[at] = (glyphs.knob, "warn bold")
    return merged(cells)


def _cell(view: View, leg: Leg, tops: int) -> str:
    if view.letters:
        return LETTERS[leg.stage]
    if leg.stage is Stage.GATE:
        return view.glyphs.gate
    if leg.stage is Stage.WAIT:
        return view.glyphs.shade
    steps = view.glyphs.spark
    return steps[max(0, min(len(steps) - 1, round((leg.rung + 1) / tops * len(steps)) - 1))]


def _captions(view: View, lane: Lane, axis: Axis, track: int) -> Line:
    """Below the bars: which task, which stage, what came of it; as much as a leg is long."""
    text = [" "] * track
    styles = [""] * track
    task = ""
    free = 0
    for leg in _joined(lane.legs):
        if leg.start > axis.now:
            continue
        at = max(free, axis.cell(leg.start, track))
        end = axis.cell(axis.now if leg.end is None else leg.end, track) + 1
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


def _joined(legs: Sequence[Leg]) -> list[Leg]:
    """Neighbours of one stage and iteration as one: preparing, implementing and the scope's check."""
    out: list[Leg] = []
    for leg in legs:
        last = out[-1] if out else None
        if last is not None and (last.task, last.stage, last.iteration) == (leg.task, leg.stage, leg.iteration):
            good = leg.good if leg.good is not None else last.good
            out[-1] = last._replace(end=leg.end, words=leg.words or last.words, good=good)
        else:
            out.append(leg)
    return out


def _curve(
    view: View, head: Line, points: Sequence[tuple[float, float]], axis: Axis, track: int, right: str, style: str
) -> Line:
    """A row of columns: how a measure grew, and at the right edge what it will come to."""
    steps = view.glyphs.spark
    seen = [(axis.cell(when, track), value) for when, value in points if when <= axis.now]
    most = max((value for _, value in seen), default=0.0)
    now = axis.cell(axis.now, track)
    cells: list[Span] = []
    held, at = 0.0, 0
    for cell in range(track):
        while at < len(seen) and seen[at][0] <= cell:
            held = seen[at][1]
            at += 1
        if cell > now or not held:
            cells.append((" ", ""))
        else:
            cells.append((steps[max(0, round(share(held, most) * (len(steps) - 1)))], style))
    return (*head, (" ", ""), *_edged(cells, right, "fg bold"))


def _edged(cells: list[Span], words: str, style: str) -> Line:
    """Words at the right end of a row of cells."""
    if words and len(words) + 1 < len(cells) // 2:
        return (*merged(cells[: -len(words) - 1]), (f" {words}", style))
    return merged(cells)


def _clock(view: View, axis: Axis, label: int, track: int, right: str) -> Line:
    """Time of day along the axis; `now` where it is."""
    glyphs = view.glyphs
    cells: list[Span] = [(glyphs.rule, "line")] * track
    now = axis.cell(axis.now, track)
    cut = 8 if axis.length < SHORT_FLIGHT else 5
    last = track - (len(right) + 2 if right else 0)
    marks = [(0, clock_time(axis.start, view.state.utc_offset)[:cut], "muted")]
    step = max(14, track // 6)
    marks += [
        (cell, clock_time(axis.wall(cell / track), view.state.utc_offset)[:cut], "muted")
        for cell in range(step, track - 4, step)
    ]
    marks.append((max(0, min(now - 1, last - 4)), f"{glyphs.up}now", "accent bold"))
    folds = [axis.cell(begin, track) for begin, _end in axis.pauses]
    for cell in [*folds, *([min(now + 5, track - 1)] if axis.hurried else [])]:
        cells[cell] = ("/" if glyphs.ascii else "╱", "muted")
    for cell, words, style in marks:
        near = -len(words) - 2 < cell - now < 6 and style == "muted"
        if near or cell + len(words) > last:
            continue
        for offset, char in enumerate(words):
            cells[cell + offset] = (char, style)
    return ((pad("   time", label), "muted"), (" ", ""), *_edged(cells, right, "fg bold"))
