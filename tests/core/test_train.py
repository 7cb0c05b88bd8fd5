"""The merge train: n tasks on n lanes are n reviews and n gates; what lands in between costs a check, nothing else."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import Role
from engine.core.state import Status
from tests.core.story import ONE, POLICY, Story, answer, begin, effects_of, facts, status, task
from tests.core.world import World, changes_wanted, plan_of, red_checks

MANY = tuple(task(f"1.{number}") for number in range(1, 7))


class Branch(Story):
    """Commits go to one branch: a commit on an old base is told what landed meanwhile."""

    def __init__(self, same_patch: bool = True, **surprises: list[object]) -> None:
        super().__init__(**surprises)  # type: ignore[arg-type]
        self.same_patch = same_patch

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.Commit) and effect.base != world.state.head:
            merged = f"{effect.tree}+{world.state.head}"
            return [
                ev.BaseMoved(
                    id=effect.id,
                    task=effect.task,
                    base=world.state.head,
                    tree=merged,
                    same_patch=self.same_patch,
                    landed=("impl(demo): T1.1 — Task 1.1",),
                    difference="" if self.same_patch else "-old\n+new",
                )
            ]
        return super().__call__(world, effect)


def lanes(count: int) -> object:
    return replace(POLICY, lanes=count)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("attended", [False, True])
def test_n_tasks_on_n_lanes_are_n_reviews_and_n_gates(seed: int, attended: bool) -> None:
    rng = random.Random(seed)
    world = World(Branch()).begin(plan_of(*MANY), lanes(6), attended=attended)
    while world.state.outcome is None:
        world.run(pick=rng.choice)
        for gate in world.state.open_gates()[:1]:
            world.append(ev.GateAnswered(gate=gate.id, choice="yes", by="you", tree=gate.tree))
    assert world.state.outcome == "done"
    assert len(world.calls(Role.REVIEWER)) == 6
    assert len(facts(world, ev.GateOpened)) == (6 if attended else 0)
    checked = [effect for effect in effects_of(world, ef.RunChecks) if effect.purpose == "task"]
    assert len(checked) == 6 + 5, "each change once, and each but the first once more on what came before it"


def test_they_commit_oldest_first() -> None:
    world = begin(Branch(), *MANY[:4], policy=lanes(4), attended=True)
    gates = world.state.open_gates()
    asked = [gate.task for gate in gates]
    for gate in reversed(gates):
        world.append(ev.GateAnswered(gate=gate.id, choice="yes", by="you", tree=gate.tree))
        world.at += 1
    world.run()
    assert [event.task for event in facts(world, ev.Committed)] == asked[::-1]


def test_a_change_that_is_not_the_same_any_more_is_reviewed_and_asked_again_with_the_difference() -> None:
    world = begin(Branch(same_patch=False), ONE, task("1.2"), policy=lanes(2), attended=True)
    first, second = world.state.open_gates()
    for gate in (first, second):
        world.append(ev.GateAnswered(gate=gate.id, choice="yes", by="you", tree=gate.tree))
    world.run()
    (asked,) = world.state.open_gates()
    assert asked.task == second.task
    assert "Landed since it was judged: impl(demo): T1.1" in asked.body and "+new" in asked.body
    assert len(world.calls(Role.REVIEWER)) == 3
    answer(world, "yes")
    assert world.state.outcome == "done"


def test_an_override_survives_what_others_commit() -> None:
    world = begin(Branch(review=[None, changes_wanted(ONE)]), ONE, task("1.2"), policy=lanes(2), attended=True)
    for _ in range(4):
        for gate in world.state.open_gates():
            said = "skip" if gate.kind == "fix" else "yes"
            world.append(ev.GateAnswered(gate=gate.id, choice=said, by="you", tree=gate.tree))
        world.run()
    assert world.state.outcome == "done"
    assert len(facts(world, ev.BaseMoved)) == 1
    assert len(world.calls()) == 2, "nobody did it again"


def test_a_merged_tree_that_fails_its_checks_is_worked_on_again() -> None:
    world = begin(Branch(checks=[None, None, red_checks()]), ONE, task("1.2"), policy=lanes(2))
    assert world.state.outcome == "done"
    assert [status(world, name) for name in ("1.1", "1.2")] == [Status.COMPLETE] * 2
    assert len(world.calls()) == 3


def test_the_train_never_stops_for_a_task_that_left_it() -> None:
    """Whatever the first one meets after it moved, those behind it commit."""
    world = begin(Branch(checks=[None, None, None, *[red_checks()] * 9]), *MANY[:3], policy=lanes(3))
    assert world.state.outcome is not None
    assert sum(one.status is Status.COMPLETE for one in world.state.tasks.values()) >= 2


def seconds_of(effect: ef.AnyEffect) -> float:
    """A slow agent, a suite of some seconds, git in no time."""
    match effect:
        case ef.CallAgent(role=Role.IMPLEMENTER):
            return 120.0
        case ef.CallAgent():
            return 20.0
        case ef.RunChecks():
            return 5.0
        case _:
            return 0.2


def makespan(lanes_: int, tasks: int) -> float:
    """How long a sprint takes when effects run side by side, in virtual time."""
    world = World(Branch()).begin(
        plan_of(*(task(f"1.{number}") for number in range(tasks))), replace(POLICY, lanes=lanes_)
    )
    start, due = world.at, {}
    while world.state.running:
        if world.turn():
            continue
        due = {name: due.get(name, world.at + seconds_of(one)) for name, one in world.state.inflight.items()}
        name = min(due, key=lambda one: due[one])
        world.at = max(world.at, due[name])
        world.land(world.state.inflight[name])
        world.at -= 1.0  # `land` lets a second pass of its own
    assert world.state.outcome == "done"
    return world.at - start


def test_sixteen_tasks_on_eight_lanes_are_five_times_as_fast() -> None:
    one, eight = makespan(1, 16), makespan(8, 16)
    assert one / eight >= 5.0, (one, eight)
