"""May the stop hook keep a session going? The bounds, as tables and as a property over any history of stops."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core.inside import BLOCKS, LONGEST, Marker, Stopping, heard, held_back, judged, unreadable
from engine.core.state import State, Status
from engine.core.vocabulary import Outcome
from tests.core.parts import a_state, a_task
from tests.depth import examples

ON = Marker(sprint="001-x", session="s", tree="old", asked="do 1.1")


def a_stop(**more: object) -> Stopping:
    return Stopping(**{"session": "s", "again": True, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("marker", "stop", "tree", "says"),
    [
        pytest.param(ON, a_stop(), "new", "", id="changed files are judged"),
        pytest.param(ON, a_stop(), "", "", id="a tree that is not known is judged"),
        pytest.param(ON, a_stop(), "old", "block: No file has changed", id="unchanged: told again"),
        pytest.param(replace(ON, unchanged=1), a_stop(), "old", "end: no file has changed", id="unchanged twice"),
        pytest.param(ON, a_stop(stuck=True), "old", "", id="unchanged, but blocked: judged"),
        pytest.param(replace(ON, blocks=BLOCKS), a_stop(), "new", "end: it was kept going 8 times", id="cap"),
        pytest.param(replace(ON, blocks=BLOCKS), a_stop(cap=20), "new", "", id="a raised cap"),
        pytest.param(replace(ON, iterations=50), a_stop(), "new", "end: the most iterations (50)", id="iterations"),
        pytest.param(replace(ON, failures=5), a_stop(), "new", "end: the circuit breaker is open", id="breaker"),
    ],
)
def test_before_anything_is_judged(marker: Marker, stop: Stopping, tree: str, says: str) -> None:
    reply = held_back(marker, stop, tree)
    if not says:
        assert reply is None
        return
    assert reply is not None
    how, _, words = says.partition(": ")
    assert reply.block is (how == "block")
    assert words in reply.words
    assert reply.block or "not complete" in reply.words


def test_another_session_is_left_alone_and_a_new_turn_of_the_user_starts_the_count_anew() -> None:
    assert heard(ON, a_stop(session="other")) is None
    assert heard(replace(ON, session=""), a_stop(session="new")) == replace(ON, session="new")
    assert heard(replace(ON, blocks=7), a_stop(again=False)) == ON
    assert heard(replace(ON, blocks=7), a_stop()) == replace(ON, blocks=7)


def a_sprint(*done: bool, outcome: Outcome | None = None) -> State:
    tasks = [a_task(f"1.{n}", status=Status.COMPLETE if ok else Status.RUNNING) for n, ok in enumerate(done, 1)]
    return replace(a_state(*tasks), outcome=outcome, branch="devteam/001-x")


def test_what_it_says_after_a_judgement() -> None:
    on = judged(ON, a_sprint(True, False), "do 1.2", "t")
    assert on.block and on.marker is not None
    assert "1 of 2 tasks are complete" in on.words and on.words.endswith("do 1.2")
    assert (on.marker.blocks, on.marker.iterations, on.marker.failures, on.marker.done) == (1, 1, 0, 1)
    failed = judged(on.marker, a_sprint(True, False), "do 1.2 again", "u")
    assert failed.block and failed.marker is not None and failed.marker.failures == 1
    fifth = judged(replace(failed.marker, failures=4), a_sprint(True, False), "and again", "v")
    assert not fifth.block and "circuit breaker" in fifth.words
    done = judged(ON, a_sprint(True, outcome=Outcome.DONE), "", "t")
    assert (done.block, done.marker) == (False, None)
    assert "1 of 1 tasks are complete and verified" in done.words


@pytest.mark.parametrize("outcome", [None, *(one for one in Outcome if one is not Outcome.DONE)])
def test_only_a_done_sprint_is_called_complete(outcome: Outcome | None) -> None:
    reply = judged(ON, a_sprint(True, outcome=outcome), "", "t")
    assert not reply.block and reply.marker is not None
    assert "not complete" in reply.words and "verified" not in reply.words


def test_words_are_bounded_and_keep_both_ends() -> None:
    reply = judged(ON, a_sprint(False), f"first {'x' * 50_000} last", "t")
    assert len(reply.words) < LONGEST + 100
    assert reply.words.startswith("devteam: 0 of 1") and reply.words.endswith("last")
    assert "NOT called complete" in unreadable("broken")


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.booleans(), st.booleans()), min_size=60, max_size=120)
)
def test_no_session_is_kept_for_ever(stops: list[tuple[bool, str, bool, bool]]) -> None:
    """Whatever the session and the checks do: never more blocks in a row than the cap, nor in all than the bound."""
    marker: Marker | None = Marker(sprint="001-x", max_iterations=10)
    row = total = 0
    for again, tree, finishes, stuck in stops:
        assert marker is not None
        stop = a_stop(again=again, stuck=stuck)
        marker = heard(marker, stop)
        assert marker is not None
        row = row if again else 0
        reply = held_back(marker, stop, tree) or judged(marker, a_sprint(finishes, False), "more", tree)
        row, total = (row + 1, total + 1) if reply.block else (row, total)
        assert row <= BLOCKS
        marker = reply.marker
    assert total <= 10 + len(stops) / 2, "an unchanged tree is told about once, then it ends"
    assert marker is not None and marker.iterations <= 10
