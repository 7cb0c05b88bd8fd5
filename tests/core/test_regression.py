"""The check before an iteration: a branch that fails what its base passed goes back to its last good commit."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import CheckKind, CheckResult, Verdict
from engine.core.regression import lost
from engine.core.state import Status
from tests.core.story import ONE, POLICY, Story, again, begin, effects_of, status, task
from tests.core.world import World, failing, passing

TESTS = (CheckKind.TESTS,)
LINT = replace(failing("E1"), name="lint", kind=CheckKind.LINT)
LINTED = replace(passing(), name="lint", kind=CheckKind.LINT)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        pytest.param((passing(),), (passing(),), "", id="green stays green"),
        pytest.param((passing(),), (failing("a"),), "tests: a", id="green to red"),
        pytest.param((failing("a"),), (failing("a"),), "", id="broken before"),
        pytest.param((failing("a"),), (failing("a", "b"),), "tests: b", id="one more broken"),
        pytest.param((failing("a", "b"),), (failing("b"),), "", id="fewer broken"),
        pytest.param((passing(),), (failing("a", verdict=Verdict.ERROR),), "", id="could not be run: says nothing"),
        pytest.param((passing(),), (failing("a", verdict=Verdict.NOT_RUN),), "", id="was not run: says nothing"),
        pytest.param((), (failing("a"),), "", id="a check the base did not have"),
        pytest.param((passing(),), (replace(failing("a"), required=False),), "", id="not required"),
        pytest.param((passing(), LINTED), (passing(), LINT), "", id="of another kind"),
        pytest.param((LINTED,), (LINT,), "lint: E1", id="no check of the kinds: all count"),
    ],
)
def test_what_is_lost(before: tuple[CheckResult, ...], now: tuple[CheckResult, ...], words: str) -> None:
    assert lost(before, now, TESTS).partition(" (")[0] == words


def back_to(commit: str, *reopened: str) -> object:
    return lambda effect: [
        ev.BranchMoved(id=effect.id, commit=commit, tree=f"tree-{commit}", backup="b", reason="back", reopened=reopened)
    ]


def half_done(**surprises: list[object]) -> World:
    """1.1 is committed, 1.2 is not; the next run finds its baseline red."""
    gone = failing("x", verdict=Verdict.ERROR)
    lacks = {"results": (replace(gone, missing=True),)}
    world = begin(Story(baseline=[None, failing("broken")], checks=[None, lacks], **surprises), ONE, task("1.2", "1.1"))
    assert (status(world), status(world, "1.2"), world.state.outcome) == (Status.COMPLETE, Status.RUNNING, "blocked")
    return world


def test_a_branch_that_regressed_goes_back_before_anything_is_paid_for() -> None:
    world = half_done(restore_branch=[back_to("c0", "1.1")])
    calls = len(world.calls())
    world.begin(world.state.plan, POLICY)  # type: ignore[arg-type]
    while not effects_of(world, ef.RestoreBranch):
        assert world.turn() or world.land(next(iter(world.state.inflight.values()))) is None
    assert len(world.calls()) == calls, "nobody is called on a broken branch"
    world.run()
    (asked,) = effects_of(world, ef.RestoreBranch)
    assert asked.reason == "tests: broken"
    assert world.state.outcome == "done"
    assert [one.event.task for one in world.log if isinstance(one.event, ev.Committed)].count("1.1") == 2
    measured = [effect for effect in effects_of(world, ef.RunChecks) if effect.purpose == "baseline"]
    assert measured[-1].tree == "tree-c0", "where it went back to is measured again"


def test_where_no_commit_is_to_blame_the_run_goes_on() -> None:
    world = half_done()
    head = world.state.head
    assert again(world).outcome == "done"
    assert len(effects_of(world, ef.RestoreBranch)) == 1, "once a run"
    assert any(isinstance(one.event, ev.BranchMoved) and one.event.commit == head for one in world.log)


def test_where_nothing_is_good_the_run_ends_with_words() -> None:
    nothing = lambda effect: [  # noqa: E731
        ev.EffectFailed(id=effect.id, kind="permanent", message="so do all", hint="devteam rollback auto")
    ]
    world = half_done(restore_branch=[nothing])
    again(world)
    assert world.state.outcome == "failed"
    assert "devteam rollback auto" in world.state.outcome_reason


def test_switched_off_nothing_moves() -> None:
    world = half_done()
    world.begin(world.state.plan, replace(POLICY, monitor=replace(POLICY.monitor, auto_rollback=False)))  # type: ignore[arg-type]
    world.run()
    assert (effects_of(world, ef.RestoreBranch), world.state.outcome) == ([], "done")


def test_a_sprint_without_commits_has_nothing_to_go_back_from() -> None:
    world = begin(Story(baseline=[failing("broken")]))
    assert (effects_of(world, ef.RestoreBranch), world.state.outcome) == ([], "done")
