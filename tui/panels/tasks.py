"""The task tree: phases that fold, tasks with state, rung, duration and lane; the cursor is the selected task."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.message import Message

from engine.core.state import Status, TaskState
from tui.kit.glyphs import of_status
from tui.kit.paint import BLANK, Line, Span, cells_of, outside, pad, spread, width_of
from tui.kit.view import View
from tui.kit.wording import duration
from tui.panels.panel import Panel
from tui.panels.planning import planning_rows

PHASE = "\u00a7"
"""Begins the id of a phase's heading: no task's id does."""


def task_rows(view: View, width: int, needle: str = "", folded: frozenset[int] = frozenset()) -> list[tuple[str, Line]]:
    """Lines with the id of the task they show; a phase's heading has its number behind a sign of its own."""
    state = view.state
    rows: list[tuple[str, Line]] = []
    phases = state.plan.phases if state.plan else ()
    words = needle.casefold().split()
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
            rows.extend((task.id, _line(view, task, width)) for task in shown)
    return rows


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


def _line(view: View, task: TaskState, width: int) -> Line:
    if task.status is Status.RUNNING:  # its time goes on
        return task_line(view, task, width)
    how = (width, task.id == view.selected, view.glyphs, view.state.policy)
    known = _drawn.get(task.id)
    if (
        known is not None
        and known[0] is task
        and all(one is other or one == other for one, other in zip(known[1], how, strict=True))
    ):
        return known[2]
    line = task_line(view, task, width)
    _drawn[task.id] = (task, how, line)
    return line


def row_count(view: View) -> int:
    """How many rows the whole list has."""
    phases = len(view.state.plan.phases) if view.state.plan else 0
    return len(view.state.tasks) + max(0, 2 * phases - 1)


def task_line(view: View, task: TaskState, width: int) -> Line:
    glyphs = view.glyphs
    sign, word, style = of_status(task.status, glyphs)
    if task.gate:
        sign, word, style = glyphs.gate, "gate", "gate"
    chosen = task.id == view.selected
    mark: Span = (glyphs.cursor, "accent") if chosen else (" ", "")
    title_style = "fg bold" if chosen else "muted" if task.status in (Status.PENDING, Status.SKIPPED) else "fg"
    left: list[Span] = [
        mark,
        (f"{sign} ", style),
        (f"{outside(task.id)} ", "muted"),
        (outside(task.spec.title), title_style),
    ]
    meta = _meta(view, task, word, style, width)
    room = width - width_of(left) - 1
    while meta and width_of(meta) > room:  # a title is worth more than a column
        meta = meta[1:]
    return spread(left, meta, width, gap=1)


def _meta(view: View, task: TaskState, word: str, style: str, width: int) -> list[Span]:
    """The columns at the right: as many as the width has room for."""
    if width < 24:
        return []
    took = ""
    if task.started_at:
        end = task.ended_at if task.ended else view.now
        took = duration(end - task.started_at)
    tried = f"{'it ' if width >= 38 else 'x' if view.glyphs.ascii else '×'}{task.iteration}" if task.iteration else ""
    lane = f"lane {task.lane + 1}" if task.status is Status.RUNNING else ""
    rung = view.rung_name(task.rung) if task.iteration else ""
    spans: list[Span] = []
    if width >= 38:
        spans.append((f" {pad(word, 7)}", style))
    if width >= 52 and view.state.policy.lanes > 1:
        spans.append((f" {pad(lane, 6)}", "muted"))
    if width >= 44:
        spans.append((f" {pad(rung, 6)}", f"rung-{min(task.rung, 3) + 1}"))
    if tried or width >= 38:
        spans.append((f" {pad(tried, 5 if width >= 38 else 2)}", "muted"))
    if took or width >= 38:
        spans.append((f" {pad(took, 7 if width >= 44 else 5, right=True)}", "muted"))
    return spans


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
        rows = task_rows(view, width, self.needle, self.folded)
        self._ids = [task for task, _ in rows]
        if not rows and self.needle and view.state.tasks:
            return [(("no task holds these words", "muted"),)]
        if not rows:
            return planning_rows(view, width)
        return [line for _, line in rows]

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
        ids = [task for task in self._ids if task and not task.startswith(PHASE)]
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
