"""`review = "batch"`: one review for tasks done side by side; what it wants goes back to whom it concerns."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Skip
from engine.core.model import ResultKind, Role
from engine.core.orders import obey
from engine.core.state import Status
from tests.core.story import POLICY, bad, begin, effects_of, facts, red, status, task
from tests.core.test_train import MANY, Branch
from tests.core.world import World, approved, changes_wanted, ok, outcome, plan_of, reviews

BATCH = replace(POLICY, lanes=6, review="batch")


class Reviewed(Branch):
    """Reviews that want changes of some tasks, say nothing of others, or fail altogether, in the order they come."""

    def __init__(self, *wants: dict[str, str] | ResultKind, **surprises: list[object]) -> None:
        super().__init__(**surprises)
        self.wants = list(wants)

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if not isinstance(effect, ef.CallAgent) or effect.role is not Role.REVIEWER or not self.wants:
            return super().__call__(world, effect)
        wants = self.wants.pop(0)
        if isinstance(wants, ResultKind):
            return [outcome(effect, bad(wants))]
        said: list[ev.AnyEvent] = [outcome(effect, ok(0.6))]
        for name in effect.members():
            if wants.get(name) != "nothing":
                said += reviews(world, effect, changes_wanted if wants.get(name) == "changes" else approved, (name,))
        return said


def batches(world: World) -> list[list[str]]:
    """The tasks of each review, in the order they were asked for."""
    return [list(call.members()) for call in effects_of(world, ef.CallAgent) if call.role is Role.REVIEWER]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("attended", [False, True])
def test_six_tasks_side_by_side_are_one_review_and_six_gates(seed: int, attended: bool) -> None:
    rng = random.Random(seed)
    world = World(Branch()).begin(plan_of(*MANY), BATCH, attended=attended)
    while world.state.outcome is None:
        world.run(pick=rng.choice)
        for gate in world.state.open_gates()[:1]:
            world.append(ev.GateAnswered(gate=gate.id, choice="yes", by="you", tree=gate.tree))
    assert world.state.outcome == "done"
    assert batches(world) == [[one.id for one in MANY]]
    assert len(facts(world, ev.GateOpened)) == (6 if attended else 0)
    assert len(facts(world, ev.Committed)) == 6


def test_one_lane_is_a_review_each() -> None:
    world = begin(Branch(), *MANY, policy=replace(BATCH, lanes=1))
    assert batches(world) == [[one.id] for one in MANY]


def test_what_it_wants_goes_back_to_the_tasks_concerned() -> None:
    world = begin(Reviewed({"1.2": "changes", "1.4": "changes"}), *MANY[:4], policy=BATCH)
    assert world.state.outcome == "done"
    assert batches(world) == [["1.1", "1.2", "1.3", "1.4"], ["1.2", "1.4"]]
    worked = [call.task for call in effects_of(world, ef.CallAgent) if call.role is Role.IMPLEMENTER]
    assert sorted(worked) == ["1.1", "1.2", "1.2", "1.3", "1.4", "1.4"], "nobody else does it again"
    feedback = next(
        call for call in effects_of(world, ef.CallAgent) if call.role is Role.IMPLEMENTER and call.iteration == 2
    )
    assert feedback.task == "1.2"


def test_a_task_that_it_says_nothing_of_is_asked_about_again_and_nobody_else() -> None:
    world = begin(Reviewed({"1.2": "nothing"}), *MANY[:3], policy=BATCH)
    assert (batches(world), world.state.outcome) == ([["1.1", "1.2", "1.3"], ["1.2"]], "done")
    assert len(world.calls()) == 3, "the judge's fault is not the implementer's"


def test_asked_in_vain_together_each_is_asked_about_alone() -> None:
    world = begin(Reviewed(ResultKind.NO_RESULT, ResultKind.NO_RESULT), *MANY[:3], policy=BATCH)
    assert batches(world) == [["1.1", "1.2", "1.3"]] * 2 + [["1.1"], ["1.2"], ["1.3"]]
    assert (world.state.outcome, len(world.calls())) == ("done", 3)


def test_a_limit_is_waited_for_together() -> None:
    limited = lambda effect: [  # noqa: E731
        outcome(effect, replace(bad(ResultKind.LIMIT), reset_at=1_000_500.0))
    ]
    world = begin(Branch(review=[limited]), *MANY[:3], policy=BATCH)
    assert (batches(world), world.state.outcome) == ([["1.1", "1.2", "1.3"]] * 2, "done")


def test_its_money_is_counted_once_and_shared() -> None:
    world = begin(Reviewed({}), *MANY[:3], policy=BATCH)
    assert world.state.usage_by_role["reviewer"].cost_usd == pytest.approx(0.6)
    spent = [one.spent_usd for one in world.state.tasks.values()]
    assert spent == pytest.approx([0.2 + 0.01] * 3)
    made = [call for call in effects_of(world, ef.CallAgent) if call.task]
    assert sum(sum(one.calls.values()) for one in world.state.tasks.values()) == len(made)


def test_a_task_that_fails_its_checks_holds_nobody_up() -> None:
    first_of = {"1.1": [red(1), red(2)]}

    def failing_one(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.RunChecks) and first_of.get(effect.task):
            return [
                replace(Branch()(world, effect)[0], results=(first_of[effect.task].pop(0),)),
            ]
        return Branch()(world, effect)

    world = begin(failing_one, *MANY[:3], policy=BATCH)  # type: ignore[arg-type]
    assert world.state.outcome == "done"
    assert batches(world) == [["1.2", "1.3"], ["1.1"]]


def test_a_task_that_is_skipped_meanwhile_leaves_the_batch() -> None:
    world = World(Branch()).begin(plan_of(*MANY[:3]), BATCH)
    while not any(isinstance(one, ef.CallAgent) and one.trees for one in world.state.inflight.values()):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.append(*obey(world.state, Skip(task="1.3")).events)
    world.run()
    assert [status(world, name) for name in ("1.1", "1.2", "1.3")] == [
        Status.COMPLETE,
        Status.COMPLETE,
        Status.SKIPPED,
    ]
    assert world.state.outcome == "done"


def test_killed_in_the_middle_of_it_they_are_asked_about_again() -> None:
    world = World(Branch()).begin(plan_of(*MANY[:3]), BATCH)
    while not any(isinstance(one, ef.CallAgent) and one.trees for one in world.state.inflight.values()):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    for name in list(world.state.inflight):
        world.append(ev.EffectInterrupted(id=name, reason="killed"))
    world.begin(plan_of(), BATCH)
    world.run()
    assert (batches(world), world.state.outcome) == ([["1.1", "1.2", "1.3"]] * 2, "done")
    assert len(world.calls()) == 3


def test_a_batch_gets_the_time_of_its_reviews() -> None:
    world = begin(Branch(), *MANY[:3], policy=BATCH)
    (call,) = [one for one in effects_of(world, ef.CallAgent) if one.role is Role.REVIEWER]
    assert call.timeout == 3 * BATCH.timeouts.review


def test_a_dependent_task_is_of_the_next_batch() -> None:
    world = begin(Branch(), task("1.1"), task("1.2"), task("1.3", "1.1"), task("1.4", "1.2"), policy=BATCH)
    assert batches(world) == [["1.1", "1.2"], ["1.3", "1.4"]]
