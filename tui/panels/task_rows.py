"""The rows of the task tree: phases, tasks with state, rung, duration and lane; long titles over two rows. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from engine.core.model import Struct
from engine.core.state import Status, TaskState
from tui.kit.arrange import BESIDE_TITLE
from tui.kit.glyphs import of_status
from tui.kit.paint import BLANK, Line, Span, cells_of, outside, pad, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import duration

Columns = tuple[tuple[str, int], ...]
"""Names, and the cells each takes."""
COLUMNS = {"took": 8, "tried": 6, "word": 8, "rung": 7, "lane": 7}
"""What a row may say at its right, the most useful first, and the cells it takes with a blank before it."""
WITHIN_AN_HOUR = 6
"""Cells of a time while no task has taken an hour."""
HOUR = 3600.0
ORDER = ("word", "lane", "rung", "tried", "took")
USUAL = ("took", "tried")
"""Shown beside the usual titles, whatever the longest one; the others only where every row has them."""
PHASE = "\u00a7"
"""Begins the id of a phase's heading: no task's id does."""


def task_rows(view: View, width: int, needle: str = "", folded: frozenset[int] = frozenset()) -> list[tuple[str, Line]]:
    """Lines with the id of the task they show; a phase's heading has its number behind a sign of its own."""
    state = view.state
    rows: list[tuple[str, Line]] = []
    phases = state.plan.phases if state.plan else ()
    words = needle.casefold().split()
    columns = _layout(view, width).columns
    for index, phase in enumerate(phases):
        tasks = [task for task in state.tasks.values() if task.phase == index]
        shown = [task for task in tasks if found(task, words)] if words else tasks
        if words and not shown:
            continue
        done = sum(task.status is Status.COMPLETE for task in tasks)
        if rows:
            rows.append(("", BLANK))
        closed = index in folded and not words
        here = closed and any(task.id == view.selected for task in tasks)
        mark: Span = (view.glyphs.cursor if here else " ", "accent")
        name: list[Span] = [
            mark,
            (f"{view.glyphs.closed if closed else view.glyphs.open} ", "muted"),
            (outside(phase.title).upper(), "muted bold"),
        ]
        rows.append((f"{PHASE}{index}", spread(name, [(f"{done}/{len(tasks)}", "muted")], width)))
        if not closed:
            rows.extend((task.id, _line(view, task, width, columns)) for task in shown)
    return rows


def unfolded(view: View, rows: Sequence[tuple[str, Line]], width: int, height: int) -> list[tuple[str, Line]]:
    """Titles too long for a row go on in a second one while the pane has rows left, what is at work before the rest."""
    spare = height - len(rows)
    long = _layout(view, width).cut
    cut = [view.state.tasks[name] for name, _ in rows if name in long] if long else []
    at_work = [task for task in cut if task.id == view.selected or task.gate or task.status is Status.RUNNING]
    opened: dict[str, list[Line]] = {}
    for task in [*at_work, *(task for task in cut if task not in at_work)]:
        lines = _wrapped(view, task, width)
        if len(lines) - 1 <= spare or task.id == view.selected:
            spare -= len(lines) - 1
            opened[task.id] = lines
    out: list[tuple[str, Line]] = []
    for name, line in rows:
        out += [(name, part) for part in opened[name]] if name in opened else [(name, line)]
    return out


class _Layout(Struct, frozen=True):
    """What the titles of a plan leave room for in a width: worked out when a task changes, not every second."""

    tasks: Mapping[str, TaskState]
    width: int
    short: bool = False
    """No task has taken an hour."""
    columns: Columns = ()
    cut: frozenset[str] = frozenset()
    """Tasks whose title is longer than a row."""


_laid_out = _Layout({}, 0)


def _layout(view: View, width: int) -> _Layout:
    global _laid_out
    short = view.now - (view.state.created_at or view.now) < HOUR
    if _laid_out.tasks is not view.state.tasks or (_laid_out.width, _laid_out.short) != (width, short):
        tasks = view.state.tasks
        cells = {name: 4 + cells_of(outside(name)) + cells_of(outside(one.spec.title)) for name, one in tasks.items()}
        cut = frozenset(name for name, wanted in cells.items() if wanted > width)
        columns = _columns(list(cells.values()), width, lanes=view.state.policy.lanes, wide=_wide(short))
        _laid_out = _Layout(tasks, width, short, columns, cut)
    return _laid_out


def _wrapped(view: View, task: TaskState, width: int) -> list[Line]:
    """One task over as many rows as its title needs, the further ones under its first word."""
    head, style = _head(view, task)
    indent = width_of(head)
    lines = wrap(outside(task.spec.title), max(8, width - indent), style)
    return [(*head, *lines[0][1:]), *(((" " * indent, ""), *line[1:]) for line in lines[1:])]


def found(task: TaskState, words: Sequence[str]) -> bool:
    """Every word is in the task's id, title or status."""
    text = f"{task.id} {task.spec.title} {task.status.value} {'gate' if task.gate else ''}".casefold()
    return all(word in text for word in words)


def wanted_width(view: View) -> int:
    """Cells in which every title is whole, with what stands beside it."""
    return (_title_cells(view)[-1] if view.state.tasks else 16) + 4 + BESIDE_TITLE


_measured: tuple[Mapping[str, TaskState], list[int]] = ({}, [])


def _title_cells(view: View) -> list[int]:
    """Cells of every title with its id, in order: measured when a task changes."""
    global _measured
    if _measured[0] is not (tasks := view.state.tasks):
        _measured = (
            tasks,
            sorted(cells_of(outside(one.id)) + cells_of(outside(one.spec.title)) for one in tasks.values()),
        )
    return _measured[1]


_drawn: dict[str, tuple[TaskState, tuple[object, ...], Line]] = {}
"""The last line of every task: most of three hundred tasks look as they did a second ago."""


def _line(view: View, task: TaskState, width: int, columns: Columns) -> Line:
    if task.status is Status.RUNNING:  # its time goes on
        return task_line(view, task, width, columns)
    how = (width, columns, task.id == view.selected, view.glyphs, view.state.policy)
    known = _drawn.get(task.id)
    if (
        known is not None
        and known[0] is task
        and all(one is other or one == other for one, other in zip(known[1], how, strict=True))
    ):
        return known[2]
    line = task_line(view, task, width, columns)
    _drawn[task.id] = (task, how, line)
    return line


def shows_time(view: View, width: int) -> bool:
    """The rows say how long something took: they change with the clock."""
    return any(name == "took" for name, _ in _layout(view, width).columns)


def row_count(view: View, width: int = 0) -> int:
    """How many rows the whole list has, each title that is longer than a row in a certain width over two."""
    phases = len(view.state.plan.phases) if view.state.plan else 0
    long = len(view.state.tasks) - bisect_right(_title_cells(view), width - 4) if width else 0
    return len(view.state.tasks) + max(0, 2 * phases - 1) + long


def _sign(view: View, task: TaskState) -> tuple[str, str, str]:
    return (view.glyphs.gate, "gate", "gate") if task.gate else of_status(task.status, view.glyphs)


def _head(view: View, task: TaskState) -> tuple[list[Span], str]:
    """What stands before a title, and the title's style."""
    sign, _, style = _sign(view, task)
    chosen = task.id == view.selected
    mark: Span = (view.glyphs.cursor, "accent") if chosen else (" ", "")
    title_style = "fg bold" if chosen else "muted" if task.status in (Status.PENDING, Status.SKIPPED) else "fg"
    return [mark, (f"{sign} ", style), (f"{outside(task.id)} ", "muted")], title_style


def task_line(view: View, task: TaskState, width: int, columns: Columns) -> Line:
    head, title_style = _head(view, task)
    left: list[Span] = [*head, (outside(task.spec.title), title_style)]
    meta = _meta(view, task, columns)
    room = width - width_of(left)
    while meta and width_of(meta) > room:  # a title is worth more than a column; each begins with its own blank
        meta = meta[1:]
    return spread(left, meta, width, gap=0)


def _wide(short: bool) -> Mapping[str, int]:
    return {**COLUMNS, "took": WITHIN_AN_HOUR} if short else COLUMNS


def _columns(cells: Sequence[int], width: int, *, lanes: int, wide: Mapping[str, int] = COLUMNS) -> Columns:
    """What stands at the right of every row: as much as there is room for beside the longest usual title."""
    always = wide["took"] + wide["tried"]
    if 2 * sum(one <= width - wide["took"] for one in cells) < len(cells):  # a column that few rows have is none
        return ()
    room = width - max((one for one in cells if one <= width - always), default=width)
    beside_all = width - max((one for one in cells if one <= width), default=width)
    kept: list[str] = []
    for name, wanted in wide.items():
        free = room if name in USUAL else min(room, beside_all - sum(wide[one] for one in kept))
        if wanted <= free and (name != "lane" or lanes > 1):
            kept.append(name)
            room -= wanted
    return tuple((name, wide[name]) for name in ORDER if name in kept)


def _meta(view: View, task: TaskState, columns: Columns) -> list[Span]:
    spans: list[Span] = []
    for name, cells in columns:
        words, style = _cell(view, task, name)
        spans.append((f" {pad(words, cells - 1, right=name == 'took')}", style))
    return spans


def _cell(view: View, task: TaskState, name: str) -> tuple[str, str]:
    match name:
        case "word":
            _, word, style = _sign(view, task)
            return word, style
        case "lane":
            return (f"lane {task.lane + 1}" if task.status is Status.RUNNING else ""), "muted"
        case "rung":
            return (view.rung_name(task.rung) if task.iteration else ""), f"rung-{min(task.rung, 3) + 1}"
        case "tried":
            return (f"it {task.iteration}" if task.iteration else ""), "muted"
        case _:
            end = task.ended_at if task.ended else view.now
            return (duration(end - task.started_at) if task.started_at else ""), "muted"
