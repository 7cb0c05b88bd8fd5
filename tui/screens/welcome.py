"""Welcome: no sprint yet, or no repository. Leads to a plan file, the demo, `init` or `doctor`."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.containers import Vertical
from textual.widget import Widget

from engine.core.model import Struct
from tui.app.options import Leave
from tui.kit.paint import BLANK, Line, Span, cells_of, pad, wrap
from tui.kit.row_list import RowList
from tui.kit.sheet import Sheet
from tui.kit.view import View
from tui.screens.page import Page


class Way(Struct, frozen=True, kw_only=True):
    """One way on: what it does, what to type for it, and how the dashboard is left for it."""

    action: str
    title: str
    command: str
    about: str


WAYS = (
    Way(
        action="request",
        title="Describe what you want",
        command='devteam plan "add login"',
        about="drafts a plan for approval",
    ),
    Way(
        action="plan",
        title="Start from a plan",
        command="devteam plan --from plan.md",
        about="makes a sprint of a file",
    ),
    Way(action="demo", title="Watch the demo", command="devteam demo", about="a sample sprint, offline"),
    Way(
        action="init",
        title="Set up this repository",
        command="devteam init",
        about="writes the config",
    ),
    Way(
        action="doctor",
        title="Check this machine",
        command="devteam doctor",
        about="agents, sandbox and tools",
    ),
)
OUTSIDE = Way(
    action="git",
    title="Create a repository here",
    command="git init",
    about="devteam needs git to keep your files safe",
)


class Welcome(Page):
    NAME = "welcome"
    CSS_PATH = "welcome.tcss"

    def ways(self) -> tuple[Way, ...]:
        return WAYS if self.dev.options.in_repo else (OUTSIDE, WAYS[2], WAYS[4])

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield Sheet(id="hello")
            yield RowList(id="ways", title="WHAT NEXT")

    def mounted(self) -> None:
        super().mounted()
        self.query_one("#ways", RowList).focus()

    def update_view(self, view: View) -> None:
        hello, ways = self.query_one("#hello", Sheet), self.query_one("#ways", RowList)
        width, _ = hello.room
        if width <= 0:
            return
        hello.set_lines(hello_lines(self.dev.options.in_repo, width))
        rows: list[Line] = []
        for way in self.ways():
            spans: list[Span] = [
                (pad(f" {way.title}", 27), "fg bold"),
                (pad(way.command, 30), "accent"),
                (way.about if cells_of(way.about) + 57 < width else "", "muted"),
            ]
            rows.append(tuple(spans))
        ways.set_rows(rows)

    def on_row_list_picked(self, event: RowList.Picked) -> None:
        event.stop()
        way = self.ways()[event.index]
        if way.action == "request":
            self.dev.act("request")
            return
        self.app.exit(Leave(action=way.action, argument=way.command))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()

    def do_back(self) -> None:
        """There is nothing behind the welcome screen."""


def hello_lines(in_repo: bool, width: int) -> list[Line]:
    lines: list[Line] = [
        BLANK,
        (("devteam", "accent bold"),),
        *wrap("Hand over a plan, walk away, come back to verified commits.", width, "fg"),
        BLANK,
    ]
    if in_repo:
        lines += wrap(
            "There is no sprint yet. This screen shows one as soon as it is created, here or in another terminal.",
            width,
            "muted",
        )
    else:
        lines += wrap("This folder is not in a git repository.", width, "warn")
        lines += wrap("Change to one with cd, or run git init here, then start devteam tui again.", width, "muted")
    return lines
