"""What is drawn where room is short: whole facts or none, never half of one."""

from __future__ import annotations

import asyncio
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core.events import Envelope, HealthChanged
from engine.core.evidence import EvidenceRecord
from engine.core.fold import fold
from engine.core.model import CheckKind, CheckResult, Verdict
from engine.core.state import State
from engine.core.wording import plural
from engine.link.protocol import LinkStatus
from tests.tui.driving import app_on, drawn, press, running, settle
from tests.tui.lanes import live_lanes, several
from tests.tui.links import live
from tests.tui.reading import text_of
from tui.kit.axis import Axis
from tui.kit.context import Situation, for_footer, hints, label
from tui.kit.framed import Framed
from tui.kit.key_footer import footer_spans
from tui.kit.keys import key_map
from tui.kit.outlook import outlook
from tui.kit.paint import cells_of, crop, end_of_path, plain
from tui.kit.view import View
from tui.kit.wording import duration, money
from tui.panels.gate import GateButtons
from tui.panels.gate_text import gate_body
from tui.panels.header import header_lines
from tui.panels.health import health_lines
from tui.panels.task_facts import task_facts
from tui.panels.task_rows import task_rows, unfolded
from tui.screens.evidence import check_lines
from tui.screens.iterations import Iterations


@pytest.mark.parametrize("width", range(60, 200, 7))
@pytest.mark.parametrize("asking", [False, True])
@pytest.mark.parametrize("page", ["dashboard", "iterations"])
def test_the_footer_always_shows_help(page: str, asking: bool, width: int) -> None:
    here = Situation(view=View(), page=page, mode="flight" if page == "dashboard" else "", deep=page != "dashboard")
    likely, last = ([(action, label(here, action)) for action in actions] for actions in for_footer(here))
    line, places = footer_spans(hints(here), likely, last, key_map({}), width, asking=asking)
    assert "help" in [name for *_, name in places]
    assert sum(cells_of(text) for text, _ in line) <= width
    text = plain([line])
    for start, end, name in places:  # a click hits what is written there
        assert text[start:end].split(" ", 1)[0] == key_map({}).shown(name, int(asking and name == "help"))


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


@given(st.lists(st.text("ab ", max_size=6), max_size=6), st.integers(1, 20))
def test_what_is_left_out_of_a_line_has_a_sign(texts: list[str], width: int) -> None:
    """Also where the last words that fit end at the very edge: code in colours is many short pieces."""
    whole = "".join(texts)
    shown = "".join(text for text, _ in crop([(text, "fg") for text in texts], width))
    assert cells_of(shown) <= width
    if shown.rstrip() != whole.rstrip():
        assert shown.endswith("…")
        assert whole.startswith(shown[:-1])


async def test_counts_of_iterations_are_whole_or_not_there() -> None:
    async with running("fix_gate", size=(80, 24)) as (app, pilot, _link):
        await press(pilot, "i")
        assert isinstance(app.screen, Iterations)
        assert "…" not in plain(app.screen.menu.lines)


@given(st.integers(60, 240), st.integers(1, 200), st.integers(0, 2))
def test_the_plans_title_is_whole_or_has_every_blank_there_is(width: int, length: int, gates: int) -> None:
    title = ("word " * 50)[:length].strip()
    state = lanes_state(4, gates)
    view = View(state=replace(state, plan=replace(state.plan, title=title)), now=state.now)
    first, second = plain(header_lines(view, width)).split("\n")
    if f"  {title}  " in f"{first}  " or f"  {title}  " in f"{second}  ":
        return
    cut = re.search(r"  (word[ word]*)…", first)
    if cut is None:  # a title of three letters says nothing
        assert max(len(gap) for gap in re.findall(r" +", first)) < 12 + 4
    else:
        assert title.startswith(cut[1]) and len(cut[1]) >= 8
        assert "    " not in first.strip(), "cut beside blanks"


@cache
def lanes_state(lanes: int, gates: int) -> State:
    return fold(item for item in several(lanes, gates) if isinstance(item, Envelope))


@pytest.mark.parametrize(("width", "auto"), [(80, False), (90, False), (100, True), (120, True), (160, True)])
def test_what_is_still_to_come_is_in_every_header(width: int, auto: bool) -> None:
    state = replace(lanes_state(4, 0), sandbox="namespaces", auto={"task": True} if auto else {})
    view = View(state=state, now=state.now, link=LinkStatus(status="connected"))
    _, second = plain(header_lines(view, width)).split("\n")
    assert re.search(r"≈\d+:\d\d(, ≈\$\d+\.\d\d)? left", second), second
    assert "engine" in second and ("auto: task" in second) == auto


def test_a_run_that_has_begun_is_not_called_not_started() -> None:
    for reason in (State().health_reason, "planning"):
        state = State(running=True, plan=lanes_state(1, 0).plan, health_reason=reason)
        assert reason not in plain(header_lines(View(state=state), 120))


def test_what_is_needed_outranks_health() -> None:
    state = lanes_state(4, 3)
    first, second = plain(header_lines(View(state=state, now=state.now + 60.0), 120)).split("\n")
    assert "‖ 3 waiting for you · 1:" in first and "PROGRESSING" not in first
    assert "4/12 tasks" in second and "$2.80 / $20.00" in second
    quiet = lanes_state(4, 0)
    first, second = plain(header_lines(View(state=quiet, now=quiet.now), 200)).split("\n")
    assert "PROGRESSING  T1.5, T1.8: 2 tests fail, 41 pass" in first
    ahead = outlook(quiet, quiet.now)
    assert f"≈{duration(ahead.seconds)}, ≈{money(ahead.usd)} left" in second
    assert ahead.basis == "from 4 tasks done in this sprint"


def test_a_task_far_beyond_its_forecast_is_not_called_almost_done() -> None:
    state = lanes_state(4, 0)
    dear = replace(state.tasks["1.5"], spent_usd=40.0)
    ahead = outlook(replace(state, tasks={**state.tasks, "1.5": dear}), state.now)
    assert ahead.usd > 4.0 and ahead.usd > outlook(state, state.now).usd


async def test_a_lost_engine_is_not_called_healthy() -> None:
    async with running("parallel") as (app, _pilot, _link):
        state = app.view.state
        lost = plain(header_lines(View(state=state, now=state.now, link=LinkStatus(status="lost")), 120))
        assert "ENGINE LOST  last health: PROGRESSING" in lost
        assert "● PROGRESSING" not in lost


async def test_everything_on_screen_has_one_clock_and_a_lost_engines_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running("parallel", size=(200, 50)) as (app, pilot, link):
        began = app.view.now
        for status, moves in (("connected", True), ("lost", False)):
            app.feed.status = LinkStatus(status=status)
            monkeypatch.setattr(link, "now", lambda: began)
            before: list[str] = []
            while text_of(app)[:-1] != before:  # what else was under way has come to rest
                before = text_of(app)[:-1]
                await drawn(pilot)
            monkeypatch.setattr(link, "now", lambda: began + 61.0)
            await drawn(pilot)
            assert (text_of(app)[:-1] != before) is moves, status


def test_a_share_of_covered_lines_is_the_number_that_was_measured() -> None:
    result = CheckResult(name="tests", kind=CheckKind.TESTS, verdict=Verdict.PASS, coverage=0.8)
    told = plain(check_lines(View(), result, EvidenceRecord(task="1", iteration=1, hash="h", tree="t", results=()), 80))
    assert "0.8%" in told and "80" not in told


@pytest.mark.parametrize(("number", "words"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests")])
def test_one_is_no_plural(number: int, words: str) -> None:
    assert plural(number, "test") == words


async def test_nothing_is_drawn_on_a_page_that_is_being_closed() -> None:
    """Leaving takes a while on a busy machine; a frame that is due then has no widgets any more."""
    app = app_on(live_lanes(2))
    failed: list[Exception] = []

    async def frames() -> None:
        while True:
            app.redraw()
            try:
                app.frame()
            except Exception as error:
                failed.append(error)
            await asyncio.sleep(0)

    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        at_work = asyncio.create_task(frames())
    at_work.cancel()
    assert failed == []


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


def half_done() -> View:
    """One lane: iteration 1 left 38 of 43, the checks of iteration 2 are known and it has not ended."""
    facts = [item for item in several(2, gates=1) if isinstance(item, Envelope)]
    before = [fact for fact in facts if getattr(fact.event, "task", "") != "1.4"]
    cut = max(at for at, fact in enumerate(before) if isinstance(fact.event, HealthChanged)) + 1
    state = fold(before[:cut])
    return View(state=state, now=state.now, selected="1.3")


def test_health_says_of_which_iteration_its_numbers_are() -> None:
    view = half_done()
    assert [record.iteration for record in view.state.tasks["1.3"].history] == [1]
    said = plain(health_lines(view, 60, 60)).split("\n")
    now, after = said.index("  T1.3, iteration 2: all 43 tests pass"), said.index("T1.3 after iteration 1")
    assert now < after < next(at for at, line in enumerate(said) if "38 of 43 pass" in line)


def test_a_title_goes_on_in_a_second_row_and_what_is_at_work_does_so_first() -> None:
    state = fold(item for item in several(4) if isinstance(item, Envelope))
    view = View(state=state, now=state.now, selected="1.5")
    rows = task_rows(view, 31)
    whole = unfolded(view, rows, 31, 60)
    said = " ".join(" ".join("".join(text for text, _ in line) for _, line in whole).split())
    assert "…" not in said
    assert all(task.spec.title in said for task in state.tasks.values())
    tight = unfolded(view, rows, 31, len(rows) + 2)
    opened = [name for name, _ in tight if [one for one, _ in tight].count(name) > 1 and name in state.tasks]
    assert set(opened) == {"1.6", "1.7"}, "the lanes at work, as far as there is room"
    assert len(tight) == len(rows) + 2


@pytest.mark.parametrize("room", range(16))
def test_what_a_task_has_to_do_fits_whole_or_says_how_much_is_left_out(room: int) -> None:
    state = fold(item for item in several(1, gates=1) if isinstance(item, Envelope))
    view = View(state=state, now=state.now, selected="1.2")
    lines = task_facts(view, 30, room)
    assert len(lines) <= room
    said = plain(lines)
    if lines:
        assert "✘ an empty value is refused" in said or "more" in said
        assert "every old test still passes" in said or "more" in said


def test_what_is_to_come_leaves_the_past_its_room() -> None:
    axis = Axis(0.0, 100.0, 36_000.0, [])
    assert axis.hurried
    assert axis.cell(100.0, 90) >= 59, "two thirds of the line are what happened"
    assert axis.wall(1.0) == pytest.approx(36_000.0), "and its end is when it will be done"
    assert not Axis(0.0, 100.0, 140.0, []).hurried


@pytest.mark.parametrize("rows", [1, 5, 6, 7, 30])
@pytest.mark.parametrize("before", [0, 1, 6, 7, 30])
async def test_a_bar_is_there_for_what_does_not_fit_and_for_nothing_else(before: int, rows: int) -> None:
    """Whatever was shown before: a bar that stays takes a cell from every row."""
    async with running() as (app, pilot, _):
        pane = Framed(id="rows")
        pane.styles.width, pane.styles.height = 20, 8
        await app.screen.mount(pane)
        for many in (before, rows):
            pane.set_lines([((f"row {n}", ""),) for n in range(many)])
            await pilot.pause()
        assert pane.show_vertical_scrollbar == (rows > 6)
        assert pane.room == (16 if rows <= 6 else 15, 6)
