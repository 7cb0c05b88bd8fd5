"""The pages by the action that opens them. Imported when one is opened: the dashboard starts without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.screens.page import Page

PAGES = (
    *("iterations", "evidence", "diff", "cost", "log", "help", "plan", "council", "sprints", "settings"),
    *("questions", "learnings", "stats"),
)


def make(name: str) -> Page:
    from tui.screens.cost import Cost
    from tui.screens.council import Council
    from tui.screens.diff import Diff
    from tui.screens.events import Log
    from tui.screens.evidence import Evidence
    from tui.screens.help import Help
    from tui.screens.iterations import Iterations
    from tui.screens.learnings import Learnings
    from tui.screens.picker import Picker
    from tui.screens.plan import PlanPage
    from tui.screens.questions import Questions
    from tui.screens.settings import Settings
    from tui.screens.stats import Stats

    every: tuple[type[Page], ...] = (
        *(Iterations, Evidence, Diff, Cost, Log, Help, PlanPage, Council, Picker, Settings),
        *(Questions, Learnings, Stats),
    )
    return {page.NAME: page for page in every}[name]()
