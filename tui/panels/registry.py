"""The panel of each pane."""

from __future__ import annotations

from typing import assert_never

from textual.containers import Container
from textual.widget import Widget

from tui.kit.arrange import MOST_TILES
from tui.kit.panes import PaneName
from tui.panels.health import HealthPanel
from tui.panels.iteration import IterationPanel
from tui.panels.ladder import LadderPanel
from tui.panels.output import OutputPanel
from tui.panels.recent import RecentPanel
from tui.panels.strip import StripPanel
from tui.panels.tasks import TasksPanel


def make(name: PaneName) -> Widget:
    match name:
        case PaneName.STRIP:
            return StripPanel()
        case PaneName.TASKS:
            return TasksPanel()
        case PaneName.ITERATION:
            return IterationPanel()
        case PaneName.OUTPUT:
            return Container(*(OutputPanel(slot) for slot in range(MOST_TILES)), id="outputs")
        case PaneName.LADDER:
            return LadderPanel()
        case PaneName.HEALTH:
            return HealthPanel()
        case PaneName.RECENT:
            return RecentPanel()
        case _:
            assert_never(name)
