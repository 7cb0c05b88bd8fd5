"""The ladder by outcome: counted from what was decided, forecast by the ladder itself, the same under both policies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core.events import Envelope
from engine.core.fold import apply
from engine.core.index_ladder import RungStats
from engine.core.ladder import after_failure
from engine.core.model import Decision, FaultDomain
from engine.core.outcomes import (
    REVIEWERS,
    expected_by_count,
    expected_by_index,
    next_step,
    receipt,
    rung_outcomes,
    spent_on,
)
from engine.core.policy import LadderPolicy
from engine.core.state import State, Status
from engine.core.task_state import Record
from tests.tui.lanes import several
from tests.tui.recordings import sprint


def folded(items: object) -> State:
    state = State()
    for item in items:  # type: ignore[attr-defined]
        if isinstance(item, Envelope):
            state = apply(state, item)
    return state


@pytest.fixture(scope="module")
def ended() -> State:
    return folded(several(3, 0, 0, True))


@pytest.fixture(scope="module")
def at_work() -> State:
    return folded(several(4, 0, 0, False))


def test_money_is_counted_once(ended: State) -> None:
    """Attempts, reviews and the rest are the whole of what was spent."""
    attempts = sum(one.usd for one in rung_outcomes(ended))
    rest = sum(usage.cost_usd for role, usage in ended.usage_by_role.items() if role != "implementer")
    assert attempts > 0
    assert attempts + rest == pytest.approx(ended.spent_usd)
    assert spent_on(ended, REVIEWERS).cost_usd == pytest.approx(rest)
    for task in ended.tasks.values():
        assert 0 <= task.attempts_usd <= task.spent_usd
    assert sum(task.attempts_usd for task in ended.tasks.values()) == pytest.approx(attempts)


def test_every_decided_attempt_is_counted_at_its_rung(ended: State) -> None:
    records = [record for task in ended.tasks.values() for record in task.history]
    found = rung_outcomes(ended)
    assert sum(one.attempts for one in found) == len(records)
    for place, one in enumerate(found):
        own = [record for record in records if record.rung == place]
        assert (one.attempts, one.passed) == (len(own), sum(record.decision is Decision.COMPLETE for record in own))
        assert one.passed <= one.attempts


def test_a_failure_of_the_machine_is_no_attempt_of_the_rung(ended: State) -> None:
    name, task = next((name, task) for name, task in ended.tasks.items() if task.history)
    fault = Record(iteration=9, rung=0, fault=FaultDomain.ENVIRONMENT, decision=Decision.ITERATE)
    more = replace(ended, tasks={**ended.tasks, name: replace(task, history=(*task.history, fault))})
    assert rung_outcomes(more) == rung_outcomes(ended)


@pytest.mark.parametrize("policy", ["classic", "index"])
def test_the_forecast_is_what_the_ladder_does(at_work: State, policy: str) -> None:
    """Asked of the ladder itself, so it is true under either policy."""
    ladder = replace(at_work.policy.ladder, policy=policy)
    state = replace(at_work, policy=replace(at_work.policy, ladder=ladder))
    seen = 0
    for task in state.tasks.values():
        if task.status is not Status.RUNNING or not task.iteration:
            assert next_step(state, task) is None or not task.ended
            continue
        step = next_step(state, task)
        climb = after_failure(state, task, "")
        assert step is not None
        assert (step.decision, step.rung) == (climb.decision, climb.rung)
        seen += 1
        if step.decision in (Decision.ITERATE, Decision.ESCALATE):
            assert 0 < step.chance < 1 and step.usd > 0 and step.usd_per_pass >= step.usd
    assert seen


@pytest.mark.parametrize(("policy", "other"), [("classic", "the index policy"), ("index", "2/2/3")])
def test_a_receipt_names_the_other_policy(ended: State, policy: str, other: str) -> None:
    state = replace(ended, policy=replace(ended.policy, ladder=replace(ended.policy.ladder, policy=policy)))
    done = [task for task in state.tasks.values() if task.status is Status.COMPLETE]
    assert done
    for task in done:
        found = receipt(state, task)
        assert found is not None
        assert found.spent_usd == task.spent_usd
        assert found.words().startswith(f"spent ${task.spent_usd:.2f}; {other} would have cost about $")
        assert found.other_usd >= task.spent_usd - task.attempts_usd - 1e-9, "reviews are paid under both"


def test_no_receipt_before_the_end() -> None:
    state = folded(sprint()[0][: sprint()[1]["parallel"]])
    for task in state.tasks.values():
        assert (receipt(state, task) is None) == (not task.ended or not task.history)


stats = st.builds(
    RungStats,
    reserve_usd=st.floats(0.01, 5),
    fresh=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    after=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    retry=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    calls=st.integers(0, 50),
    cost_usd=st.floats(0, 50),
)


@given(st.lists(stats, min_size=1, max_size=4), st.integers(0, 3))
def test_expected_costs_are_bounded_by_a_ladder_that_always_fails(rungs: list[RungStats], first: int) -> None:
    from engine.core.index_ladder import cost_of

    dearest = max(cost_of(one) for one in rungs)
    policy = LadderPolicy()
    for usd in (expected_by_count(rungs, first, policy, 10), expected_by_index(rungs, first, 1e9, 10)):
        assert cost_of(rungs[min(first, len(rungs) - 1)]) <= usd + 1e-9
        assert usd <= 10 * dearest + 1e-9
