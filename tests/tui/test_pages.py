"""The pages a person decides by: questions, plan approval, planning questions, the drawn report, stats, learnings."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.core.commands import Answer
from tests.tui.driving import app_on, press, running, settle
from tests.tui.lanes import live_lanes
from tests.tui.planned import live_planning, statistics, with_repository
from tests.tui.reading import text_of, wrong_with
from tui.kit.glyphs import UNICODE
from tui.kit.iteration_facts import section_of
from tui.kit.paint import plain, width_of
from tui.kit.plot import Series, plot
from tui.kit.view import View
from tui.panels.report_text import to_width
from tui.screens.questions import Questions
from tui.screens.stats import stats_lines


def seen(app: object) -> str:
    return "\n".join(text_of(app))  # type: ignore[arg-type]


async def test_a_planners_question_stands_beside_what_was_found() -> None:
    link = live_planning("questions")
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        shown = seen(app)
        assert "Which hash?" in shown and "If you do not say: scrypt" in shown
        assert "People sign in with e-mail" in shown, "the request"
        assert "    src/app/store.py  keeps users in sqlite" in shown, "what was found, its indent kept"
        assert "2 waiting for you" in shown
        await press(pilot, "y")
        assert [sent.gate for sent in link.sent if isinstance(sent, Answer)] == ["G1"]


@pytest.mark.parametrize(("until", "size"), [("approval", (160, 45)), ("objected", (80, 24))])
async def test_a_plan_is_approved_by_what_is_shown(until: str, size: tuple[int, int]) -> None:
    link = live_planning(until)
    app = app_on(link)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shown = seen(app)
        assert "EXPECTED" in shown and "about $" in shown
        assert ("1 objection" in shown) == (until == "objected")
        assert "─ PLAN ─" in shown and "─ QUESTION ─" not in shown
        if size[0] < 100:
            await press(pilot, "tab", "tab")  # the draft has a side of its own on a narrow screen
            shown = seen(app)
        assert "Hash passwords with scrypt" in shown and "no plain password is stored" in shown
        assert wrong_with(app) == []
        await press(pilot, "y")
        assert [sent.gate for sent in link.sent if isinstance(sent, Answer)] == ["G3"]


async def test_the_question_under_the_cursor_is_the_one_that_is_answered() -> None:
    link = live_lanes(4, gates=3)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "Q")
        assert isinstance(app.screen, Questions)
        for _ in range(2):
            await press(pilot, "down")
            assert app.view.gate is not None
            assert f"{app.view.gate.id} · " in seen(app)
        last = app.view.gate.id if app.view.gate is not None else ""
        await press(pilot, "y")
        assert [sent.gate for sent in link.sent if isinstance(sent, Answer)] == [last]
        await press(pilot, "left_square_bracket")
        assert app.view.gate is not None and f"{app.view.gate.id} · " in seen(app), "the cursor goes with it"


async def test_the_report_is_drawn_with_the_failing_test_as_it_was() -> None:
    async with running("stalled", size=(160, 60)) as (app, pilot, _link):
        await press(pilot, "i")
        shown = seen(app)
        assert "STAGES" in shown and "SINCE THE LAST ITERATION" in shown
        assert "TASK LOOP" not in shown, "the seed's text form stays in devteam report"
        assert "still fails" in shown or "fixed" in shown


PYTEST = """\
=================================== FAILURES ===================================
_________________________________ test_first __________________________________

    def test_first():
>       assert load("") == []
E       AssertionError: assert None == []

tests/test_a.py:7: AssertionError
_________________________________ test_second _________________________________
    def test_second():
>       raise KeyError("x")
E       KeyError: 'x'
=========================== short test summary info ============================
FAILED tests/test_a.py::test_first"""


def test_a_failing_test_keeps_its_leading_spaces_and_ends_where_it_ends() -> None:
    first = section_of(PYTEST, "tests/test_a.py::test_first")
    assert first[2:5] == [
        "    def test_first():",
        '>       assert load("") == []',
        "E       AssertionError: assert None == []",
    ]
    assert not any("test_second" in line for line in first)
    second = section_of(PYTEST, "tests/test_a.py::test_second")
    assert second[-1] == "E       KeyError: 'x'", "the summary is no part of it"
    assert section_of(PYTEST, "tests/test_a.py::test_third") == []


@pytest.mark.parametrize("width", [76, 96, 156])
def test_statistics_are_plotted_with_whole_axes(width: int) -> None:
    words = plain(stats_lines(View(), statistics(), width, 40))
    for label in ("100%", "$0.20", "$0.00", "001", "002", "003", "004", "0%"):
        assert label in words, label
    assert any("⠀" < char <= "⣿" for char in words), "a plot, not a table"
    assert "18 of 20" in words and "haiku" in words
    assert all(len(line) <= width for line in words.split("\n"))


def test_one_sprint_is_said_in_words_not_plotted() -> None:
    words = plain(stats_lines(View(), statistics()[:1], 120, 40))
    assert "67% in one sprint" in words
    assert not any("⠀" < char <= "⣿" for char in words)


async def test_learnings_that_agents_doubt_come_first() -> None:
    app = app_on(with_repository(live_lanes(2)))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "M")
        rows = [plain([line]) for line in app.screen.query_one("#list").lines]  # type: ignore[attr-defined]
        assert "pandas" in rows[0] and "old rule" in rows[-1]
        shown = seen(app)
        assert "contradicted 1 time" in shown and "pandas is a dependency by now" in shown
        assert "    import csv" in shown


@given(
    values=st.lists(st.floats(0.0, 1e6), min_size=2, max_size=12),
    width=st.integers(20, 120),
    height=st.integers(4, 20),
)
@example(values=[0.0, 5e-324], width=20, height=4)
def test_axes_are_whole_round_and_even(values: list[float], width: int, height: int) -> None:
    """Every label of a plot is whole, at equal distances, and nothing lies above the highest."""
    points = tuple((float(at), value) for at, value in enumerate(values, 1))
    rows = plot(
        [Series(points=points)],
        width,
        height,
        UNICODE,
        y_words=lambda value: f"{value:g}",
        x_words=lambda at: f"it {at:g}",
    )
    assert len(rows) <= height and all(width_of(row) <= width for row in rows)
    if not rows:
        return
    labels = [(at, float(plain([row]).split("┤")[0])) for at, row in enumerate(rows) if "┤" in plain([row])]
    assert len({low - high for (high, _), (low, _) in pairwise(labels)}) == 1, "at equal distances"
    assert labels[-1][1] == 0.0 and labels[0][1] >= max(values) * 0.999
    below = plain(rows[-1:]).split("it ")
    assert not below[0].strip() and all(part.strip().replace(".", "").isdigit() for part in below[1:])


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("_" * 30 + " test_whole " + "_" * 30, 30, "_" * 9 + " test_whole " + "_" * 9),
        ("_" * 30 + " test_whole " + "_" * 30, 72, "_" * 30 + " test_whole " + "_" * 30),
        (".....       " + " " * 60 + "[100%]", 40, ".....  [100%]"),
        ("    def test_a():   # a comment that is long", 20, "    def test_a():   # a comment that is long"),
    ],
)
def test_what_a_runner_draws_as_wide_as_its_terminal_is_as_wide_as_the_room(line: str, width: int, shown: str) -> None:
    assert to_width(line, width) == shown
