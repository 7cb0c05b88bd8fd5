"""Ends that are true: what a sprint says of itself, from worlds in which something was skipped, blocked or not run."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from engine import views
from engine.closing_summary import summary
from engine.core import effects as ef
from engine.core.commands import Cancel, Skip
from engine.core.model import CheckKind, CheckResult, TestCounts, Verdict
from engine.core.orders import obey
from engine.core.records import record_of
from engine.core.state import Status
from tests.core.story import ONE, POLICY, Story, begin, effects_of, order, said_blocked, status, task
from tests.core.world import World, passing, plan_of


def skipped(*names: str, tasks: tuple[str, ...] = ("1.1", "1.2"), phases: int = 1) -> World:
    world = World(Story()).begin(plan_of(*(task(name) for name in tasks), phases=phases), POLICY)
    for name in names:
        world.append(*obey(world.state, Skip(task=name)).events)
    world.run()
    return world


def test_skipped_alone_is_not_done() -> None:
    world = skipped("1.1", tasks=("1.1",))
    assert (world.state.outcome, world.state.outcome_reason) == ("failed", "nothing was implemented: 1 task skipped")
    text = summary(world.state)
    assert "successfully completed" not in text and "✓ 1 of 1 task complete" not in text


def test_what_was_ticked_off_beforehand_is_not_called_committed() -> None:
    world = begin(Story(), replace(ONE, done=True))
    assert "– 0 of 1 task committed on" in summary(world.state)
    world = begin(Story(), replace(ONE, done=True), task("1.2"))
    assert "✓ 1 of 2 tasks committed on" in summary(world.state)
    assert "1 ticked off in the plan beforehand" in summary(world.state)


def test_done_says_what_was_skipped_and_ticks_no_more_than_was_done() -> None:
    world = skipped("1.2")
    assert (world.state.outcome, world.state.outcome_reason) == ("done", "1 task implemented, 1 skipped.")
    assert "✗ 1 of 2 tasks complete and committed" in summary(world.state)


def phases_said(world: World) -> str:
    found = re.search(r"completed_phases: \[(.*)\]", views.tracking(world.state))
    assert found is not None
    return found.group(1)


def test_a_phase_is_complete_only_when_its_tasks_are() -> None:
    assert phases_said(skipped("1.2", phases=2)) == "1"
    assert phases_said(skipped(phases=2)) == "1, 2"


@pytest.mark.parametrize("end", ["skipped", "blocked"])
def test_a_phase_that_ends_with_a_skipped_or_blocked_task_has_its_checkpoint(end: str) -> None:
    if end == "skipped":
        world = World(Story()).begin(plan_of(ONE, task("1.2")), POLICY)
        while status(world, "1.2") is not Status.RUNNING:
            assert world.turn() or world.land(next(iter(world.state.inflight.values()))) is None
        order(world, Skip(task="1.2"))
    else:
        world = begin(Story("1.2", implement=[said_blocked()]), ONE, task("1.2"))
        assert status(world, "1.2") is Status.BLOCKED
    reasons = [effect.reason for effect in effects_of(world, ef.SaveCheckpoint)]
    assert "batch-1: phase 1 over" in reasons


def test_a_cancelled_sprint_says_so_everywhere() -> None:
    world = World(Story()).begin(plan_of(ONE, task("1.2")), POLICY)
    world.turn()
    order(world, Cancel())
    assert world.state.outcome == "cancelled"
    assert "ended: cancelled" in summary(world.state)
    assert "status: cancelled" in views.progress(world.state)


def test_evidence_counts_all_checks() -> None:
    tests = passing()
    lint = CheckResult(name="lint", kind=CheckKind.LINT, verdict=Verdict.NOT_RUN, required=False)
    broken = CheckResult(name="own", kind=CheckKind.OWN, verdict=Verdict.ERROR, required=False)
    world = begin(Story(checks=[{"results": (tests, lint, broken)}]))
    (line,) = [line for line in summary(world.state).splitlines() if line.startswith("Evidence: ")]
    assert line.startswith("Evidence: 3 checks: ")
    assert set(line.partition(": ")[2].partition(": ")[2].split(", ")) == {
        "1 PASS",
        "0 FAIL",
        "1 ERROR",
        "1 NOT_RUN",
    }


def test_no_test_no_build_and_no_criterion_are_not_ticked() -> None:
    none = replace(passing(), counts=TestCounts(total=0, passed=0))
    bare = replace(ONE, accept=())
    text = summary(begin(Story(checks=[{"results": (none,)}]), bare).state)
    for line in ("– No test was counted", "– No build check", "– No acceptance criteria are written down"):
        assert line in text, text
    own = CheckResult(name="own", kind=CheckKind.OWN, verdict=Verdict.PASS)
    assert "– No tests were run" in summary(begin(Story(checks=[{"results": (own,)}])).state)


@pytest.mark.parametrize(
    ("verdict", "built"), [(Verdict.PASS, True), (Verdict.FAIL, True), (Verdict.NOT_RUN, False), (Verdict.ERROR, False)]
)
def test_a_build_that_was_not_run_is_not_built(verdict: Verdict, built: bool) -> None:
    build = CheckResult(name="build", kind=CheckKind.BUILD, verdict=verdict)
    done = begin(Story()).state.tasks["1.1"]
    assert record_of(replace(done, checks=(passing(), build)), None, "", 0.0).built is built
    assert record_of(replace(done, checks=(passing(),)), None, "", 0.0).built is False
