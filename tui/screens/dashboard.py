"""The dashboard: all panes, rearranged by the width there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual._path import CSSPathType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.paint import Line, Span
from tui.panels.health import HealthPanel
from tui.panels.iteration import IterationPanel
from tui.panels.ladder import LadderPanel
from tui.panels.output import OutputPanel
from tui.panels.panel import Panel
from tui.panels.recent import RecentPanel
from tui.panels.tasks import TasksPanel
from tui.screens.page import Page
from tui.view import View, running_tasks
from tui.widgets.canvas import Canvas
from tui.widgets.line_view import LineView

PANES = ("tasks", "iteration", "output", "ladder", "health")
GROUP_OF = {"tasks": "tasks", "iteration": "work", "output": "work", "ladder": "side", "health": "side"}
TABS = (("1", "tasks", "tasks"), ("2 3", "iteration, output", "work"), ("4 5", "ladder, health", "side"))


class Dashboard(Page):
    NAME = "dashboard"
    BRIEF_GATE = False
    CSS_PATH: ClassVar[CSSPathType | None] = "dashboard.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.group = "work"
        self.zoomed = ""

    def body(self) -> Iterable[Widget]:
        yield Canvas(id="tabs")
        with Horizontal(id="body"):
            yield TasksPanel()
            with Vertical(id="work"):
                yield IterationPanel()
                with Horizontal(id="outputs"):
                    yield OutputPanel(0)
                    yield OutputPanel(1)
            with Vertical(id="side"):
                yield LadderPanel()
                yield HealthPanel()
                yield RecentPanel()

    def mounted(self) -> None:
        super().mounted()
        self._show_group("work")

    def update_view(self, view: View) -> None:
        beside = len([task for task in running_tasks(view.state) if task.id != view.selected]) > 0
        self.set_class(beside, "-lanes")
        feed = self.dev.feed
        for panel in self.query(Panel):
            if isinstance(panel, RecentPanel):
                panel.events = feed.events
            panel.show(view)
        for output in self.query(OutputPanel):
            if output.show(view, feed.streams):
                self.dev.redraw()
        self.query_one("#tabs", Canvas).set_lines([tab_line(self.group)])

    # ── panes ──

    def _pane(self, name: str) -> Widget:
        if name == "output":
            return self.query_one("#output-0", OutputPanel).lines
        return self.query_one(f"#{name}", Panel)

    def _show_group(self, group: str) -> None:
        """On a narrow screen one group of panes is seen at a time."""
        self.group = group
        for name in ("tasks", "work", "side"):
            self.set_class(name == group, f"-group-{name}")

    def focus_pane(self, name: str) -> None:
        if self.zoomed:
            self._zoom(name)
        self._show_group(GROUP_OF[name])
        self._pane(name).focus()
        self.dev.redraw()

    def focused_pane(self) -> str:
        """The pane with the focus, or an empty name."""
        node = self.focused
        for name in PANES:
            pane = self._pane(name)
            if node is pane or (name == "output" and isinstance(node, LineView)):
                return name
        return ""

    def do_pane_tasks(self) -> None:
        self.focus_pane("tasks")

    def do_pane_iteration(self) -> None:
        self.focus_pane("iteration")

    def do_pane_output(self) -> None:
        self.focus_pane("output")

    def do_pane_ladder(self) -> None:
        self.focus_pane("ladder")

    def do_pane_health(self) -> None:
        self.focus_pane("health")

    def do_next_pane(self) -> None:
        self._step_pane(1)

    def do_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        at = PANES.index(self.focused_pane()) if self.focused_pane() else -1 if step > 0 else 0
        self.focus_pane(PANES[(at + step) % len(PANES)])

    def do_zoom(self) -> None:
        """The focused pane takes the body; header, gates and footer stay."""
        self._zoom("" if self.zoomed else self.focused_pane() or "output")

    def _zoom(self, name: str) -> None:
        self.zoomed = name
        for pane in PANES:
            self.set_class(pane == name, f"-zoom-{pane}")
        if name:
            self._show_group(GROUP_OF[name])
        self.call_after_refresh(self.dev.redraw)

    # ── output ──

    def output(self) -> OutputPanel:
        """The output pane with the focus, else the first."""
        for panel in self.query(OutputPanel):
            if panel.has_focus_within:
                return panel
        return self.query_one("#output-0", OutputPanel)

    def do_follow(self) -> None:
        self.dev.follow()
        for panel in self.query(OutputPanel):
            panel.lines.set_following(True)

    def do_search(self) -> None:
        self._show_group("work")
        self.output().open_search()

    def do_match_next(self) -> None:
        self.output().step_match(1)

    def do_match_previous(self) -> None:
        self.output().step_match(-1)

    def do_unfold(self) -> None:
        for panel in self.query(OutputPanel):
            panel.lines.set_folded(not panel.lines.folded)
        self.dev.redraw()

    def do_back(self) -> None:
        output = self.output()
        if output.has_class("-searching"):
            output.close_search()
        elif self.zoomed:
            self._zoom("")
        else:
            super().do_back()

    def text_to_copy(self) -> str:
        return self.output().lines.visible_text()

    def text_to_save(self) -> tuple[str, str]:
        """Name and content of the file that `save` writes."""
        output = self.output()
        return f"output-{output.task_id or 'sprint'}.txt", output.lines.whole_text()

    def on_tasks_panel_chosen(self, event: TasksPanel.Chosen) -> None:
        event.stop()
        self.dev.choose(event.task)

    def on_line_view_follow_changed(self, event: LineView.FollowChanged) -> None:
        event.stop()
        for panel in self.query(OutputPanel):
            panel.announce(self.dev.view)


def tab_line(group: str) -> Line:
    spans: list[Span] = [(" ", "")]
    for keys, words, name in TABS:
        here = name == group
        spans += [
            (f" {keys} ", "accent bold" if here else "muted"),
            (words, "fg bold underline" if here else "muted"),
            ("  ", ""),
        ]
    return tuple(spans)
