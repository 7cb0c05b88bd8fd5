"""The task tree's pane: phases fold, a filter sifts; the cursor is the selected task."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.message import Message

from engine.core.state import Status
from tui.kit.paint import Line
from tui.kit.view import View
from tui.panels.panel import Panel
from tui.panels.planning import planning_rows
from tui.panels.task_facts import task_facts
from tui.panels.task_rows import PHASE, found, shows_time, task_rows, unfolded


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
        follow = "following" if view.following else "f: follow"
        if view.state.plan is None and view.state.planning is not None:
            return "PLANNING", ""
        if self.needle:
            matching = sum(found(task, self.needle.casefold().split()) for task in view.state.tasks.values())
            return "TASKS", f"{matching} of {len(view.state.tasks)}"
        return "TASKS", follow if view.state.tasks else ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        second = int(view.now) if shows_time(view, width) else 0
        how = (view.selected, view.glyphs, width, height, self.needle, self.folded, second)
        if view.state is not self._seen_of or how != self._seen or not self._ids:
            self._seen_of, self._seen = view.state, how
            self._last = self._draw(view, width, height)
        return self._last

    def _draw(self, view: View, width: int, height: int) -> list[Line]:
        rows = task_rows(view, width, self.needle, self.folded)
        self._ids = [task for task, _ in rows]
        if not rows and self.needle and view.state.tasks:
            return [(("no matching task; esc: clear", "muted"),)]
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
