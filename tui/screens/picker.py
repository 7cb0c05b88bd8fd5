"""The sprint picker: every sprint of the repository with its date, newest first; enter opens it, `v` plays it again."""

from __future__ import annotations

from collections.abc import Sequence

from engine.link.protocol import Answered, GetSprints, SprintLine
from tui.kit.meter import meter
from tui.kit.paint import BLANK, Line, Span, cells_of, outside, pad, spread, wrap
from tui.kit.view import View
from tui.kit.wording import day_and_time, money
from tui.screens.list_page import ListPage

SHOWN: tuple[tuple[str, ...], ...] = (
    ("count", "date", "status"),
    ("count", "date"),
    ("count", "day"),
    ("count",),
    (),
)
"""What the rows may say beside a name; the first that all of them have room for."""


class Picker(ListPage):
    NAME = "sprints"
    LIST_TITLE = "SPRINTS"
    QUERY = GetSprints()

    def __init__(self) -> None:
        super().__init__()
        self._sprints: tuple[SprintLine, ...] = ()

    def taken(self, answer: Answered) -> None:
        """Newest first."""
        self._sprints = tuple(sorted(answer.sprints, key=lambda sprint: sprint.id, reverse=True))

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        if not self._sprints:
            return wrap(
                self.without(f"no sprint yet; {self.dev.keys.shown('request')}: describe what you want"), width, "muted"
            ), [0]
        return sprint_rows(view, self._sprints, width), []

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        sprint = self.chosen()
        if sprint is None:
            return wrap('A sprint is one request and its plan. Type: devteam plan "what you want"', width, "muted")
        self.sheet.set_title(outside(sprint.id))
        words = f"{sprint.done} of {sprint.total} tasks  "
        cells = max(4, min(16, width - 9 - len(words)))
        done: list[Span] = [(words, "fg"), *meter(sprint.done, sprint.total, cells, view.glyphs, "good")]
        facts: list[Line] = [
            *wrap(outside(sprint.title), width, "fg bold"),
            BLANK,
            ((pad("status", 9), "muted"), (outside(sprint.status), "fg")),
            ((pad("done", 9), "muted"), *done),
            ((pad("spent", 9), "muted"), (money(sprint.spent_usd), "fg")),
            ((pad("last run", 9), "muted"), (day_and_time(sprint.at, view.state.utc_offset) or "never run", "fg")),
            BLANK,
            (("enter ", "accent bold"), ("open it", "muted")),
            ((f"{self.dev.keys.shown('replay')} ", "accent bold"), ("replay it from the beginning", "muted")),
        ]
        return facts

    def chosen(self) -> SprintLine | None:
        at = self.menu.cursor
        return self._sprints[at] if 0 <= at < len(self._sprints) else None

    def picked(self, index: int) -> None:
        sprint = self.chosen()
        if sprint is not None:
            from tui.app import actions

            actions.open_sprint(self.dev, sprint.id)

    def do_replay(self) -> None:
        sprint = self.chosen()
        if sprint is not None:
            from tui.app import actions

            actions.replay_sprint(self.dev, sprint.id)


def sprint_rows(view: View, sprints: Sequence[SprintLine], width: int) -> list[Line]:
    """Name, how far it is, when it was last worked on, how it stands: as many of these as all rows have room for."""
    dates = [day_and_time(sprint.at, view.state.utc_offset) for sprint in sprints]
    columns: dict[str, list[str]] = {
        "count": [f"{sprint.done}/{sprint.total}" for sprint in sprints],
        "date": dates,
        "day": [date.rpartition(" ")[0] for date in dates],
        "status": [outside(sprint.status) for sprint in sprints],
    }
    room = width - max(3 + cells_of(outside(sprint.id)) for sprint in sprints) - 1
    widths = {name: max(cells_of(words) for words in column) + 2 for name, column in columns.items()}
    kept = next((one for one in SHOWN if sum(widths[name] for name in one) - 2 <= room), SHOWN[-1])
    rows: list[Line] = []
    for at, sprint in enumerate(sprints):
        here = sprint.id == view.state.sprint
        left: list[Span] = [
            (f" {view.glyphs.run if here else ' '} ", "accent"),
            (outside(sprint.id), "fg bold" if here else "fg"),
        ]
        cells = [pad(columns[name][at], widths[name] - 2, right=True) for name in kept]
        rows.append(spread(left, [("  ".join(cells), "muted")] if cells else [], width, gap=1))
    return rows
