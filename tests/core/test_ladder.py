"""The ladder: classic 2/2/3 and by index, stuck below and at the top, the council once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core.index_ladder import Price, RungStats, added
from engine.core.ladder import after_failure, measured, start
from engine.core.model import Decision, TaskSpec
from engine.core.policy import BudgetPolicy
from engine.core.state import State, Status, TaskState
from engine.core.vocabulary import Council
from tests.core.parts import a_record, a_state, a_task, failed_at, ladder

STUCK = "the same error 3 times: boom"


@pytest.mark.parametrize(
    ("task", "stuck", "decision", "rung", "words"),
    [
        pytest.param(failed_at(0, 0), "", "ITERATE", 0, "failure 1 of 2", id="haiku once"),
        pytest.param(failed_at(0, 1), "", "ESCALATE", 1, "2 consecutive failures", id="haiku twice"),
        pytest.param(failed_at(1, 0), "", "ITERATE", 1, "failure 1 of 2", id="sonnet once"),
        pytest.param(failed_at(1, 1), "", "ESCALATE", 2, "2 consecutive failures", id="sonnet twice"),
        pytest.param(failed_at(2, 0), "", "ITERATE", 2, "failure 1 of 3", id="opus once"),
        pytest.param(failed_at(2, 1), "", "ITERATE", 2, "failure 2 of 3", id="opus twice"),
        pytest.param(failed_at(2, 2), "", "COUNCIL", 2, "3 consecutive failures at the top rung", id="opus thrice"),
        pytest.param(failed_at(0, 0), STUCK, "ESCALATE", 1, "stuck: the same error", id="stuck at the bottom"),
        pytest.param(failed_at(1, 0), STUCK, "ESCALATE", 2, "stuck: the same error", id="stuck below the top"),
        pytest.param(failed_at(2, 0), STUCK, "COUNCIL", 2, "at the top rung", id="stuck at the top"),
        pytest.param(failed_at(2, 0, council=Council.DONE), "", "BLOCKED", 2, "after the Bug Council", id="after it"),
        pytest.param(
            failed_at(2, 0, council=Council.DONE), STUCK, "BLOCKED", 2, "after", id="never twice, stuck or not"
        ),
        pytest.param(failed_at(9, 2), "", "COUNCIL", 2, "top rung", id="a rung the ladder has no more"),
    ],
)
def test_after_failure(task: TaskState, stuck: str, decision: str, rung: int, words: str) -> None:
    climb = after_failure(a_state(task, policy=ladder()), task, stuck)
    assert (climb.decision, climb.rung) == (Decision(decision), rung)
    assert words in climb.reason


@pytest.mark.parametrize(
    ("numbers", "rung", "threshold"),
    [
        pytest.param((2, 2, 3), 2, 3, id="own number"),
        pytest.param((1,), 2, 1, id="the last number holds for the rest"),
        pytest.param((), 0, 2, id="no number"),
    ],
)
def test_thresholds_are_config(numbers: tuple[int, ...], rung: int, threshold: int) -> None:
    assert ladder(failures=numbers).ladder.threshold(rung) == threshold


def test_a_ladder_of_one_rung_goes_to_the_council() -> None:
    task = failed_at(0, 1)
    climb = after_failure(a_state(task, policy=ladder(ladder().ladder.rungs[:1])), task, "")
    assert climb.decision is Decision.COUNCIL


# ── index: the least expected cost per success ─────────────────────────────────────────────────────────────────────


def index(prices: dict[str, float] | None = None, **fields: object) -> State:
    """A sprint on the index ladder whose rungs have cost so much a call."""
    paid = {name: Price(usd=price, weight=9.0) for name, price in (prices or {}).items()}
    past = tuple(a_record(n, rung=r, decision=Decision.ITERATE, at=1.0) for n, r in enumerate((0, 1, 2) * 8))
    other = a_task("1.9", status=Status.COMPLETE, history=past if prices else ())
    return a_state(other, policy=replace(ladder(policy="index"), **fields), prices=paid)


DEAR = {"haiku": 0.01, "sonnet": 3.0, "opus": 4.0}
SKIPPED = {"haiku": 0.9, "sonnet": 3.0, "opus": 0.1}


@pytest.mark.parametrize(
    ("state", "task", "stuck", "decision", "rung", "words"),
    [
        pytest.param(index(DEAR), failed_at(0, 0), "", "ITERATE", 0, "again rung 1", id="a cheap rung is retried"),
        pytest.param(index(SKIPPED), failed_at(0, 0), "", "ESCALATE", 2, "rung 3", id="a dear rung is skipped"),
        pytest.param(index(DEAR), failed_at(0, 0), STUCK, "ESCALATE", None, "stuck: ", id="stuck climbs"),
        pytest.param(index(DEAR), failed_at(2, 0), STUCK, "COUNCIL", 2, "at the top rung", id="stuck at the top"),
        pytest.param(index(), failed_at(2, 0, council=Council.DONE), "", "BLOCKED", 2, "after", id="after the council"),
        pytest.param(
            index(DEAR, budget=BudgetPolicy(session_usd=0.001)),
            failed_at(0, 0),
            "",
            "ITERATE",
            0,
            "again rung 1",
            id="what the session may cost is not what the task is worth",
        ),
        pytest.param(
            replace(index(DEAR), policy=ladder(policy="index", task_value_usd=0.001)),
            failed_at(0, 0),
            "",
            "BLOCKED",
            0,
            "more than the $0.00 the task is worth",
            id="not worth what the user said",
        ),
    ],
)
def test_by_index(state: State, task: TaskState, stuck: str, decision: str, rung: int | None, words: str) -> None:
    climb = after_failure(state, task, stuck)
    assert climb.decision is Decision(decision)
    assert rung is None or climb.rung == rung
    assert words in climb.reason


def test_failures_before_a_retry_are_not_this_attempts() -> None:
    """Each failure makes another try dearer; those of before a human opened the task again count no more."""
    old = tuple(a_record(n, rung=0, decision=Decision.ITERATE, at=1.0) for n in range(9))
    state = index()
    fresh = after_failure(state, failed_at(0, 0, history=old, started_at=2.0), "")
    same = after_failure(state, failed_at(0, 0), "")
    tired = after_failure(state, failed_at(0, 0, history=old), "")
    assert (fresh.decision, fresh.rung) == (same.decision, same.rung)
    assert tired.rung > 0


def test_other_sprints_measurements_count() -> None:
    """A rung that never succeeds in this repository is not climbed to in the next sprint either."""
    hopeless = RungStats(fresh=(0, 40), after=(0, 40), calls=80, cost_usd=80.0)
    good = RungStats(fresh=(40, 0), after=(40, 0), calls=80, cost_usd=8.0)
    state = index()
    task = failed_at(0, 2, history=tuple(a_record(n, rung=0, decision=Decision.ITERATE, at=1.0) for n in (1, 2)))
    assert after_failure(replace(state, measured={"sonnet": good, "opus": hopeless}), task, "").rung == 1
    assert after_failure(replace(state, measured={"sonnet": hopeless, "opus": good}), task, "").rung == 2


def test_what_a_sprint_measured_is_told_by_name() -> None:
    known = measured(index(DEAR))
    assert (known["haiku"].fresh, known["haiku"].retry) == ((0, 1), (0, 7))
    assert known["sonnet"].cost_usd == pytest.approx(8 * 3.0)
    assert added(known["haiku"], known["haiku"]).retry == (0, 14)


def test_uncertain_work_starts_low_only_where_history_says_that_it_pays() -> None:
    cheap = RungStats(fresh=(40, 2), calls=42, cost_usd=2.0)
    dear = RungStats(fresh=(40, 2), calls=42, cost_usd=80.0)
    task = a_task("1.1", spec=TaskSpec(id="1.1", title="Something"))
    state = a_state(task, policy=ladder())
    usual = start(state, task)[0]
    assert usual > 0, "nothing is known here: the middle"
    low, _, why = start(replace(state, measured={"haiku": cheap, "sonnet": dear}), task)
    assert low == 0 and "the lowest rung pays here" in why
    assert start(replace(state, measured={"haiku": dear, "sonnet": cheap}), task)[0] == usual


def test_old_prices_fade() -> None:
    price = Price()
    for cost in [10.0] * 20 + [1.0] * 20:
        price = price.after(cost)
    assert price.usd < 2.5, "the plain mean would be 5.50"
