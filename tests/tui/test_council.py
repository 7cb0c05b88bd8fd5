"""The Bug Council on screen: five seats by the engine's own names, and whose words are whose while all of them talk."""

from __future__ import annotations

from engine.core.council import SEATS
from tests.tui.driving import press, running
from tui.kit.paint import plain
from tui.panels.output import OutputPanel
from tui.screens.council import Council, council_lines


async def test_the_report_has_each_seat_once() -> None:
    async with running("council_sitting") as (app, pilot, _link):
        await press(pilot, "b")
        assert isinstance(app.screen, Council)
        assert set(app.feed.state.tasks["2.1"].seats) < set(SEATS)
        report = plain(council_lines(app.view, app.feed.state.tasks["2.1"], 80))
        seats = report[report.index("DIAGNOSES") :].split("\n")[1:]
        named = [line[2:] for line in seats if not line.startswith("  ")]
        assert named == [
            "root-cause analyst",
            "code archaeologist",
            "pattern matcher",
            "systems thinker",
            "adversarial tester",
        ]
        assert report.count("  working") == 2


async def test_the_output_says_which_seat_speaks() -> None:
    async with running("council_sitting") as (app, _pilot, _link):
        pane = app.screen.query_one("#output-0", OutputPanel)
        assert "council, 2 seats" in str(pane.border_title)
        said = [line for line in pane.lines.whole_text().split("\n") if line]
        turns = [line.strip("─ ") for line in said if line.startswith("──")][-6:]
        assert turns[-1] == "adversarial tester"
        assert said[said.index("── pattern matcher ──") + 1].startswith("Memory first")
        assert turns.count("code archaeologist") == 2, "each turn names its seat again"
