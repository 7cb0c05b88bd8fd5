"""The panel of each pane."""

from __future__ import annotations

from typing import assert_never

from textual.containers import Horizontal
from textual.widget import Widget

from tui.kit.panes import PaneName
from tui.panels.health import HealthPanel
from tui.panels.iteration import IterationPanel
from tui.panels.ladder import LadderPanel
from tui.panels.output import OutputPanel
from tui.panels.recent import RecentPanel
from tui.panels.tasks import TasksPanel


def make(name: PaneName) -> Widget:
    match name:
        case PaneName.TASKS:
            return TasksPanel()
        case PaneName.ITERATION:
            return IterationPanel()
        case PaneName.OUTPUT:
            return Horizontal(OutputPanel(0), OutputPanel(1), id="outputs")
        case PaneName.LADDER:
            return LadderPanel()
        case PaneName.HEALTH:
            return HealthPanel()
        case PaneName.RECENT:
            return RecentPanel()
        case _:
            assert_never(name)
