"""The index ladder: a table of choices, what must always hold, and a replay against the classic thresholds."""

from __future__ import annotations

import hashlib
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.index_ladder import Attempt, RungStats, chance_of, choose, cost_of, measure
from engine.core.policy import LadderPolicy


def rung(cost: float, fresh=(0, 0), after=(0, 0), retry=(0, 0), calls: int = 100) -> RungStats:
    return RungStats(reserve_usd=cost * 2, fresh=fresh, after=after, retry=retry, calls=calls, cost_usd=cost * calls)


# Cheap first and far cheaper; a middle that is dear and hardly better; a strong top.
STEEP = (
    rung(0.04, (60, 40), (1, 1), (20, 80)),
    rung(0.56, (70, 30), (40, 60), (17, 83)),
    rung(0.72, (75, 25), (45, 55)),
)
# Prices alike: retrying buys little.
FLAT = (rung(0.70, (75, 25), (1, 1), (10, 90)), rung(0.75, (80, 20), (50, 50), (10, 90)))
DEAR_MIDDLE = (rung(0.15, (76, 24), (1, 1), (20, 80)), rung(1.50, (74, 26), (30, 70)), rung(0.75, (84, 16), (55, 45)))

CASES = [
    pytest.param(STEEP, (0, 0, 0), 0, 20, 0, id="start at the cheap rung"),
    pytest.param(STEEP, (1, 0, 0), 0, 20, 0, id="retry while it is far cheaper"),
    pytest.param(STEEP, (2, 0, 0), 0, 20, 0, id="retry again"),
    pytest.param(STEEP, (6, 0, 0), 0, 20, 1, id="but not for ever"),
    pytest.param(STEEP, (6, 1, 0), 1, 20, 2, id="climb when the next is about as dear"),
    pytest.param(FLAT, (1, 0), 0, 20, 1, id="never retry where prices are alike"),
    pytest.param(DEAR_MIDDLE, (3, 0, 0), 0, 20, 2, id="skip a dear middle"),
    pytest.param(STEEP, (9, 4, 6), 2, 20, None, id="stop when it costs more than it is worth"),
    pytest.param(STEEP, (1, 0, 1), 2, 20, 0, id="down again where that is far cheaper"),
    pytest.param(STEEP, (1, 0, 0), 0, 0.05, None, id="a task of little worth"),
    pytest.param((), (), 0, 20, None, id="no ladder"),
    pytest.param((rung(0.5),), (0,), 0, 20, 0, id="one rung"),
    pytest.param((RungStats(), RungStats(reserve_usd=2)), (0, 0), 0, 20, 0, id="nothing measured yet"),
    pytest.param((RungStats(), RungStats(reserve_usd=2)), (9, 0), 0, 20, 1, id="nothing measured, many failures"),
    pytest.param((RungStats(), RungStats()), (0, 0), 0, 20, 1, id="same price: the better one"),
]


@pytest.mark.parametrize(("stats", "failures", "current", "value", "wanted"), CASES)
def test_choices(stats, failures, current, value, wanted):
    choice = choose(stats, failures, current, value)
    assert choice.rung == wanted, choice.reason
    assert choice.reason


def test_a_repository_s_own_history_outweighs_the_priors():
    tasks = [[Attempt(rung=0, ok=False, cost_usd=0.5), Attempt(rung=1, ok=True, cost_usd=0.6)]] * 20
    assert choose(measure(tasks, (1.0, 1.2)), (0, 0), 0, 20).rung == 1
    assert choose(measure([], (1.0, 3.0)), (0, 0), 0, 20).rung == 0


def test_history_is_sorted_by_what_came_before():
    tasks = [
        [Attempt(rung=0, ok=False, cost_usd=1), Attempt(rung=0, ok=True, cost_usd=2)],
        [
            Attempt(rung=0, ok=False, cost_usd=3),
            Attempt(rung=1, ok=False, cost_usd=4),
            Attempt(rung=1, ok=True, cost_usd=5),
        ],
        [Attempt(rung=1, ok=True, cost_usd=6), Attempt(rung=7, ok=True, cost_usd=99)],
    ]
    low, high = measure(tasks, (1.0, 2.0))
    assert (low.fresh, low.after, low.retry, low.calls, low.cost_usd) == ((0, 2), (0, 0), (1, 0), 3, 6)
    assert (high.fresh, high.after, high.retry, high.calls, high.cost_usd) == ((1, 0), (0, 1), (1, 0), 3, 15)
    assert (low.reserve_usd, high.reserve_usd) == (1.0, 2.0)


COUNTS = st.tuples(st.integers(0, 500), st.integers(0, 500))
STATS = st.builds(
    RungStats,
    reserve_usd=st.floats(0, 100),
    fresh=COUNTS,
    after=COUNTS,
    retry=COUNTS,
    calls=st.integers(0, 1000),
    cost_usd=st.floats(0, 10_000),
)
LADDERS = st.lists(STATS, min_size=1, max_size=5).map(tuple)


@given(LADDERS, st.lists(st.integers(0, 12), max_size=6), st.integers(0, 4), st.floats(0.01, 1000))
def test_a_choice_is_the_cheapest_success_and_never_costs_more_than_the_task_is_worth(stats, failures, current, value):
    choice = choose(stats, tuple(failures), current, value)
    assert choice == choose(stats, tuple(failures), current, value)
    if choice.rung is None:
        assert choice.usd_per_success > value
    else:
        assert 0 <= choice.rung < len(stats) and choice.usd_per_success <= value
        best = min(cost_of(stats[r]) / chance_of(stats, failures, r) for r in range(len(stats)))
        assert math.isclose(choice.usd_per_success, best)


@given(LADDERS, st.floats(0.01, 50))
def test_failing_on_and_on_always_ends(stats, value):
    failures, current = [0] * len(stats), 0
    for _ in range(2000):
        choice = choose(stats, tuple(failures), current, value)
        if choice.rung is None:
            return
        current = choice.rung
        failures[current] += 1
    raise AssertionError("no end")


# ── replay: the same tasks, the same luck, two policies ────────────────────────────────────────────────────────────


class World:
    """Tasks with recorded outcomes and costs per rung. A retry succeeds by a chance that falls with each failure."""

    def __init__(self, resolved, cost, ease):
        self.resolved, self.cost, self.ease = resolved, cost, ease
        self.rungs = len(resolved)

    def attempt(self, task: int, rung: int, failures: int) -> Attempt:
        if failures == 0:
            ok = bool(self.resolved[rung][task])
        else:
            ease = min(max(self.ease[task], 0.01), 0.99)
            again = 1 / (1 + math.exp(0.71 - 0.72 * math.log(ease / (1 - ease))))
            ok = self._luck(task, rung, failures) < again * 0.54 ** (failures - 1)
        return Attempt(rung=rung, ok=ok, cost_usd=self.cost[rung][task])

    def _luck(self, *what: int) -> float:
        """The same for every policy."""
        return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:6], "big") / 2**48


def play(world: World, tasks, pick):
    """Each task by `pick(failures, current) -> rung or None` until it succeeds or stops."""
    histories = []
    for task in tasks:
        failures, current, attempts = [0] * world.rungs, 0, []
        while (rung := pick(tuple(failures), current)) is not None:
            attempts.append(world.attempt(task, rung, failures[rung]))
            if attempts[-1].ok:
                break
            current = rung
            failures[rung] += 1
            assert len(attempts) < 200, "no end"
        histories.append(attempts)
    return histories


def classic(failures, current):
    thresholds = LadderPolicy().failures
    if failures[current] < thresholds[current]:
        return current
    return current + 1 if current + 1 < len(failures) else None


def bill(histories):
    spent = sum(attempt.cost_usd for attempts in histories for attempt in attempts)
    solved = sum(attempts[-1].ok for attempts in histories if attempts)
    return solved / len(histories), spent / max(solved, 1)


def compare(world: World, value: float):
    """Half of the tasks, worked classically, are the history; both policies then work the other half."""
    count = len(world.ease)
    past, coming = range(0, count, 2), range(1, count, 2)
    reserves = [2 * sum(costs) / len(costs) for costs in world.cost]
    stats = measure(play(world, past, classic), reserves)
    by_index = play(world, coming, lambda failures, current: choose(stats, failures, current, value).rung)
    return bill(play(world, coming, classic)), bill(by_index)


def synthetic(costs, skills, seed: int, count: int = 2000) -> World:
    """Tasks of every difficulty; a rung solves what is below its skill, with some luck."""
    rng = random.Random(seed)
    ease = [rng.random() for _ in range(count)]
    resolved = [[int(rng.random() < 1 / (1 + math.exp(-8 * (e + s - 1)))) for e in ease] for s in skills]
    cost = [[c * rng.uniform(0.5, 1.5) * (1.5 - e) for e in ease] for c in costs]
    return World(resolved, cost, ease)


SHAPES = [
    pytest.param((0.04, 0.5, 0.7), (0.55, 0.7, 0.75), id="cheap bottom"),
    pytest.param((0.15, 1.1, 0.75), (0.7, 0.72, 0.85), id="dear middle"),
    pytest.param((0.8, 0.75, 1.4), (0.7, 0.8, 0.95), id="prices alike"),
]


@pytest.mark.parametrize(("costs", "skills"), SHAPES)
@pytest.mark.parametrize("seed", range(2))
def test_synthetic_tasks_cost_less_per_success_than_with_fixed_thresholds(costs, skills, seed):
    """A success costs less; and with what an unsolved task costs (its value) added, so does the whole."""
    value = 8.0
    (solved_classic, usd_classic), (solved_index, usd_index) = compare(synthetic(costs, skills, seed), value)
    assert usd_index <= 0.9 * usd_classic, (usd_index, usd_classic)
    whole_classic = usd_classic * solved_classic + value * (1 - solved_classic)
    whole_index = usd_index * solved_index + value * (1 - solved_index)
    assert whole_index <= whole_classic, (whole_index, whole_classic)
