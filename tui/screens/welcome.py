"""Welcome: no sprint yet, or no repository. Leads to a plan file, the demo, `init` or `doctor`."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.containers import Vertical
from textual.widget import Widget

from engine.core.model import Struct
from tui.app.options import Leave
from tui.kit.paint import BLANK, Line, Span, pad, wrap
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
        title="Say what you want",
        command='devteam plan "add login"',
        about="a plan is made of it, and you approve it",
    ),
    Way(
        action="plan",
        title="Start from a plan",
        command="devteam plan --from plan.md",
        about="makes a sprint of your plan file",
    ),
    Way(action="demo", title="Watch the demo", command="devteam demo", about="a sample sprint; no key, no network"),
    Way(
        action="init",
        title="Set up this repository",
        command="devteam init",
        about="writes the config with the checks it finds",
    ),
    Way(
        action="doctor",
        title="Check this machine",
        command="devteam doctor",
        about="agents, sandbox, tools: what is there",
    ),
)
OUTSIDE = Way(action="git", title="Make a repository here", command="git init", about="how your files stay safe")


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
                (pad(way.title, 26), "fg bold"),
                (pad(way.command, 30), "accent"),
                (way.about if width >= 90 else "", "muted"),
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
            "There is no sprint here yet. As soon as one is made, by you or by another terminal, this screen shows it.",
            width,
            "muted",
        )
    else:
        lines += wrap("This folder is in no git repository, so there is nothing to work on here.", width, "warn")
        lines += wrap("Go to one with cd, or type git init, then devteam tui.", width, "muted")
    return lines
