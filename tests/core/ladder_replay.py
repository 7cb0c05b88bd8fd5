"""Recorded results played through the real `decide`: every task, every rung, the production policy.

An attempt is an implementer's call with its recorded price and checks that pass or fail as recorded; a further try at
the same rung succeeds by a chance that falls with each failure, the same luck for every policy. The council is in no
public data: it costs nothing here, and the attempt after it fails at no cost.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core import ladder
from engine.core.fold import apply
from engine.core.index_ladder import RungStats, added
from engine.core.model import Role, Rung, Struct, TaskSpec
from engine.core.policy import BudgetPolicy, CheckpointPolicy, LadderPolicy, LimitPolicy, Policy
from engine.core.state import Status
from engine.core.vocabulary import Council, LadderKind
from tests.core.world import World, checks, failing, happy, ok, outcome, plan_of

ROOT = Path(__file__).parents[2]
MATRIX = next(
    (path for parent in ROOT.parents[:2] if (path := parent / "shared/handbook/ladder/matrix.json").exists()), None
)
TOGETHER = 25
"""Tasks of one sprint: what it measured is known to the next."""


class Recorded(Struct, frozen=True, kw_only=True):
    """Outcomes and prices by rung and task, and how easy each task is."""

    resolved: list[list[int]]
    cost: list[list[float]]
    ease: list[float]

    def ok(self, task: int, rung: int, failures: int) -> bool:
        if failures == 0:
            return bool(self.resolved[rung][task])
        ease = min(max(self.ease[task], 0.01), 0.99)
        again = 1 / (1 + math.exp(0.71 - 0.72 * math.log(ease / (1 - ease))))
        drawn = hashlib.sha256(repr((task, rung, failures)).encode()).digest()[:6]
        return int.from_bytes(drawn, "big") / 2**48 < again * 0.54 ** (failures - 1)


class Bill(Struct, frozen=True, kw_only=True):
    """What a policy came to."""

    tasks: int
    solved: int
    usd: float

    @property
    def rate(self) -> float:
        return self.solved / self.tasks

    @property
    def each(self) -> float:
        return self.usd / max(1, self.solved)


class Replay(World):
    """A world whose attempts end as they are on record. Facts are not sent through JSON: there are very many."""

    def append(self, *events: ev.AnyEvent) -> None:
        for event in events:
            envelope = ev.Envelope(seq=len(self.log) + 1, stream="s", at=self.at, event=event)
            self.log.append(envelope)
            self.state = apply(self.state, envelope)


def recorded(name: str) -> Recorded:
    assert MATRIX is not None
    data = json.loads(MATRIX.read_text("utf-8"))[name]
    return Recorded(resolved=data["resolved"], cost=data["cost"], ease=data["pool"])


def policy_of(data: Recorded, kind: LadderKind, value_usd: float) -> Policy:
    """Production's policy on this ladder: 2/2/3 or index; money and limits do not bind."""
    rungs = tuple(
        Rung(name=f"r{place}", agent="replay", reserve_usd=max(0.01, sum(costs) / len(costs)))
        for place, costs in enumerate(data.cost)
    )
    classic = LadderPolicy().failures
    return Policy(
        review=False,
        ladder=LadderPolicy(rungs=rungs, failures=classic, policy=kind, task_value_usd=value_usd),
        budget=BudgetPolicy(session_usd=1e9, day_usd=1e9),
        limits=LimitPolicy(calls_per_hour=0),
        checkpoints=CheckpointPolicy(on_task_complete=False, on_phase_change=False, baselines=()),
        final_checks=False,
    )


def play(
    data: Recorded, tasks: Sequence[int], policy: Policy, history: dict[str, RungStats] | None = None
) -> tuple[Bill, dict[str, RungStats]]:
    """The tasks in sprints, one after another; what was paid and solved, and what was learnt of the rungs."""
    known, solved, usd = dict(history or {}), 0, 0.0
    for first in range(0, len(tasks), TOGETHER):
        part = tasks[first : first + TOGETHER]
        # Plain 2/2/3 begins at the bottom; index does not look at complexity.
        specs = [TaskSpec(id=f"1.{number}", title=f"Task {number}", complexity=0) for number in part]
        world = Replay(Attempts(data), max_steps=1_000_000)
        world.begin(plan_of(*specs), policy, measured=known)
        world.run()
        for name, stats in ladder.measured(world.state).items():
            known[name] = added(stats, known[name]) if name in known else stats
        solved += sum(task.status is Status.COMPLETE for task in world.state.tasks.values())
        usd += world.state.spent_usd
    return Bill(tasks=len(tasks), solved=solved, usd=usd), known


class Attempts:
    """The script: implementers and their checks."""

    def __init__(self, data: Recorded) -> None:
        self.data = data
        self.failures: dict[tuple[int, int], int] = {}

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.CallAgent):
            if effect.role is not Role.IMPLEMENTER:
                facts = happy(world, effect)
                return [replace(facts[0], charged_usd=0.0), *facts[1:]]
            number, rung = int(effect.task.partition(".")[2]), int(effect.rung.name[1:])
            after = world.state.tasks[effect.task].council is Council.DONE
            return [outcome(effect, ok(0.0 if after else self.data.cost[rung][number], claim="complete"))]
        if isinstance(effect, ef.RunChecks) and effect.task:
            task = world.state.tasks[effect.task]
            number = int(effect.task.partition(".")[2])
            failed = self.failures.get((number, task.rung), 0)
            if task.council is Council.DONE or not self.data.ok(number, task.rung, failed):
                self.failures[number, task.rung] = failed + 1
                return [checks(effect, failing(f"test_{len(world.log)}"))]
        return happy(world, effect)


def compare(data: Recorded, value_usd: float) -> tuple[Bill, Bill]:
    """2/2/3 and index on the same tasks; index knows what 2/2/3 measured on the other half."""
    past, coming = range(0, len(data.ease), 2), range(1, len(data.ease), 2)
    classic = policy_of(data, "classic", value_usd)
    _, history = play(data, past, classic)
    usual, _ = play(data, coming, classic)
    index, _ = play(data, coming, policy_of(data, "index", value_usd), history)
    return usual, index
