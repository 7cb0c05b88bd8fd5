"""The flight strip's pane: lanes to choose from, and a way back in time."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.message import Message

from engine.core.wording import plural
from tui.kit.flight import Flight
from tui.kit.paint import Line
from tui.kit.view import View, running_tasks
from tui.panels.panel import Panel
from tui.panels.strip_text import Layout, expected, lanes_of, layout, strip_lines, task_in


class StripPanel(Panel):
    """Up and down choose a lane, left and right go through time; so does a click: on a lane, or on the time."""

    BINDINGS = [
        Binding("up,k", "lane(-1)", "previous lane", show=False),
        Binding("down,j", "lane(1)", "next lane", show=False),
        Binding("left", "step(-1)", "back in time", show=False),
        Binding("right", "step(1)", "forward in time", show=False),
        Binding("shift+left", "step(-10)", "far back", show=False),
        Binding("shift+right", "step(10)", "far forward", show=False),
    ]

    class Chosen(Message):
        def __init__(self, task: str) -> None:
            super().__init__()
            self.task = task

    class Scrubbed(Message):
        """A moment of the run is to be shown."""

        def __init__(self, at: float) -> None:
            super().__init__()
            self.at = at

    def __init__(self) -> None:
        super().__init__(id="strip")
        self.flight = Flight()

    def title(self, view: View) -> tuple[str, str]:
        ahead = expected(view)
        lanes = len(running_tasks(view.state))
        head = f"FLIGHT {view.glyphs.sep} {plural(lanes, 'lane')} at work" if lanes else "FLIGHT"
        return head, f"forecast {ahead.basis}" if ahead.tasks else ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return strip_lines(view, self.flight, width, height)

    def _layout(self) -> Layout | None:
        return layout(self.view, self.flight, *self.room, expected(self.view))

    def _tasks(self) -> list[str]:
        found = (task_in(self.view, self.flight, lane) for lane in lanes_of(self.view, self.flight))
        return [task.id for task in found if task is not None]

    def action_lane(self, step: int) -> None:
        tasks = self._tasks()
        if tasks:
            at = tasks.index(self.view.selected) if self.view.selected in tasks else -step
            self.post_message(self.Chosen(tasks[max(0, min(len(tasks) - 1, at + step))]))

    def action_step(self, cells: int) -> None:
        """As far in time as so many cells are wide."""
        plan = self._layout()
        if plan is None:
            return
        here = plan.track.cell(plan.track.now) + cells
        self._scrub(plan, max(0, min(plan.track.cells - 1, here)), forward=cells > 0)

    def _scrub(self, plan: Layout, cell: int, *, forward: bool = False) -> None:
        view = self.view
        last = view.until or view.now
        at = min(plan.track.time_at(cell), last)
        if view.until or (at < view.now and not forward):  # nothing lies ahead of a live run
            self.post_message(self.Scrubbed(at))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        plan = self._layout()
        if offset is None or plan is None:
            return
        row, cell = offset.y // (2 if plan.tall else 1), offset.x - plan.label - 1
        on_lane = row < len(plan.lanes)
        if on_lane and (cell < 0 or not self.view.until):
            task = task_in(self.view, self.flight, plan.lanes[row])
            if task is not None:
                self.post_message(self.Chosen(task.id))
        elif 0 <= cell < plan.track.cells:
            self._scrub(plan, cell)
