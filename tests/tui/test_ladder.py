"""The ladder by outcome as it is drawn: the numbers of the core, under both policies, at every width of its pane."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core.events import Envelope
from engine.core.fold import fold
from engine.core.model import Decision
from engine.core.outcomes import COUNCIL, REVIEWERS, next_step, receipt, rung_outcomes, spent_on
from engine.core.state import State
from tests.tui.lanes import several
from tests.tui.recordings import sprint
from tui.kit.paint import plain, width_of
from tui.kit.view import View
from tui.kit.wording import money
from tui.panels.ladder import LadderPanel, ladder_lines

POLICIES = [("classic", "LADDER · 2/2/3"), ("index", "LADDER · by index")]
WIDTHS = [29, 33, 44, 58]


def under(state: State, policy: str) -> State:
    return replace(state, policy=replace(state.policy, ladder=replace(state.policy.ladder, policy=policy)))


def drawn(state: State, selected: str, width: int) -> str:
    lines = ladder_lines(View(state=state, now=state.now, selected=selected), width, 99)
    assert all(width_of(line) <= width for line in lines)
    return plain(lines)


def at_work() -> State:
    return fold(item for item in several(4) if isinstance(item, Envelope))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("policy", "title"), POLICIES)
def test_each_rung_says_what_it_tried_what_passed_and_what_a_pass_costs(policy: str, title: str, width: int) -> None:
    state = under(at_work(), policy)
    rows = drawn(state, "1.5", width).split("\n")
    found = rung_outcomes(state)
    assert [row.split()[-4 if width < 42 else -5] for row in rows[1:4]] == [one.name for one in reversed(found)]
    for row, one in zip(rows[1:4], reversed(found), strict=True):
        each = money(one.usd_per_pass) if one.usd_per_pass is not None else "–"
        spent = [money(one.usd)] if width >= 42 else []
        assert row.split()[-3 - len(spent) :] == [str(one.attempts), str(one.passed), *spent, each]
    reviews = spent_on(state, REVIEWERS)
    assert rows[4].split() == ["reviews", str(reviews.calls), "calls", money(reviews.cost_usd)], "no rung's attempts"
    assert LadderPanel().title(View(state=state))[0] == title


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("policy", ["classic", "index"])
def test_the_next_step_is_forecast_before_it_is_taken(policy: str, width: int) -> None:
    state = under(at_work(), policy)
    seen = set()
    for name, task in state.tasks.items():
        step = next_step(state, task)
        said = " ".join(drawn(state, name, width).split())
        if task.ended or not task.iteration:
            assert "if it fails" not in said
            continue
        assert step is not None and f"T{name} at {state.rung_name(task.rung)}; if it fails: " in said
        seen.add(step.decision)
        if step.decision is Decision.ESCALATE:
            told = f"up to {state.rung_name(step.rung)}, {money(step.usd)} a try, ≈{step.chance * 100:.0f}% pass, "
            assert f"{told}≈{money(step.usd_per_pass)} a pass" in said
        if step.decision is Decision.COUNCIL:
            assert "if it fails: the Bug Council" in said
    assert Decision.ESCALATE in seen or policy == "index"


@pytest.mark.parametrize("policy", ["classic", "index"])
def test_a_task_that_has_ended_has_its_receipt(policy: str) -> None:
    state = under(at_work(), policy)
    for name, task in state.tasks.items():
        found = receipt(state, task) if task.ended else None
        said = " ".join(drawn(state, name, 40).split())
        if found is not None:
            assert f"T{name}: {found.words()}" in said
        elif not task.ended:
            assert f"T{name}: spent" not in said
    assert f"T1.1: spent {money(state.tasks['1.1'].spent_usd)}; " in " ".join(drawn(state, "1.1", 40).split())


def test_councils_stand_apart_and_every_climb_has_its_reason() -> None:
    items, marks = sprint()
    state = fold(item for item in items[: marks["council"]] if isinstance(item, Envelope))
    said = drawn(state, next(task.id for task in state.tasks.values() if task.council), 44)
    calls = spent_on(state, COUNCIL).calls
    assert not calls or f"{calls} call" in said
    for step in state.escalations:
        assert f"{step.source}→{step.target}" in said and step.reason[:20] in said
