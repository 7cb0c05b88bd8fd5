"""The flight strip's pane: lanes to choose from, and a way back in time."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.message import Message

from tui.kit.flight import Flight
from tui.kit.outlook import Outlook, outlook
from tui.kit.paint import Line
from tui.kit.view import View, running_tasks
from tui.panels.panel import Panel, shorter
from tui.panels.strip_text import lanes_of, strip_lines, task_in


class StripPanel(Panel):
    """Up and down choose a lane, left looks back in time; a click does both."""

    BINDINGS = [
        Binding("up,k", "lane(-1)", "previous lane", show=False),
        Binding("down,j", "lane(1)", "next lane", show=False),
        Binding("left", "app.act('look_back')", "back in time", show=False),
    ]

    class Chosen(Message):
        def __init__(self, task: str) -> None:
            super().__init__()
            self.task = task

    def __init__(self) -> None:
        super().__init__(id="strip")
        self.flight = Flight()

    def title(self, view: View) -> tuple[str, str]:
        ahead = outlook(view.state, view.now) if view.state.running else Outlook()
        lanes = len(running_tasks(view.state))
        sep = view.glyphs.sep
        head = f"FLIGHT {sep} {lanes} {'lane' if lanes == 1 else 'lanes'} at work" if lanes else "FLIGHT"
        legend = f"{head} {sep} i implement  c checks  r review  ? you" if view.letters else head
        return shorter(legend, head, room=self.title_room), f"forecast {ahead.basis}" if ahead.tasks else ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return strip_lines(view, self.flight, width, height)

    def _tasks(self) -> list[str]:
        found = (task_in(self.view, self.flight, lane) for lane in lanes_of(self.view, self.flight))
        return [task.id for task in found if task is not None]

    def action_lane(self, step: int) -> None:
        tasks = self._tasks()
        if tasks:
            at = tasks.index(self.view.selected) if self.view.selected in tasks else -step
            self.post_message(self.Chosen(tasks[max(0, min(len(tasks) - 1, at + step))]))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        tasks = self._tasks()
        if offset is None or not tasks:
            return
        tall = len(self.lines) >= 2 * len(tasks)
        row = offset.y // (2 if tall else 1)
        if row < len(tasks):
            self.post_message(self.Chosen(tasks[row]))
