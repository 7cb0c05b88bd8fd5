"""The classic ladder 2/2/3, stuck below and at the top, the council once."""

from __future__ import annotations

import pytest

from engine.core.ladder import after_failure
from engine.core.model import Decision
from engine.core.state import TaskState
from tests.core.parts import a_state, failed_at, ladder

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
        pytest.param(failed_at(2, 0, council="done"), "", "BLOCKED", 2, "after the Bug Council", id="after it"),
        pytest.param(failed_at(2, 0, council="done"), STUCK, "BLOCKED", 2, "after", id="never twice, stuck or not"),
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
