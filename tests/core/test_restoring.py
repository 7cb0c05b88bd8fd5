"""A checkpoint brings tasks back as they stood, whatever became of them since."""

from __future__ import annotations

import pytest

from engine.core import events as ev
from engine.core.commands import Retry, Skip
from engine.core.fold import fold
from engine.core.model import Decision, RestoredEnd
from engine.core.restoring import ends_of, opened_since
from engine.core.state import State, Status
from tests.core.parts import a_state, a_task
from tests.core.story import Story, again, begin, order, said_blocked, task
from tests.core.world import World


def stands(status: Status, **fields: object) -> State:
    decision = {Status.BLOCKED: Decision.BLOCKED, Status.SKIPPED: Decision.SKIPPED, Status.HALTED: Decision.HALT}
    return a_state(a_task(status=status, decision=decision.get(status), reason=status.value, **fields))


@pytest.mark.parametrize(
    ("then", "now", "ended", "opened"),
    [
        pytest.param(stands(Status.BLOCKED), stands(Status.COMPLETE, commit="c"), "BLOCKED", (), id="blocked then"),
        pytest.param(stands(Status.SKIPPED), stands(Status.PENDING), "SKIPPED", (), id="skipped then, opened since"),
        pytest.param(stands(Status.HALTED), stands(Status.SKIPPED), "HALT", (), id="halted then, skipped since"),
        pytest.param(stands(Status.PENDING), stands(Status.SKIPPED), "", ("1.1",), id="open then, skipped since"),
        pytest.param(stands(Status.RUNNING), stands(Status.BLOCKED), "", ("1.1",), id="under way then"),
        pytest.param(stands(Status.PENDING), stands(Status.COMPLETE, commit="c"), "", (), id="its commit says it"),
        pytest.param(stands(Status.BLOCKED), stands(Status.BLOCKED), "", (), id="as it was"),
        pytest.param(stands(Status.BLOCKED), a_state(), "", (), id="gone from the plan"),
    ],
)
def test_what_comes_back(then: State, now: State, ended: str, opened: tuple[str, ...]) -> None:
    found = ends_of(then, now)
    assert {name: end.decision.value for name, end in found.items()} == ({"1.1": ended} if ended else {})
    assert opened_since(then, now) == opened


def back_to(world: World, then: State) -> None:
    now = world.state
    gone = tuple(name for name, one in now.tasks.items() if one.commit and not then.tasks[name].commit)
    world.append(
        ev.BranchMoved(
            commit=then.head,
            tree=then.head_tree,
            backup="b",
            reason="checkpoint k1",
            reopened=(*gone, *opened_since(then, now)),
            ended=ends_of(then, now),
        )
    )


def test_a_sprint_goes_back_and_on_again() -> None:
    """1.1 blocked, 1.2 skipped, 1.3 done; a checkpoint; everything is retried and done; back; only 1.1 is retried."""
    story = Story(only="1.1", implement=[said_blocked()])
    world = begin(story, task("1.1"), task("1.2", "1.1"), task("1.3"))
    then = world.state
    assert [one.status.value for one in then.tasks.values()] == ["blocked", "blocked", "complete"]
    spent = then.spent_usd
    order(world, Retry(task="1.1", text="the key is there"))
    again(world)
    assert world.state.outcome == "done"
    back_to(world, then)
    state = world.state
    assert [one.status.value for one in state.tasks.values()] == ["blocked", "blocked", "complete"]
    assert state.tasks["1.1"].action == then.tasks["1.1"].action
    assert (state.head, state.tasks["1.1"].commit) == (then.head, "")
    assert state.spent_usd > spent, "money is not given back"
    assert fold(world.log) == state
    order(world, Retry(task="1.1", text="once more"))
    assert again(world).outcome == "done"


def test_what_was_skipped_since_is_open_again() -> None:
    world = begin(Story(), task("1.1"), task("1.2"), attended=True)
    then = world.state
    order(world, Skip(task="1.2"))
    assert world.state.tasks["1.2"].status is Status.SKIPPED
    back_to(world, then)
    assert world.state.tasks["1.2"].status is Status.PENDING


def test_a_task_under_way_is_left_alone() -> None:
    world = begin(Story(), task("1.1"), attended=True)
    before = world.state
    moved = ev.BranchMoved(
        commit="c", tree="t", backup="", reason="k", ended={"9.9": RestoredEnd(decision=Decision.HALT)}
    )
    world.append(moved)
    assert world.state.tasks == before.tasks
