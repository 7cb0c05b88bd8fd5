"""What is drawn where room is short: whole facts or none, never half of one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.link.protocol import LinkStatus
from tests.tui.driving import app_on, press, running, settle
from tests.tui.links import live
from tui.kit.context import Situation, for_footer, label
from tui.kit.key_footer import footer_spans
from tui.kit.keys import key_map
from tui.kit.paint import cells_of, end_of_path, plain
from tui.kit.view import View
from tui.panels.gate import GateButtons
from tui.panels.gate_text import gate_body
from tui.panels.header import header_lines
from tui.screens.iterations import Iterations


@pytest.mark.parametrize("width", range(60, 200, 7))
@pytest.mark.parametrize("asking", [False, True])
@pytest.mark.parametrize("page", ["dashboard", "iterations"])
def test_the_footer_always_shows_help(page: str, asking: bool, width: int) -> None:
    here = Situation(view=View(), page=page, mode="flight" if page == "dashboard" else "", deep=page != "dashboard")
    actions = [(action, label(here, action)) for action in for_footer(here)]
    line, places = footer_spans(actions, key_map({}), width, asking)
    assert "help" in [name for *_, name in places]
    assert sum(cells_of(text) for text, _ in line) <= width + 2


@pytest.mark.parametrize(
    ("path", "width", "shown"),
    [
        ("src/auth/passwords.py", 30, "src/auth/passwords.py"),
        ("src/auth/passwords.py", 20, "…/auth/passwords.py"),
        ("src/auth/passwords.py", 18, "…/passwords.py"),
        ("a/" * 40 + "name.py", 12, "…/a/name.py"),
        ("nofolder_but_long.py", 5, "nofolder_but_long.py"),
    ],
)
def test_a_long_path_loses_whole_folders(path: str, width: int, shown: str) -> None:
    assert end_of_path(path, width) == shown


async def test_counts_of_iterations_are_whole_or_not_there() -> None:
    async with running("fix_gate", size=(80, 24)) as (app, pilot, _link):
        await press(pilot, "i")
        assert isinstance(app.screen, Iterations)
        assert "…" not in plain(app.screen.menu.lines)


async def test_a_title_of_three_letters_is_left_out() -> None:
    async with running("blocked_gate", size=(80, 24)) as (app, _pilot, _link):
        assert "003-add-login…" not in plain(header_lines(app.view, 80))
        assert "003-add-login" in plain(header_lines(app.view, 80))


async def test_a_lost_engine_is_not_called_healthy() -> None:
    async with running("parallel") as (app, _pilot, _link):
        state = app.view.state
        lost = plain(header_lines(View(state=state, now=state.now, link=LinkStatus(status="lost")), 120))
        assert "ENGINE LOST  it was PROGRESSING" in lost
        assert "● PROGRESSING" not in lost
        later = View(state=state, now=state.now + 3600, link=LinkStatus(status="lost"))
        assert plain(header_lines(later, 120)) == lost, "the time of a lost engine stands"


async def test_toasts_never_lie_on_the_gate() -> None:
    app = app_on(live("fix_gate"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        for number in range(3):
            app.tell(f"word {number} " * 20, "warning")
        toasts = app.screen.query("Toast")
        for _ in range(100):
            await pilot.pause(0.02)
            if len(toasts := app.screen.query("Toast")) >= 3 and all(toast.region for toast in toasts):
                break
        assert len(toasts) >= 3
        gate = app.screen.query_one(GateButtons)
        seen = {app.screen.get_widget_at(x, gate.region.y)[0] for x in range(gate.region.x, gate.region.right)}
        assert seen == {gate}


async def test_what_the_gate_told_is_not_told_twice() -> None:
    async with running("task_gate") as (app, _pilot, _link):
        gate, review = app.gates.current, app.feed.state.tasks["1.3"].review
        assert gate is not None
        assert review is not None
        told = replace(gate, body=f"Phase: 1\n{review.summary}\nthe reason: it works\nit works")
        said = plain(gate_body(app.view, told, 110))
        assert said.count(review.summary) == 1
        assert said.count("it works") == 1
