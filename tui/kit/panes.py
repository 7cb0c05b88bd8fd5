"""The registry of the dashboard's panes: key, group and words of each. Keys, tabs, focus and zoom come from it.

What a pane draws is a panel; `tui.panels.registry` makes it, and mypy finds a pane that it forgot.
"""

from __future__ import annotations

from enum import StrEnum

from engine.core.model import Struct


class PaneName(StrEnum):
    """Also the id of its widget, and the end of its style classes."""

    STRIP = "strip"
    TASKS = "tasks"
    ITERATION = "iteration"
    OUTPUT = "output"
    LADDER = "ladder"
    HEALTH = "health"
    RECENT = "recent"


class PaneGroup(StrEnum):
    """The strip above, and the columns below it; a narrow screen shows one of these at a time."""

    STRIP = "strip"
    TASKS = "tasks"
    WORK = "work"
    SIDE = "side"


COLUMNS = (PaneGroup.TASKS, PaneGroup.WORK, PaneGroup.SIDE)


class Pane(Struct, frozen=True, kw_only=True):
    """One pane, in the order of the screen."""

    name: PaneName
    group: PaneGroup
    key: str = ""
    """Goes there; a pane without one is only looked at, where there is room."""
    about: str = ""


PANES = (
    Pane(name=PaneName.STRIP, group=PaneGroup.STRIP, key="0", about="Go to the flight strip"),
    Pane(name=PaneName.TASKS, group=PaneGroup.TASKS, key="1", about="Go to the tasks"),
    Pane(name=PaneName.ITERATION, group=PaneGroup.WORK, key="2", about="Go to the iteration"),
    Pane(name=PaneName.OUTPUT, group=PaneGroup.WORK, key="3", about="Go to the output"),
    Pane(name=PaneName.LADDER, group=PaneGroup.SIDE, key="4", about="Go to the ladder"),
    Pane(name=PaneName.HEALTH, group=PaneGroup.SIDE, key="5", about="Go to the health pane"),
    Pane(name=PaneName.RECENT, group=PaneGroup.SIDE),
)
FOCUSED = tuple(pane for pane in PANES if pane.key)


def members(group: PaneGroup) -> tuple[Pane, ...]:
    return tuple(pane for pane in PANES if pane.group is group)


def tabs() -> list[tuple[str, str, PaneGroup]]:
    """Keys, words and group of each tab of a narrow screen."""
    found = [(group, [pane for pane in members(group) if pane.key]) for group in COLUMNS]
    return [(" ".join(pane.key for pane in panes), ", ".join(pane.name for pane in panes), g) for g, panes in found]
