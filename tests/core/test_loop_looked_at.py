"""Findings for a human, and the scope judge: what globs and machines cannot say."""

from __future__ import annotations

import pytest

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer, SetAttended
from engine.core.model import Finding, Role, TaskSpec, Verdict
from engine.core.orders import obey
from engine.core.policy import GatePolicy, Policy
from engine.core.state import Status
from tests.core.story import Story
from tests.core.world import World, checks, ok, outcome, passing, plan_of

ODD = Finding(rule="unusual-source", text="calls os._exit", path="a.py", severity="human")
TASK = TaskSpec(id="1.1", title="A")


def green_but_odd(effect: ef.RunChecks) -> list[ev.AnyEvent]:
    return [checks(effect, passing(), findings=(ODD,))]


def begun(*, attended: bool, auto: bool = True) -> World:
    policy = Policy(gates=GatePolicy(fix="auto", task="auto" if auto else "gated"), max_iterations=2)
    world = World(Story(checks=[green_but_odd, green_but_odd, green_but_odd]))
    world.begin(plan_of(TASK), policy, attended=attended)
    world.run()
    return world


def test_somebody_who_attends_is_asked_in_spite_of_auto() -> None:
    world = begun(attended=True)
    (gate,) = world.state.open_gates()
    assert gate.kind == "task"
    assert gate.forced
    assert "LOOK AT THIS: calls os._exit (a.py)" in gate.body
    world.append(*obey(world.state, Answer(gate=gate.id, choice="yes")).events)
    assert world.run().tasks["1.1"].status is Status.COMPLETE


def test_nobody_attends_and_the_task_does_not_pass() -> None:
    world = begun(attended=False)
    assert world.state.tasks["1.1"].status is not Status.COMPLETE
    assert world.decisions("1.1")[0] == "ITERATE"


def test_whoever_leaves_does_not_approve_by_leaving() -> None:
    world = begun(attended=True)
    world.append(*obey(world.state, SetAttended(attended=False)).events)
    task = world.run().tasks["1.1"]
    assert task.status is Status.BLOCKED
    assert task.reason == "for a human: calls os._exit"
    assert not task.commit


@pytest.mark.parametrize("says", [True, False], ids=["in scope", "out of scope"])
def test_the_scope_judge_is_heard_before_the_checks(says: bool) -> None:
    def judged(effect: ef.CallAgent) -> list[ev.AnyEvent]:
        said = ev.ScopeJudged(id=effect.id, task=effect.task, in_scope=says, reason="renames a public name")
        return [outcome(effect, ok()), said]

    world = World(Story(scope_judge=[judged]))
    world.begin(plan_of(TASK), Policy(scope_judge=True))
    task = world.run().tasks["1.1"]
    assert task.status is Status.COMPLETE
    assert world.decisions("1.1") == (["COMPLETE"] if says else ["ITERATE", "COMPLETE"])
    if not says:
        first = next(entry.event for entry in world.log if isinstance(entry.event, ev.Decided))
        assert "out of scope by the scope judge: renames a public name" in first.reason


def test_a_scope_judge_that_says_nothing_costs_the_implementer_nothing() -> None:
    def silent(effect: ef.CallAgent) -> list[ev.AnyEvent]:
        return [outcome(effect, ok())]

    world = World(Story(scope_judge=[silent, silent, silent]))
    world.begin(plan_of(TASK), Policy(scope_judge=True))
    world.run()
    assert (world.calls(), world.decisions("1.1")) == ([world.calls()[0]], [])
    assert world.calls(Role.SCOPE_JUDGE).count("haiku") == 3
    task = world.state.tasks["1.1"]
    assert (task.status, task.scope_verdict) == (Status.BLOCKED, Verdict.ERROR)
    assert "no answer of the scope judge" in task.reason and task.kept is not None


def test_a_scope_judge_that_answers_with_its_last_try_is_heard() -> None:
    def silent(effect: ef.CallAgent) -> list[ev.AnyEvent]:
        return [outcome(effect, ok())]

    world = World(Story(scope_judge=[silent, silent]))
    world.begin(plan_of(TASK), Policy(scope_judge=True))
    task = world.run().tasks["1.1"]
    assert world.decisions("1.1") == ["COMPLETE"]
    assert task.scope_verdict is Verdict.PASS
