"""The index ladder against 2/2/3, both through the real `decide`, on recorded results where they are at hand."""

from __future__ import annotations

import pytest

from engine.core.effects import CallAgent
from tests.core.ladder_replay import MATRIX, Attempts, Recorded, Replay, compare, play, policy_of, recorded
from tests.core.test_index_ladder import SHAPES, synthetic
from tests.core.world import TaskSpec, plan_of

VALUE = 20.0


@pytest.mark.skipif(MATRIX is None, reason="the recorded matrix is not here (../shared)")
@pytest.mark.parametrize("name", ["A", "C", "E"])
def test_recorded_tasks_cost_less_and_as_many_are_solved(name: str) -> None:
    usual, index = compare(recorded(name), VALUE)
    print(
        f"{name}: 2/2/3 {usual.rate:.1%} at ${usual.usd / usual.tasks:.3f} a task, "
        f"index {index.rate:.1%} at ${index.usd / index.tasks:.3f}: {index.usd / usual.usd:.2f} x"
    )
    assert 0.4 <= index.usd / usual.usd <= 0.9
    assert index.rate >= usual.rate - 0.01


def made_up(costs: tuple[float, ...], skills: tuple[float, ...], seed: int = 0) -> Recorded:
    world = synthetic(costs, skills, seed, count=400)
    return Recorded(resolved=world.resolved, cost=world.cost, ease=world.ease)


@pytest.mark.parametrize(("costs", "skills"), SHAPES)
def test_made_up_tasks_cost_less_a_success(costs: tuple[float, ...], skills: tuple[float, ...]) -> None:
    usual, index = compare(made_up(costs, skills), 8.0)
    assert index.each <= 0.95 * usual.each, (index, usual)


def test_what_is_replayed_is_what_production_decides() -> None:
    """Other thresholds make another bill: nothing here decides by itself."""
    data = made_up((0.04, 0.5, 0.7), (0.55, 0.7, 0.75))
    policy = policy_of(data, "classic", VALUE)
    eager = policy.ladder.__class__(rungs=policy.ladder.rungs, failures=(1, 1, 1))
    usual, _ = play(data, range(50), policy)
    other, _ = play(data, range(50), policy.__class__(**{**_fields(policy), "ladder": eager}))
    assert usual.usd != other.usd


def test_with_history_the_index_starts_where_a_success_is_cheapest_and_goes_down_again() -> None:
    """A dear first rung that hardly ever succeeds is not where it starts, whatever the complexity says."""
    data = made_up((0.9, 0.5, 0.7), (0.2, 0.9, 0.9))
    _, history = play(data, range(0, 200, 2), policy_of(data, "classic", VALUE))
    world = Replay(Attempts(data), max_steps=100_000)
    tasks = [TaskSpec(id=f"1.{number}", title=f"Task {number}", complexity=0) for number in range(1, 41, 2)]
    world.begin(plan_of(*tasks), policy_of(data, "index", VALUE), measured=history)
    world.run()
    first = {}
    for effect in world.started:
        if isinstance(effect, CallAgent):
            first.setdefault(effect.task, effect.rung.name)
    assert set(first.values()) == {"r1"}


def _fields(policy: object) -> dict[str, object]:
    return {name: getattr(policy, name) for name in policy.__struct_fields__}  # type: ignore[attr-defined]
