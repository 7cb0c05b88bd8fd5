"""The dashboard: all panes, rearranged by the width there is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partialmethod
from typing import ClassVar

from textual._path import CSSPathType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.kit.canvas import Canvas
from tui.kit.line_view import LineView
from tui.kit.paint import Line, Span
from tui.kit.panes import FOCUSED, PANES, PaneGroup, PaneName, members, tabs
from tui.kit.view import View, running_tasks
from tui.panels.output import OutputPanel
from tui.panels.panel import Panel
from tui.panels.recent import RecentPanel
from tui.panels.registry import make
from tui.panels.tasks import TasksPanel
from tui.screens.page import Page

NAMES = tuple(pane.name for pane in FOCUSED)
GROUP_OF = {pane.name: pane.group for pane in PANES}


class Dashboard(Page):
    NAME = "dashboard"
    BRIEF_GATE = False
    CSS_PATH: ClassVar[CSSPathType | None] = "dashboard.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.group = PaneGroup.WORK
        self.zoomed: PaneName | None = None

    def body(self) -> Iterable[Widget]:
        yield Canvas(id="tabs")
        with Horizontal(id="body"):
            for group in PaneGroup:
                panels = [make(pane.name) for pane in members(group)]
                if group is PaneGroup.TASKS:
                    yield from panels
                else:
                    yield Vertical(*panels, id=group)

    def mounted(self) -> None:
        super().mounted()
        self._show_group(PaneGroup.WORK)

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

    def _pane(self, name: PaneName) -> Widget:
        if name is PaneName.OUTPUT:
            return self.query_one("#output-0", OutputPanel).lines
        return self.query_one(f"#{name}", Panel)

    def _show_group(self, group: PaneGroup) -> None:
        """On a narrow screen one group of panes is seen at a time."""
        self.group = group
        for name in PaneGroup:
            self.set_class(name is group, f"-group-{name}")

    def focus_pane(self, name: PaneName) -> None:
        if self.zoomed:
            self._zoom(name)
        self._show_group(GROUP_OF[name])
        self._pane(name).focus()
        self.dev.redraw()

    def focused_pane(self) -> PaneName | None:
        """The pane with the focus."""
        node = self.focused
        for name in NAMES:
            pane = self._pane(name)
            if node is pane or (name is PaneName.OUTPUT and isinstance(node, LineView)):
                return name
        return None

    def do_next_pane(self) -> None:
        self._step_pane(1)

    def do_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        here = self.focused_pane()
        at = NAMES.index(here) if here is not None else -1 if step > 0 else 0
        self.focus_pane(NAMES[(at + step) % len(NAMES)])

    def do_zoom(self) -> None:
        """The focused pane takes the body; header, gates and footer stay."""
        self._zoom(None if self.zoomed else self.focused_pane() or PaneName.OUTPUT)

    def _zoom(self, name: PaneName | None) -> None:
        self.zoomed = name
        for pane in NAMES:
            self.set_class(pane is name, f"-zoom-{pane}")
        if name is not None:
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
        self._show_group(PaneGroup.WORK)
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
            self._zoom(None)
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


for _pane in FOCUSED:
    setattr(Dashboard, f"do_pane_{_pane.name}", partialmethod(Dashboard.focus_pane, _pane.name))


def tab_line(group: PaneGroup) -> Line:
    spans: list[Span] = [(" ", "")]
    for keys, words, name in tabs():
        here = name == group
        spans += [
            (f" {keys} ", "accent bold" if here else "muted"),
            (words, "fg bold underline" if here else "muted"),
            ("  ", ""),
        ]
    return tuple(spans)
