"""Every ending of a call has its answer; backoff is bounded and repeatable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.failures import BREAKER_KINDS, SAYS_NOTHING, Response, backoff, response_to
from engine.core.model import ResultKind
from engine.core.policy import RetryPolicy

TABLE = {
    "ok": "good",
    "limit": "wait",
    "rate": "retry",
    "overloaded": "retry",
    "network": "retry",
    "crash": "retry",
    "no_result": "retry",
    "context": "fresh",
    "timeout": "longer",
    "auth": "mend",
    "billing": "mend",
    "model": "mend",
    "not_started": "mend",
    "turns": "fail",
    "budget": "fail",
    "refusal": "fail",
    "denied": "fail",
    "cancelled": "again",
}


@pytest.mark.parametrize("kind", ResultKind, ids=str)
def test_every_ending_has_its_answer(kind: ResultKind) -> None:
    assert response_to(kind) is Response(TABLE[kind.value])


def test_only_one_ending_is_good() -> None:
    assert [kind for kind in ResultKind if response_to(kind) is Response.GOOD] == [ResultKind.OK]
    assert ResultKind.OK not in BREAKER_KINDS | SAYS_NOTHING
    assert not BREAKER_KINDS & SAYS_NOTHING


@given(tries=st.integers(1, 8), key=st.text(max_size=20))
def test_backoff_doubles_within_its_jitter_and_repeats(tries: int, key: str) -> None:
    policy = RetryPolicy()
    wait = backoff(policy, tries, key)
    assert 2 ** (tries - 1) <= wait <= 2 ** (tries - 1) * 1.25
    assert backoff(policy, tries, key) == wait


def test_jitter_spreads_the_lanes() -> None:
    waits = {round(backoff(RetryPolicy(), 1, f"{number:05d}-1.1-implementer"), 6) for number in range(50)}
    assert len(waits) > 40
