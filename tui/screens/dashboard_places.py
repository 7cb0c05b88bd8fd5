"""Where the dashboard's panes stand, told to the widgets: what `tui.kit.arrange` has worked out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.kit.arrange import NARROW, SIDE, Arrangement, Contents, columns_of
from tui.kit.flight import Flight
from tui.kit.paint import Line, Span
from tui.kit.panes import COLUMNS, PANES, PaneGroup, PaneName, tabs
from tui.kit.view import View, running_tasks
from tui.panels.health import health_lines
from tui.panels.iteration import iteration_lines, squeezed_rows
from tui.panels.ladder import ladder_lines
from tui.panels.output import OutputPanel
from tui.panels.recent import RecentPanel
from tui.panels.strip import StripPanel
from tui.panels.strip_text import lanes_of
from tui.panels.task_facts import task_facts
from tui.panels.task_rows import row_count, task_rows, unfolded, wanted_width

if TYPE_CHECKING:
    from tui.screens.dashboard import Dashboard

LEFT_PLACE = "-left"
LEFT_STAGES = f"{PaneName.ITERATION}{LEFT_PLACE}"
"""The iteration pane's other place."""
LEFT_EVENTS = f"{PaneName.RECENT}{LEFT_PLACE}"
"""The last events' other place."""
FRAME = 4
"""Cells of a pane that are no text."""
MOST_FACTS, MOST_LADDER, MOST_HEALTH = 14, 20, 24
MOST_LISTED = 40
GROUP_OF = {pane.name: pane.group for pane in PANES}


def contents(view: View, flight: Flight, width: int) -> Contents:
    """What there is to show, measured in the columns it will stand in."""
    titles = wanted_width(view)
    tasks, side = columns_of(width, titles)
    wide, beside = columns_of(width, titles, wide=True)
    narrowest = min(width - tasks - side, width - wide - beside) if width >= NARROW else width
    squeezed, decision = squeezed_rows(view, narrowest - FRAME)
    side = max(side, SIDE) - FRAME
    whole = len(ladder_lines(view, side, 99))
    return Contents(
        lanes=len(lanes_of(view, flight)),
        running=len(running_tasks(view.state)),
        titles=titles,
        tasks=_listed(view, tasks - FRAME),
        tasks_wide=_listed(view, wide - FRAME),
        facts=len(task_facts(view, tasks - FRAME, MOST_FACTS)),
        stages=len(iteration_lines(view, 60, 99)),
        squeezed=squeezed,
        squeezed_left=squeezed_rows(view, tasks - FRAME)[0],
        decision=decision,
        ladder=min(MOST_LADDER, whole),
        ladder_whole=whole,
        health=min(MOST_HEALTH, len(health_lines(view, side, 99))),
        health_least=min(MOST_HEALTH, len(health_lines(view, side, 0))),
    )


def _listed(view: View, width: int) -> int:
    """Rows of the list of tasks with every title whole; a list that is long anyway scrolls, and is not drawn for it."""
    rows = row_count(view, width)
    return (
        rows if row_count(view) > MOST_LISTED else len(unfolded(view, task_rows(view, width), width, 2 * MOST_LISTED))
    )


def place(page: Dashboard, plan: Arrangement, strip: StripPanel, *, flying: bool) -> None:
    zoom = page.zoomed
    page.query_one("#tabs").display = flying and plan.narrow and zoom is None
    strip.display = flying and ((plan.strip > 0 and zoom is None) or zoom is PaneName.STRIP)
    strip.styles.height = "1fr" if zoom is PaneName.STRIP else plan.strip
    page.query_one("#body").display = flying and zoom is not PaneName.STRIP
    page.desk.display = page.showing_desk
    page.morning.display = page.showing_morning
    only = GROUP_OF[zoom] if zoom is not None else page.group if plan.narrow else None
    columns = {group: page.query_one(f"#{group}-column") for group in COLUMNS}
    for group, column in columns.items():
        column.display = only in (None, group) and not (group is PaneGroup.SIDE and only is None and not plan.side)
    left = plan.left and zoom is None
    page.query_one("#tasks").styles.height = plan.list_rows if plan.list_rows and zoom is None else "1fr"
    stages = page.query_one(f"#{LEFT_STAGES}")
    stages.display, stages.styles.height = left, plan.iteration
    columns[PaneGroup.TASKS].styles.width = "1fr" if only else plan.tasks
    columns[PaneGroup.SIDE].styles.width = "1fr" if only else plan.side
    columns[PaneGroup.SIDE].styles.layout = "horizontal" if plan.narrow and zoom is None else "vertical"
    heights = {
        PaneName.ITERATION: plan.iteration,
        PaneName.LADDER: plan.ladder,
        PaneName.HEALTH: plan.health,
    }
    for name, rows in heights.items():
        pane = page.query_one(f"#{name}")
        pane.display = zoom in (None, name) and not (left and name is PaneName.ITERATION)
        full = zoom is name or (name is not PaneName.ITERATION and plan.narrow)
        pane.styles.height = "1fr" if full or (name is PaneName.HEALTH and not plan.recent) else rows
        pane.styles.width = "1fr"
    outputs = page.query_one("#outputs")
    outputs.display = zoom in (None, PaneName.OUTPUT)
    outputs.styles.grid_size_columns = 1 if page.tiles == 1 else plan.columns
    outputs.styles.grid_size_rows = 1 if page.tiles == 1 else plan.rows
    for panel in page.query(OutputPanel):
        panel.display = panel.slot < page.tiles
    for recent in page.query(RecentPanel):
        wanted = plan.list_rows > 0 if recent.id == LEFT_EVENTS else plan.recent
        recent.display = wanted and zoom is None and not plan.narrow
        recent.styles.height = "1fr"


def tab_cells() -> list[tuple[int, PaneGroup]]:
    """The cell at which each tab begins."""
    found, at = [], 1
    for keys, words, group in tabs():
        found.append((at, group))
        at += len(keys) + 2 + len(words) + 2
    return found


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
