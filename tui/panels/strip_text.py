"""What the flight strip draws: a row a lane, time to the right, the ladder as steps; spend and tests below. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.model import Struct
from engine.core.state import TaskState
from engine.core.wording import plural
from tui.kit.flight import Flight, Lane
from tui.kit.glyphs import of_status
from tui.kit.outlook import Outlook, outlook
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, fit, fitting, outside, pad, spread, width_of
from tui.kit.tracks import Column, Track, bars, captions, clock, columns, legend
from tui.kit.view import View, running_tasks
from tui.kit.wording import clock_time, duration, money, share

LEAST_TRACK = 24
"""Cells of time below which a strip says nothing."""

RUNG_MOST = 12
"""Cells of a rung's name."""


class Layout(Struct, frozen=True, kw_only=True):
    """Where everything stands in a strip."""

    lanes: tuple[int, ...]
    """The lanes that are shown."""
    hidden: int
    tall: bool
    """Two rows a lane."""
    below: int
    """Rows under the lanes: spend, tests and time, or time alone, or none."""
    label: int
    track: Track
    rungs: int
    """Cells at the right of the lanes' time for their rungs; 0: they stand in the second row of a lane."""


def lanes_of(view: View, flight: Flight) -> list[int]:
    """The lanes that have or had work, by number."""
    used = {task.lane for task in running_tasks(view.state)} | set(flight.lanes)
    return sorted(lane for lane in used if lane >= 0)


def layout(view: View, flight: Flight, width: int, height: int, ahead: Outlook) -> Layout | None:
    """None: there is nothing to show, or no room for it."""
    lanes = lanes_of(view, flight)
    if not lanes or height <= 0 or width < LEAST_TRACK:
        return None
    below = 3 if height >= len(lanes) + 3 else 1 if height > len(lanes) else 0
    tall = height - below >= 2 * len(lanes)
    most = (height - below) // (2 if tall else 1)
    shown, hidden = lanes[:most], lanes[most:]
    if hidden:
        shown = lanes[: most - 1] if most > 1 else shown
    words = width_of(legend(view, flight, width)) if below else 0
    tasks = [task for lane in shown if (task := task_in(view, flight, lane)) is not None]
    rungs = max((cells_of(_rung(view, one)[0]) + 1 for one in tasks), default=0)
    rungs = 0 if tall or width < 2 * LEAST_TRACK else rungs
    label = _label_width(tasks, width - rungs, tall, words)
    if view.until:  # a recording: its whole time, whatever moment is looked at
        axis = flight.axis(max(view.until, view.now))
    else:
        axis = flight.axis(view.now, view.now + ahead.seconds if ahead.tasks else view.now)
    track = Track(axis=axis, cells=width - label - 1 - rungs, now=view.now)
    return Layout(
        lanes=tuple(shown),
        hidden=len(lanes) - len(shown),
        tall=tall,
        below=below,
        label=label,
        track=track,
        rungs=rungs,
    )


def expected(view: View) -> Outlook:
    return outlook(view.state, view.now) if view.state.running and not view.replaying else Outlook()


def strip_lines(view: View, flight: Flight, width: int, height: int) -> list[Line]:
    """Exactly what fits: as many rows as `height`, each at most `width` cells."""
    ahead = expected(view)
    plan = layout(view, flight, width, height, ahead)
    if plan is None:
        return []
    lines: list[Line] = []
    for lane in plan.lanes:
        task = task_in(view, flight, lane)
        names = _labels(view, lane, task, plan.label, plan.tall)
        drawn = flight.lanes.get(lane, Lane())
        name, style = _rung(view, task) if task is not None and plan.rungs else ("", "")
        rung = pad(name, plan.rungs, right=True)
        lines.append((*names[0], (" ", ""), *bars(view, drawn, plan.track), (rung, style)))
        if plan.tall:
            lines.append((*names[1], (" ", ""), *captions(drawn, plan.track)))
    if plan.hidden:
        lines.append(crop([(f"  {view.glyphs.ellipsis} {plural(plan.hidden, 'more lane')}", "muted")], width))
    spend, tests, end = _at_the_end(view, ahead)
    if plan.below == 3:
        spent, measured = _spend(flight, plan.track), _measured(view, flight, plan.track.now)
        lines += [
            (*_spent(view, plan), (" ", ""), *columns(view, spent, plan.track, spend, plan.rungs)),
            (*_passing(measured, plan), (" ", ""), *columns(view, _shares(measured), plan.track, tests, plan.rungs)),
        ]
    if plan.below:
        words = legend(view, flight, plan.label)
        lines.append((*spread(words, [], plan.label), (" ", ""), *clock(view, plan.track, end, plan.rungs)))
    return lines[:height]


def task_in(view: View, flight: Flight, lane: int) -> TaskState | None:
    """The task that a lane has, or had last at the moment that is looked at."""
    running = next((task for task in running_tasks(view.state) if task.lane == lane), None)
    return running or view.state.tasks.get(flight.lanes[lane].task(view.now) if lane in flight.lanes else "")


# ── below the lanes ──


def _spend(flight: Flight, track: Track) -> list[Column]:
    seen = [(at, usd) for at, usd in flight.spend if at <= track.now]
    most = seen[-1][1] if seen else 0.0
    return [(at, share(usd, most), "accent") for at, usd in seen]


def _spent(view: View, plan: Layout) -> Line:
    now = [("   spend ", "muted"), (money(view.state.spent_usd), "fg bold")]
    budget = [(f"of {money(view.state.policy.budget.session_usd)}", "muted")]
    return spread(fitting([now, budget], plan.label, " "), [], plan.label)


Measured = list[tuple[float, int, int, str]]


def _measured(view: View, flight: Flight, now: float) -> Measured:
    """Test runs up to now: those of the selected task's lane, whose numbers belong together; else of all."""
    seen = [one for one in flight.tests if one[0] <= now]
    task = view.task
    lane = flight.lane_of(task.id) if task is not None else None
    own = [one for one in seen if flight.lane_of(one[3]) == lane] if lane is not None else []
    return own or seen


def _shares(measured: Measured) -> list[Column]:
    return [(at, share(passing, total), "good" if passing == total else "muted") for at, passing, total, _ in measured]


def _passing(measured: Measured, plan: Layout) -> Line:
    """How many tests passed when last measured, and for which task."""
    if not measured:
        return spread([("   tests", "muted")], [], plan.label)
    _, passing, total, task = measured[-1]
    now: list[Span] = [("   tests ", "muted"), (f"{passing}", "fg bold"), (f" of {total} pass", "muted")]
    where: list[Span] = [(f" in T{outside(task)}", "muted")] if task else []
    return spread([*now, *where] if width_of(now) + width_of(where) <= plan.label else now, [], plan.label)


def _at_the_end(view: View, ahead: Outlook) -> tuple[str, str, str]:
    """What the right edge says of money, tests and time."""
    if view.until:
        return "", "", f"end {clock_time(view.until, view.state.utc_offset)}"
    if not ahead.tasks:
        return "", "", "" if view.state.running else "ended"
    about = "~" if view.glyphs.ascii else "≈"
    end = clock_time(view.now + ahead.seconds, view.state.utc_offset)[:5]
    left = plural(ahead.tasks, "task")
    return f"{about}{money(view.state.spent_usd + ahead.usd)} total", f"{left} left", f"done {about}{end}"


# ── the names of the lanes ──


def _label_width(tasks: Sequence[TaskState], width: int, tall: bool, legend: int) -> int:
    """As wide as the longest title and as the legend below, while the time has room; then as its facts need."""
    titles = [cells_of(_title(task)) + 3 for task in tasks]
    longest = max(titles, default=11)
    tried = max((cells_of(_tried(task)) + 1 for task in tasks), default=0)
    most = width - max(LEAST_TRACK, width // 2 if tall else LEAST_TRACK) - 1
    if longest > max(most, width // 2):  # it is cut anyway: the time keeps its room, and the other titles are whole
        longest = max([width * 2 // 5, *(one for one in titles if one <= most)])
    if not tall and longest + tried <= max(most, width // 2):
        longest += tried
    longest = max(longest, min(legend, width // 2))
    return max(12, min(longest, max(most, min(40, width - LEAST_TRACK - 1))))


def _title(task: TaskState) -> str:
    return f"{outside(task.id)} {outside(task.spec.title)}"


def _rung(view: View, task: TaskState) -> Span:
    return fit(view.rung_name(task.rung), RUNG_MOST, view.glyphs.ellipsis), f"rung-{min(task.rung, 3) + 1}"


def _tried(task: TaskState) -> str:
    return f"it {task.iteration}" if task.iteration else ""


def _labels(view: View, lane: int, task: TaskState | None, width: int, tall: bool) -> tuple[Line, Line]:
    glyphs = view.glyphs
    if task is None:
        return ((pad(f"   lane {lane + 1}", width), "muted"),), ((" " * width, ""),)
    chosen = task.id == view.selected
    sign, _, style = of_status(task.status, glyphs)
    if task.gate:
        sign, style = glyphs.gate, "gate"
    mark: Span = (glyphs.cursor if chosen else " ", "accent bold")
    title, tried = _title(task), _tried(task)
    tone = "fg bold" if chosen else "muted" if task.ended else "fg"
    head: list[Span] = [mark, (f"{sign} ", style)]
    if not tall:
        room = width - 3
        facts: list[Span] = [(tried, "muted")] if tried and cells_of(title) + 1 + cells_of(tried) <= room else []
        return spread([*head, (fit(title, room, glyphs.ellipsis), tone)], facts, width, gap=1), BLANK
    first = fit(title, width - 3, glyphs.ellipsis)
    took = duration((task.ended_at if task.ended else view.now) - task.started_at) if task.started_at else ""
    rung, rung_style = _rung(view, task)
    parts: list[list[Span]] = [
        [(f"{rung} ", rung_style), (tried, "muted")],
        [(took, "muted")],
        [(money(task.spent_usd), "muted")] if task.spent_usd else [],
    ]
    second: Line = (("   ", ""), *fitting(parts, width - 3, f" {glyphs.sep} " if not glyphs.ascii else "  "))
    return (*head, (first, tone), (" " * (width - 3 - cells_of(first)), "")), (
        *second,
        (" " * max(0, width - width_of(second)), ""),
    )
