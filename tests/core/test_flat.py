"""A sprint that never ends must cost the ten-thousandth iteration what it cost the tenth: state is bounded."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer
from engine.core.decide import decide
from engine.core.fold import apply
from engine.core.orders import obey
from engine.core.policy import BudgetPolicy, LadderPolicy, LimitPolicy, MonitorPolicy
from engine.core.state import State
from tests.core.story import ONE, POLICY, Story, red
from tests.core.world import World, changes_wanted, happy, plan_of

FOR_EVER = replace(
    POLICY,
    max_iterations=10**6,
    limits=LimitPolicy(calls_per_hour=0),
    budget=BudgetPolicy(session_usd=0, day_usd=0),
    ladder=replace(LadderPolicy(rungs=POLICY.ladder.rungs), failures=(10**6,)),
    monitor=MonitorPolicy(recoveries=10**6),
)


def endless(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
    number = world.state.iterations
    if isinstance(effect, ef.RunChecks) and effect.purpose == "task" and number % 2:
        return [Story(checks=[red(number)])(world, effect)[0]]
    if isinstance(effect, ef.CallAgent) and effect.role.value == "reviewer":
        return Story(review=[changes_wanted(ONE)])(world, effect)
    return happy(world, effect)


class Forgetful(World):
    """Keeps no history: only the state is looked at."""

    def append(self, *events: ev.AnyEvent) -> None:
        for event in events:
            self.steps = 0
            self.state = apply(self.state, ev.Envelope(seq=self.state.seq + 1, stream="s", at=self.at, event=event))


def size_after(world: Forgetful, iterations: int) -> int:
    while world.state.iterations < iterations:
        world.issued.clear()
        world.started.clear()
        if world.turn():
            continue
        if world.state.inflight:
            world.land(next(iter(world.state.inflight.values())))
            world.at -= 0.9  # Hundreds of calls an hour, as with agents that answer at once.
        else:
            gate = world.state.open_gates()[0]
            choice = "retry" if gate.kind == "blocked" else "comment"
            world.append(*obey(world.state, Answer(gate=gate.id, choice=choice, text="once more " * 5)).events)
    return len(msgspec.json.encode(world.state))


@pytest.mark.parametrize("attended", [False, True], ids=["unattended", "attended"])
def test_state_is_bounded(attended: bool) -> None:
    world = Forgetful(endless).begin(plan_of(ONE), FOR_EVER, attended=attended)
    assert isinstance(world, Forgetful)
    early, late = size_after(world, 800), size_after(world, 1600)
    assert late <= early * 1.02 + 200, f"{early} bytes after 800 iterations, {late} after 1600"


def test_deciding_does_not_change_the_state() -> None:
    world = World(happy).begin(plan_of(ONE), POLICY)
    before = msgspec.json.encode(world.state)
    assert decide(world.state) == decide(world.state)
    assert msgspec.json.encode(world.state) == before
    assert msgspec.json.decode(before, type=State) == world.state
