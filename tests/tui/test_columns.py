"""Columns that stand one below the other, numbers counted one way, and words that are said once."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.model import CheckKind, CheckResult, Criterion, Decision, Health, Proof, Review, TestCounts, Verdict
from engine.core.state import State
from engine.core.vocabulary import Outcome
from engine.link.protocol import SprintLine
from tests.tui.driving import app_on, drawn, press, running, settle
from tests.tui.lanes import live_lanes, several
from tests.tui.reading import text_of
from tests.tui.test_drawing import lanes_state
from tests.tui.test_flight import flown
from tui.kit import hunks
from tui.kit.axis import Axis
from tui.kit.iteration_facts import Iterated, IterationFacts
from tui.kit.paint import cells_of, plain
from tui.kit.tracks import STEPS, round_times
from tui.kit.view import View
from tui.panels import diff_text
from tui.panels.desk_text import proof_lines
from tui.panels.gate_text import gate_title, left_to_do
from tui.panels.header import header_lines, notice_line
from tui.panels.health import health_lines
from tui.panels.recent import event_words
from tui.panels.report_text import report_lines
from tui.panels.strip_text import strip_lines
from tui.panels.task_rows import task_rows
from tui.screens.cost import cost_lines
from tui.screens.picker import sprint_rows


def looked_at(state: State, task: str = "") -> View:
    return View(state=state, now=state.now, selected=task or next(iter(state.tasks)))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_how_it_ended_is_not_cut_beside_the_products_name(width: int) -> None:
    state = lanes_state(2, 0)
    reason = f"{state.progress()[0]} of {state.progress()[1]} tasks complete; blocked: 2.1 and 2.2, 1 skipped"
    named = "001-tally-amounts-settled-debts"
    ended = replace(state, sprint=named, running=False, outcome=Outcome.BLOCKED, outcome_reason=reason)
    first = plain(header_lines(looked_at(ended), width)).split("\n")[0]
    assert "blocked: 2.1 and 2.2, 1 skipped" in first and named in first


@pytest.mark.parametrize("width", [28, 29, 31, 40])
def test_the_lanes_count_their_tests_one_way(width: int) -> None:
    """Ids of two digits leave less room: then all of them are short, and end in one column."""
    told = plain(health_lines(looked_at(lanes_state(8, 0)), width, 40)).split("\n")
    counted = [row for row in told if re.search(r"T1\.\d+ progressing", row)]
    assert len(counted) == 8
    assert len({" of " in row for row in counted}) == 1
    assert len({cells_of(row) for row in counted}) == 1, "one column"


@pytest.mark.parametrize("width", range(24, 90, 2))
def test_rows_of_tasks_have_the_same_columns(width: int) -> None:
    rows = [plain([line]) for name, line in task_rows(looked_at(lanes_state(8, 0)), width) if name.startswith("1.")]
    tried = {row.index(found[0]) for row in rows if (found := re.search(r"it \d", row))}
    took = [row for row in rows if re.search(r"\d:\d\d$", row)]
    assert len(tried) <= 1
    assert not took or len(took) >= len(rows) / 4, "a column of few rows"
    if width >= 56:  # the longest title, `it 2` and the time
        assert len(took) == len(rows) and all(re.search(r"it \d", row) for row in rows)


@pytest.mark.parametrize(
    ("action", "told", "left"),
    [
        ("a key is missing — then: devteam retry 1.4", "it says: a key is missing", "devteam retry 1.4"),
        ("a key is missing — then: devteam retry 1.4", "something else", "a key is missing — then: devteam retry 1.4"),
        ("devteam retry 1.4", "devteam retry 1.4", "devteam retry 1.4"),
        ("", "", ""),
    ],
)
def test_what_was_told_is_not_told_again(action: str, told: str, left: str) -> None:
    assert left_to_do(action, told) == left


def check(name: str, verdict: Verdict = Verdict.PASS, *, required: bool = True, reason: str = "") -> CheckResult:
    return CheckResult(
        name=name, kind=CheckKind.OWN, verdict=verdict, required=required, reason=reason, seconds=1.0, command=("true",)
    )


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ((check("tests"), check("lint"), check("proof", required=False)), "checks: 2 of 2 pass"),
        ((check("tests", Verdict.FAIL), check("lint")), "checks: tests FAIL, 1 of 2 pass"),
        ((check("tests"), check("proof", Verdict.FAIL, required=False)), "checks: proof FAIL, 1 of 1 pass"),
        ((), "checks: none"),
    ],
)
def test_the_log_counts_checks_as_the_decision_does(results: tuple[CheckResult, ...], said: str) -> None:
    event = ev.ChecksFinished(
        id="c", task="1.1", tree="t", base="b", purpose="task", results=results, evidence="e", iteration=1
    )
    assert event_words(event)[0] == said


def test_the_checks_of_a_proof_stand_in_columns() -> None:
    state = lanes_state(2, 2)
    task = next(task for task in state.tasks.values() if task.gate)
    named = replace(task, checks=(check("tests"), check("security"), check("a-check-with-a-long-name")))
    view = looked_at(replace(state, tasks={**state.tasks, task.id: named}), task.id)
    told = plain(proof_lines(view, state.gates[task.gate], (), 60)).split("\n")
    rows = [row for row in told if re.match(r". (tests|security) +pass", row)]
    assert len({row.index("pass") for row in rows}) == 1 and len(rows) == 2


@pytest.mark.parametrize("width", range(36, 80, 2))
@pytest.mark.parametrize("approved", [True, False])
def test_the_reviews_word_is_whole_whatever_stands_beside_it(width: int, approved: bool) -> None:
    state = lanes_state(2, 0)
    task = next(iter(state.tasks.values()))
    criteria = tuple(Criterion(text=f"c{number}", met=approved) for number in range(3))
    facts = IterationFacts(review=Review(approved=approved, criteria=criteria))
    told = plain(report_lines(looked_at(state), task, 1, facts, None, width)).split("\n")
    row = next(row for row in told if row.startswith("review "))
    assert "…" not in row and ("approved" in row or "0 changes requested" in row)


def test_an_iteration_keeps_its_own_numbers_when_it_is_checked_again_over_a_new_base() -> None:
    def measured(passed: int) -> ev.ChecksFinished:
        counts = TestCounts(passed=passed, total=passed)
        result = CheckResult(name="tests", kind=CheckKind.TESTS, verdict=Verdict.PASS, counts=counts)
        return ev.ChecksFinished(id="e1", task="1.1", tree="t", base="b", purpose="task", results=(result,))

    happened = (
        ev.IterationStarted(task="1.1", iteration=1, rung=0),
        measured(5),
        ev.Decided(task="1.1", iteration=1, rung=0, decision=Decision.COMPLETE, reason="all checks pass"),
        measured(7),
    )
    known = Iterated()
    for seq, event in enumerate(happened, 1):
        known.take(ev.Envelope(seq=seq, at=float(seq), stream="s", event=event))
    state = lanes_state(2, 0)
    told = plain(report_lines(looked_at(state), state.tasks["1.1"], 1, known.found["1.1", 1], None, 70)).split("\n")
    assert any(re.match(r"tests +✔ 5 of 5 pass", row) for row in told)
    assert any(re.match(r"new base +✔ 7 of 7 pass", row) for row in told)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_why_a_check_fails_is_said_once_and_never_cut(width: int) -> None:
    why = "tests/test_settle.py::test_fewest_payments fails in R2: AssertionError: assert 2 == 3 and 1 more"
    failed = CheckResult(name="tests", kind=CheckKind.TESTS, verdict=Verdict.FAIL, reason=why)
    state = lanes_state(2, 0)
    for reason, rows in ((f"failure 2 of 3; tests: {why}", 0), ("failure 2 of 3", 1)):
        facts = IterationFacts(checks=(failed,), decision=Decision.ITERATE, reason=reason)
        lines = report_lines(looked_at(state), state.tasks["1.1"], 1, facts, None, width)
        _, _, stages = " ".join(plain(lines).split()).partition("STAGES")
        assert "".join(stages.split()).count("".join(why.split())) == rows


@pytest.mark.parametrize("width", [60, 80, 99])
def test_what_must_be_said_below_the_header_is_never_cut_without_a_sign(width: int) -> None:
    why = "the agent says blocked: No sample export is in the repository, and the format is not public. Please add one"
    state = replace(lanes_state(1, 0), health=Health.BLOCKED, health_reason=why)
    (line,) = [notice_line(looked_at(state), width)]
    assert cells_of(plain([line])) <= width - 1 and plain([line]).endswith("…")


SPRINTS = tuple(
    SprintLine(id=name, title="", status=status, done=done, total=4, at=1_700_000_000.0 + 90_000 * done)
    for name, status, done in (("003-add-login", "running", 2), ("002-export-as-csv", "done", 4), ("001-a", "done", 3))
)


@pytest.mark.parametrize("width", range(26, 70, 2))
def test_the_sprints_stand_in_columns(width: int) -> None:
    """What one row says all of them say, in the same place."""
    rows = [plain([row]) for row in sprint_rows(looked_at(lanes_state(1, 0)), SPRINTS, width)]
    for pattern in (r"\d/4", r"Nov", r"\d\d:\d\d"):
        found = [match.start() for row in rows if (match := re.search(pattern, row))]
        assert len(found) in (0, len(rows)) and len(set(found)) <= 1, pattern
    assert all("/4" in row and sprint.id in row for row, sprint in zip(rows, SPRINTS, strict=True))
    named = [replace(sprint, id=f"{sprint.id}-{'x' * (width - 6 - len(sprint.id))}") for sprint in SPRINTS]
    for row, sprint in zip(sprint_rows(looked_at(lanes_state(1, 0)), named, width), named, strict=True):
        assert sprint.id in plain([row]), "a name is worth more than a count"


def test_the_plot_of_the_cost_is_as_long_as_the_sprint_was() -> None:
    state = replace(lanes_state(2, 0), running=False)
    took = int(state.now - state.created_at)
    told = plain(cost_lines(looked_at(state), [(state.created_at + 5.0, 0.1)], 100, 40))
    assert f"{took // 60}:{took % 60:02}" in told


@given(
    st.floats(0.0, 1_000_000.0),
    st.floats(1.0, 700_000.0),
    st.integers(24, 200),
    st.sampled_from([0.0, 3600.0, -16_200.0, 20_700.0]),
)
def test_the_times_on_the_axis_are_round_and_apart(start: float, length: float, cells: int, offset: float) -> None:
    axis = Axis(start, start + length, start + length * 1.3, [(start + length / 3, start + length / 2)])
    marks = round_times(axis, cells, offset, 10)
    for cell, at in marks:
        assert abs(axis.cell(at, cells) - cell) <= 1, "where it is"
        assert any((at + offset) % step < 1e-3 or step - (at + offset) % step < 1e-3 for step in STEPS)
        assert length < 900 or (at + offset) % 5 < 1e-3, "no odd seconds in a long run"
    places = [0, *(cell for cell, _ in marks)]
    assert all(later - earlier >= 10 for earlier, later in pairwise(places))


def test_a_run_of_some_minutes_has_times_on_its_axis() -> None:
    axis = Axis(0.0, 163.0, 200.0, [])
    assert [at for _, at in round_times(axis, 150, 0.0, 10)] == [30.0, 60.0, 90.0, 120.0, 150.0, 180.0]


def test_what_is_to_come_hurries_and_its_times_are_as_round_as_that_asks_for() -> None:
    axis = Axis(0.0, 40.0, 7200.0, [])
    marks = round_times(axis, 120, 0.0, 10)
    assert any(at >= 3600.0 for _, at in marks)
    assert all(at % 600 == 0 for _, at in marks if at > 300.0)


@pytest.mark.parametrize("width", [44, 60, 100])
def test_the_name_of_a_proof_is_not_broken_and_its_place_is_said_once(width: int) -> None:
    name = "test_negative_amounts_keep_their_sign"
    state = lanes_state(2, 2)
    task = next(task for task in state.tasks.values() if task.gate)
    proof = Proof(kind="new", name=f"tests/test_money.py::{name}", check="tests", path="tests/test_money.py")
    criteria = (
        Criterion(text="a sign is kept", met=True, reference=proof.name),
        Criterion(text="old tests pass", met=True, reference="src/app/a_module_with_a_long_name_in_it.py:14"),
    )
    told = replace(task, proofs=(proof,), review=Review(approved=True, criteria=criteria))
    view = looked_at(replace(state, tasks={**state.tasks, task.id: told}), task.id)
    rows = plain(proof_lines(view, None, (), width)).split("\n")
    assert sum(name in row for row in rows) == 1
    assert sum("test_money.py" in row for row in rows) == 1
    reviewer = [row for row in rows if "reviewer:" in row]
    assert len(reviewer) == 1 and reviewer[0].startswith("  reviewer:")


@pytest.mark.parametrize(("width", "height"), [(76, 8), (96, 8), (96, 14), (196, 14)])
def test_a_title_of_three_hundred_letters_leaves_the_time_its_room(width: int, height: int) -> None:
    """It is cut in any case; the titles of the other lanes are whole."""
    flight, view = flown(several(4))
    long = view.state.tasks["1.6"]
    named = replace(long, spec=replace(long.spec, title="漢字 long words " * 20))
    drawn = dataclasses.replace(view, state=replace(view.state, tasks={**view.state.tasks, long.id: named}))
    rows = plain(strip_lines(drawn, flight, width, height)).split("\n")
    starts = {cells_of(row[: re.search("[╌▃▄▅]", row).start()]) for row in rows if re.match(r".{3}1\.\d ", row)}  # type: ignore[union-attr]
    assert len(starts) == 1 and starts.pop() <= width * 3 // 5
    for name in ("1.5", "1.7", "1.8"):
        assert any(f"{name} {view.state.tasks[name].spec.title}" in row for row in rows)


@pytest.mark.parametrize("width", [72, 80, 120])
def test_the_gates_task_is_not_cut_for_what_its_card_says(width: int) -> None:
    state = lanes_state(4, 3)
    gate = state.gates["G1"]
    told = plain([gate_title(looked_at(state), gate, 1, 3, width)])
    assert f"T{gate.task} {state.tasks[gate.task].spec.title}" in told
    assert ("needs changes (attempt 2)" in told) == (width == 120) and "…" not in told


async def test_the_change_has_the_whole_width_of_a_narrow_screen() -> None:
    async with running("fix_gate", size=(80, 24)) as (app, pilot, _link):
        await press(pilot, "d")
        side, sheet = app.screen.query_one("#side"), app.screen.query_one("#sheet")
        assert sheet.region.width == 80 and side.region.bottom <= sheet.region.y
        await pilot.resize_terminal(120, 24)
        await settle(pilot)
        await settle(pilot)
        assert side.region.y == sheet.region.y and side.region.right <= sheet.region.x


async def test_an_event_is_whole_on_a_narrow_screen() -> None:
    app = app_on(live_lanes(1, ended=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "l")
        assert any('"reason": "stopped by you"' in row for row in text_of(app))


@pytest.mark.parametrize("page", ["", "d"])
async def test_a_long_change_is_laid_out_once(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand lines are a second's work: the clock must not ask for them anew."""
    app = app_on(live_lanes(2, gates=1))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, *page)
        laid: list[str] = []
        row_lines = hunks.row_lines

        def counted(*given: Any, **named: Any) -> Any:
            laid.append("row")
            return row_lines(*given, **named)

        monkeypatch.setattr(hunks, "row_lines", counted)
        monkeypatch.setattr(diff_text, "row_lines", counted)
        await drawn(pilot)
        await drawn(pilot)
        assert laid == []
        await press(pilot, "W")
        assert laid, "another look is another layout"
