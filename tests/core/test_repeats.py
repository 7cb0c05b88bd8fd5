"""The same wrong tree again: seen at once, judged once, and never taken for a verdict about something else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Allow, Retry
from engine.core.model import Decision, Finding, Health, ProofVerdict, ResultKind, Role, Verdict
from engine.core.state import Status
from engine.core.task_state import Step
from tests.core.story import (
    ONE,
    POLICY,
    Story,
    again,
    answer,
    bad,
    begin,
    effects_of,
    facts,
    order,
    red,
    status,
    the_gate,
)
from tests.core.test_whose_fault import UNPROVEN
from tests.core.world import World, changes_wanted, failing, plan_of

SAME: dict[str, object] = {"tree": "wrong"}
OTHER: dict[str, object] = {"tree": "other"}
SEEING = replace(POLICY, stuck_detection=True)


def judged(world: World) -> int:
    return len([one for one in effects_of(world, ef.RunChecks) if one.purpose == "task"])  # type: ignore[union-attr]


def healths(world: World) -> list[str]:
    return [one.health.value for one in facts(world, ev.HealthChanged)]  # type: ignore[union-attr]


def test_an_agent_that_repeats_itself_climbs_at_once_and_is_judged_once() -> None:
    """Before: seven calls and as many rounds of checks until the council; now one round, and two calls less."""
    world = begin(Story(scope=[SAME] * 9, checks=[red()] * 9), policy=SEEING)
    assert world.calls() == ["haiku", "haiku", "sonnet", "opus", "opus", "opus"]
    assert world.decisions("1.1") == ["ITERATE", "ESCALATE", "ESCALATE", "ITERATE", "COUNCIL", "BLOCKED"]
    assert judged(world) == 1
    assert Health.STALLED.value in healths(world)[1]
    assert status(world) is Status.BLOCKED


def test_a_tree_that_comes_back_is_a_flip_flop_at_once() -> None:
    world = begin(Story(scope=[SAME, OTHER, SAME], checks=[red(), red(1)]), policy=SEEING)
    assert "FLIP_FLOPPING" in healths(world)
    assert world.state.outcome == "done"
    assert judged(world) == 3, "the two wrong trees once each, and the good one"


def test_what_was_said_of_the_tree_is_what_is_heard_again() -> None:
    world = begin(Story(scope=[SAME, SAME], checks=[red()]), policy=SEEING)
    first, second = world.state.tasks["1.1"].history[:2]
    assert (second.error, second.failing, second.passing, second.repeats) == (
        first.error,
        first.failing,
        first.passing,
        1,
    )


def test_a_review_stands_for_its_tree_and_the_human_is_asked_all_the_same() -> None:
    world = begin(Story(scope=[SAME, SAME], review=[changes_wanted(ONE)]), policy=SEEING, attended=True)
    assert the_gate(world) == "fix"
    answer(world, "yes")
    assert the_gate(world) == "fix", "the same review, asked again before the ladder climbs"
    assert len(world.calls(Role.REVIEWER)) == 1
    assert judged(world) == 1
    answer(world, "skip")
    answer(world, "yes")
    assert status(world) is Status.COMPLETE
    assert world.state.tasks["1.1"].overridden


def test_nothing_shown_twice_by_the_same_tree_costs_one_round() -> None:
    world = begin(Story(scope=[SAME] * 3, checks=[UNPROVEN] * 3), policy=SEEING)
    assert (status(world), len(world.calls()), judged(world)) == (Status.BLOCKED, 2, 1)


ERRED = failing("x", verdict=Verdict.ERROR, reason="could not start")
LATE = failing("x", verdict=Verdict.NOT_RUN, reason="timed out")
FOR_HUMAN = {"findings": (Finding(rule="r", text="look at this", severity="human"),)}


@pytest.mark.parametrize(
    ("story", "rounds"),
    [
        pytest.param({"checks": [LATE]}, 2, id="a check that ran out of time"),
        pytest.param({"checks": [ERRED]}, 2, id="a check that erred"),
        pytest.param({"checks": [FOR_HUMAN]}, 2, id="a finding that only a human can judge"),
        pytest.param({"implement": [bad(ResultKind.REFUSAL)]}, 1, id="an attempt that came to nothing"),
        pytest.param({"checks": [red()]}, 1, id="a failing test is about the tree"),
        pytest.param({"checks": [{"proof": ProofVerdict.FAIL, "results": (red(),)}]}, 1, id="a canary too"),
    ],
)
def test_only_a_verdict_about_the_tree_is_remembered(story: dict[str, list[object]], rounds: int) -> None:
    world = begin(Story(scope=[SAME, SAME], **story), policy=replace(SEEING, max_iterations=2))  # type: ignore[arg-type]
    assert judged(world) == rounds


def test_a_word_of_the_human_at_the_blocked_gate_has_it_judged_anew() -> None:
    """They may have mended what the checks need; the verdict of before says nothing of that."""
    claims_failed = replace(bad(ResultKind.OK), claim="failed", claim_text="the fixture server is down")
    world = begin(
        Story(scope=[SAME] * 3, checks=[red()], implement=[None, claims_failed]), policy=SEEING, attended=True
    )
    assert the_gate(world) == "blocked"
    answer(world, "retry", "it is up again")
    assert judged(world) == 2
    assert (the_gate(world), world.state.tasks["1.1"].iteration) == ("task", 3)


@pytest.mark.parametrize(
    "mended",
    [
        pytest.param(lambda world: order(world, Retry(task="1.1", text="mended")), id="retry"),
        pytest.param(lambda world: (order(world, Allow(task="1.1", entry="edit a.json")), again(world)), id="allow"),
    ],
)
def test_what_changes_the_judge_forgets_the_verdicts(mended: object) -> None:
    world = begin(Story(scope=[SAME] * 99, checks=[red()] * 99), policy=replace(SEEING, max_iterations=2))
    assert status(world) is Status.HALTED
    mended(world)  # type: ignore[operator]
    assert world.state.tasks["1.1"].judged == ()


def test_a_new_run_judges_anew() -> None:
    """Checks and settings may have changed between two runs."""
    world = World(Story(scope=[SAME] * 3, checks=[red()]), max_steps=300).begin(plan_of(ONE), SEEING)
    while judged(world) < 1 or world.state.tasks["1.1"].step is not Step.SCOPE:
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    again(world)
    assert judged(world) == 2
    assert (world.state.outcome, world.state.tasks["1.1"].iteration) == ("done", 2)


def test_another_lanes_commit_forgets_the_verdicts_of_the_old_base() -> None:
    world = begin(Story(scope=[SAME], checks=[red()]), policy=replace(SEEING, max_iterations=1))
    assert world.state.tasks["1.1"].judged
    moved = ev.BaseMoved(id="x", task="1.1", base="c9", tree="merged", same_patch=True)
    world.append(moved)
    assert world.state.tasks["1.1"].judged == ()


def test_stuck_detection_off_still_spares_the_second_round() -> None:
    world = begin(Story(scope=[SAME] * 9, checks=[red()] * 9))
    assert world.calls() == ["haiku"] * 2 + ["sonnet"] * 2 + ["opus"] * 4
    assert judged(world) == 1
    assert world.decisions("1.1").count(Decision.COUNCIL.value) == 1
