"""The machine's faults: they suspend the run, touch no task, charge nobody, and end by themselves."""

from __future__ import annotations

import itertools

import pytest

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import MachineFault, Plan, Role, TaskSpec
from engine.core.policy import LimitPolicy, Policy
from engine.core.state import Status
from tests.core.world import Script, World, happy, plan_of


class Machine:
    """A world whose n-th effect of a kind meets a fault; `probes` of them say that it is not over."""

    def __init__(self, kind: type[ef.AnyEffect], fault: MachineFault, probes: int) -> None:
        self.kind, self.fault, self.left, self.met = kind, fault, probes, 0

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.Probe):
            self.left -= 1
            return [ev.MachineProbed(id=effect.id, fault=effect.fault, ok=self.left < 0, detail="still")]
        if isinstance(effect, self.kind) and not self.met:
            self.met += 1
            return [ev.EffectFailed(id=effect.id, kind="permanent", message="ENOSPC", fault=self.fault)]
        return happy(world, effect)


def started(plan: Plan, script: Script, policy: Policy | None = None) -> World:
    return World(script).begin(plan, policy)


PLAN = plan_of(TaskSpec(id="1.1", title="A"), TaskSpec(id="1.2", title="B"))


@pytest.mark.parametrize("fault", list(MachineFault))
@pytest.mark.parametrize(
    "kind", [ef.PrepareWorkspace, ef.CallAgent, ef.CheckScope, ef.RunChecks, ef.Commit, ef.SaveCheckpoint]
)
@pytest.mark.parametrize("probes", [0, 12])
def test_the_run_waits_and_goes_on_as_if_nothing_had_been(
    fault: MachineFault, kind: type[ef.AnyEffect], probes: int
) -> None:
    undisturbed = started(PLAN, happy)
    undisturbed.run()
    world = started(PLAN, Machine(kind, fault, probes))
    state = world.run()
    assert state.outcome == "done"
    assert all(task.status is Status.COMPLETE and task.iteration == 1 for task in state.tasks.values())
    assert state.spent_usd == pytest.approx(undisturbed.state.spent_usd), "nobody was charged for it"
    assert len(world.calls(Role.IMPLEMENTER)) == 2 + (kind is ef.CallAgent)
    assert sum(isinstance(effect, ef.Probe) for effect in world.started) == probes + 1


def test_nothing_is_started_while_it_lasts_and_the_state_says_what_to_free() -> None:
    world = started(PLAN, Machine(ef.RunChecks, MachineFault.DISK_FULL, 10**9), Policy(limits=LimitPolicy()))
    state = world.run()
    assert state.outcome == "limit", "it waits as long as for any limit, then ends resumably"
    assert "DISK_FULL" in state.outcome_reason and "df -h" in state.outcome_reason
    met = next(i for i, entry in enumerate(world.log) if isinstance(entry.event, ev.EffectFailed))
    begun = [entry.event.effect for entry in world.log[met:] if isinstance(entry.event, ev.EffectStarted)]
    assert {type(effect) for effect in begun} == {ef.Wait, ef.Probe, ef.Finish}
    assert not any(task.ended for task in state.tasks.values())
    waits = [effect.until for effect in begun if isinstance(effect, ef.Wait)]
    assert max(b - a for a, b in itertools.pairwise(waits)) <= 62.0, "probed at least once a minute"


def test_a_new_run_starts_unsuspended() -> None:
    world = started(PLAN, Machine(ef.RunChecks, MachineFault.NO_MEMORY, 10**9))
    world.run()
    assert world.state.suspended is MachineFault.NO_MEMORY
    world.script = happy
    world.begin(PLAN)
    assert world.run().outcome == "done"


def test_stop_is_obeyed_while_suspended() -> None:
    world = started(PLAN, Machine(ef.RunChecks, MachineFault.STORE_FAULT, 10**9))
    while world.state.suspended is None:
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.append(ev.StopRequested())
    assert world.run().outcome == "stopped"
