"""The task tree: phases that fold, tasks with state, rung, duration and lane; the cursor is the selected task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.binding import Binding
from textual.message import Message

from engine.core.model import Struct
from engine.core.state import Status, TaskState
from tui.kit.glyphs import of_status
from tui.kit.paint import BLANK, Line, Span, cells_of, outside, pad, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import duration
from tui.panels.panel import Panel
from tui.panels.planning import planning_rows
from tui.panels.task_facts import task_facts

Columns = tuple[str, ...]
COLUMNS = {"took": 8, "tried": 6, "word": 8, "rung": 7, "lane": 7}
"""What a row may say at its right, the most useful first, and the cells it takes with a blank before it."""
ORDER = ("word", "lane", "rung", "tried", "took")
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
    columns: Columns = ()
    cut: frozenset[str] = frozenset()
    """Tasks whose title is longer than a row."""


_laid_out = _Layout({}, 0)


def _layout(view: View, width: int) -> _Layout:
    global _laid_out
    if _laid_out.tasks is not view.state.tasks or _laid_out.width != width:
        tasks = view.state.tasks
        cells = {name: 4 + cells_of(outside(name)) + cells_of(outside(one.spec.title)) for name, one in tasks.items()}
        cut = frozenset(name for name, wanted in cells.items() if wanted > width)
        columns = _columns(list(cells.values()), width, lanes=view.state.policy.lanes)
        _laid_out = _Layout(tasks, width, columns, cut)
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
    titles = (cells_of(outside(task.spec.title)) + cells_of(outside(task.id)) for task in view.state.tasks.values())
    return max(titles, default=16) + 4 + 14


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


def row_count(view: View) -> int:
    """How many rows the whole list has."""
    phases = len(view.state.plan.phases) if view.state.plan else 0
    return len(view.state.tasks) + max(0, 2 * phases - 1)


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
    room = width - width_of(left) - 1
    while meta and width_of(meta) > room:  # a title is worth more than a column
        meta = meta[1:]
    return spread(left, meta, width, gap=1)


def _columns(cells: Sequence[int], width: int, *, lanes: int) -> Columns:
    """What stands at the right of every row: as much as there is room for beside the longest usual title."""
    always = COLUMNS["took"] + COLUMNS["tried"]
    room = width - max((one for one in cells if one <= width - always), default=width)
    kept: list[str] = []
    for name, wanted in COLUMNS.items():
        if wanted <= room and (name != "lane" or lanes > 1):
            kept.append(name)
            room -= wanted
    return tuple(name for name in ORDER if name in kept)


def _meta(view: View, task: TaskState, columns: Columns) -> list[Span]:
    spans: list[Span] = []
    for name in columns:
        words, style = _cell(view, task, name)
        spans.append((f" {pad(words, COLUMNS[name] - 1, right=name == 'took')}", style))
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


class TasksPanel(Panel):
    """Up and down choose a task, left and right fold its phase; choosing stops following the running one until `f`."""

    BINDINGS = [
        Binding("up,k", "choose(-1)", "previous task", show=False),
        Binding("down,j", "choose(1)", "next task", show=False),
        Binding("left", "fold(True)", "fold", show=False),
        Binding("right", "fold(False)", "unfold", show=False),
    ]

    class Chosen(Message):
        """A task was chosen by the user."""

        def __init__(self, task: str) -> None:
            super().__init__()
            self.task = task

    def __init__(self) -> None:
        super().__init__(id="tasks")
        self._ids: list[str] = []
        self._seen_of: object = None
        self._seen: tuple[object, ...] = ()
        self._last: list[Line] = []
        self.needle = ""
        self.folded: frozenset[int] = frozenset()

    def title(self, view: View) -> tuple[str, str]:
        follow = "following" if view.following else "f follows"
        if view.state.plan is None and view.state.planning is not None:
            return "PLANNING", ""
        if self.needle:
            matching = sum(found(task, self.needle.casefold().split()) for task in view.state.tasks.values())
            return "TASKS", f"{matching} of {len(view.state.tasks)}"
        return "TASKS", follow if view.state.tasks else ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        second = int(view.now) if "took" in _layout(view, width).columns else 0
        how = (view.selected, view.glyphs, width, height, self.needle, self.folded, second)
        if view.state is not self._seen_of or how != self._seen or not self._ids:
            self._seen_of, self._seen = view.state, how
            self._last = self._draw(view, width, height)
        return self._last

    def _draw(self, view: View, width: int, height: int) -> list[Line]:
        rows = task_rows(view, width, self.needle, self.folded)
        self._ids = [task for task, _ in rows]
        if not rows and self.needle and view.state.tasks:
            return [(("no task holds these words", "muted"),)]
        if not rows:
            return planning_rows(view, width)
        rows = unfolded(view, rows, width, height)
        self._ids = [task for task, _ in rows]
        return [*(line for _, line in rows), *task_facts(view, width, height - len(rows))]

    def show(self, view: View) -> None:
        moved = view.selected != self.view.selected
        super().show(view)
        if moved and view.selected in self._ids:
            self._reveal(self._ids.index(view.selected))

    def ground_of(self, row: int) -> str:
        chosen = 0 <= row < len(self._ids) and self._ids[row] and self._ids[row] == self.view.selected
        return "on-selected" if chosen else ""

    def _reveal(self, row: int) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if row < top or row >= top + height:
            self.scroll_to(y=max(0, row - height // 2), animate=False)

    def action_choose(self, step: int) -> None:
        ids = list(dict.fromkeys(task for task in self._ids if task and not task.startswith(PHASE)))
        if not ids:
            return
        if self.view.selected in ids:
            target = ids[max(0, min(len(ids) - 1, ids.index(self.view.selected) + step))]
        else:  # in a phase that is folded, or filtered away: the nearest one that is seen
            order = list(self.view.state.tasks)
            at = order.index(self.view.selected) if self.view.selected in order else 0
            beyond = [task for task in ids if (order.index(task) - at) * step > 0]
            target = (beyond[0] if step > 0 else beyond[-1]) if beyond else ids[-1 if step > 0 else 0]
        self.post_message(self.Chosen(target))

    def action_fold(self, folded: bool) -> None:
        task = self.view.task
        if task is not None:
            self._set_folded(task.phase, folded)

    def _set_folded(self, phase: int, folded: bool) -> None:
        self.folded = self.folded | {phase} if folded else self.folded - {phase}
        self.redraw()

    def fold_all(self) -> None:
        """Every phase but the one at work; all open again where any is folded."""
        if self.folded:
            self.folded = frozenset()
        else:
            busy = {task.phase for task in self.view.state.tasks.values() if task.status is Status.RUNNING or task.gate}
            phases = self.view.state.plan.phases if self.view.state.plan else ()
            self.folded = frozenset(range(len(phases))) - busy
        self.redraw()

    def set_needle(self, needle: str) -> None:
        self.needle = needle
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else -1
        if not 0 <= row < len(self._ids) or not self._ids[row]:
            return
        name = self._ids[row]
        if name.startswith(PHASE):
            phase = int(name.removeprefix(PHASE))
            self._set_folded(phase, phase not in self.folded)
        else:
            self.post_message(self.Chosen(name))
