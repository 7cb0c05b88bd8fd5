"""Watching: what the dashboard does with outputs and with the filter of its tasks, in every mode."""

from __future__ import annotations

from msgspec.structs import replace
from textual.widgets import Input

from tui.kit.line_view import LineView
from tui.panels.output import OutputPanel
from tui.panels.tasks import TasksPanel
from tui.screens.page import Page


class WatchPage(Page):
    """A page with output tiles and a list of tasks."""

    def mounted(self) -> None:
        super().mounted()
        for panel in self.query(OutputPanel):
            panel.lines.timed = self.dev.saved.times

    def output_of_selected(self) -> OutputPanel:
        """The tile of the task that is looked at."""
        tiles = [panel for panel in self.query(OutputPanel) if panel.display]
        return next((panel for panel in tiles if panel.task_id == self.dev.view.selected), tiles[0])

    def output(self) -> OutputPanel:
        """The output pane with the focus, else the one of the task that is looked at."""
        for panel in self.query(OutputPanel):
            if panel.has_focus_within:
                return panel
        return self.output_of_selected()

    def do_follow(self) -> None:
        self.dev.follow()
        for panel in self.query(OutputPanel):
            panel.lines.set_following(True)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(TasksPanel).set_needle(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(TasksPanel).focus()

    def end_filter(self) -> None:
        self.remove_class("-filtering")
        self.query_one("#task-filter", Input).value = ""
        self.query_one(TasksPanel).focus()

    def do_fold(self) -> None:
        self.query_one(TasksPanel).fold_all()

    def do_times(self) -> None:
        timed = not self.dev.saved.times
        for panel in self.query(OutputPanel):
            panel.lines.set_timed(timed)
        self.dev.keep(replace(self.dev.saved, times=timed))
        self.dev.redraw()

    def do_unfold(self) -> None:
        for panel in self.query(OutputPanel):
            panel.lines.set_folded(not panel.lines.folded)
        self.dev.redraw()

    def on_line_view_follow_changed(self, event: LineView.FollowChanged) -> None:
        event.stop()
        for panel in self.query(OutputPanel):
            panel.announce(self.dev.view)
