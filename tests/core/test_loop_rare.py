"""Rare turns of a sprint: an empty council, a branch moved by hand, plans that cannot start, late and foreign facts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.fold import apply
from engine.core.model import Decision, ResultKind, Role
from engine.core.other_clock import meant
from engine.core.policy import CheckpointPolicy
from engine.core.state import Breaker, State, Status
from tests.core.parts import NOW
from tests.core.story import ONE, POLICY, Story, again, bad, begin, effects_of, facts, reds, status, task
from tests.core.world import World, happy, ok, plan_of


@pytest.mark.parametrize(
    "silence",
    [
        pytest.param(bad(ResultKind.REFUSAL, cost_usd=0.01), id="refused"),
        pytest.param(ok(), id="an ending without a diagnosis"),
    ],
)
def test_a_council_that_says_nothing_blocks_the_task(silence: object) -> None:
    world = begin(Story(checks=reds(7), council=[silence] * 10))  # type: ignore[list-item]
    assert status(world) is Status.BLOCKED
    assert world.state.tasks["1.1"].reason == "no member of the Bug Council could give a diagnosis"
    assert len(world.calls(Role.COUNCILLOR)) == 10, "each seat is asked twice"
    assert world.calls(Role.SYNTHESIST) == []


def test_one_diagnosis_is_enough_and_a_failed_synthesis_hands_it_on_as_it_is() -> None:
    quiet = [bad(ResultKind.REFUSAL, cost_usd=0.01)] * 8
    world = begin(Story(checks=reds(7), council=[None, *quiet], synthesis=[bad(ResultKind.CRASH, cost_usd=0.01)] * 3))
    assert world.state.outcome == "done"
    diagnosis = world.state.tasks["1.1"].diagnosis
    assert diagnosis is not None
    assert diagnosis.root_cause == "root-cause-analyst: it is the cache"


def test_tasks_that_wait_for_each_other_end_the_run_with_words() -> None:
    world = begin(Story(), task("1.1", "1.2"), task("1.2", "1.1"))
    assert world.state.outcome == "failed"
    assert world.state.outcome_reason == "no task can start: 1.1, 1.2 wait for each other"


def test_a_plan_emptied_by_hand_is_not_done() -> None:
    world = World(happy).begin(plan_of(ONE), POLICY)
    world.append(ev.PlanChanged(plan=plan_of()))
    assert world.run().outcome == "failed"


def test_a_branch_moved_by_hand_opens_its_tasks_again() -> None:
    world = begin(Story(), ONE, task("1.2"))
    moved = ev.BranchMoved(commit="c0", tree="t0", backup="b", reason="rolled back to c0", reopened=("1.2",))
    world.append(moved)
    assert (world.state.head, status(world, "1.1"), status(world, "1.2")) == ("c0", Status.COMPLETE, Status.PENDING)
    assert again(world).outcome == "done"
    assert len(effects_of(world, ef.Commit)) == 3


def test_a_policy_with_a_shorter_ladder_is_taken_up() -> None:
    world = begin(Story(checks=reds(4)), policy=replace(POLICY, max_iterations=4))
    short = replace(POLICY, ladder=replace(POLICY.ladder, rungs=POLICY.ladder.rungs[:1]))
    world.append(ev.RetryRequested(task="1.1"))
    world.begin(plan_of(), POLICY)
    world.append(ev.PolicyChanged(policy=short))
    assert world.run().outcome == "done"
    assert world.calls()[-1] == "haiku"


def test_the_last_checkpoint_does_not_hold_up_the_end() -> None:
    only_time = CheckpointPolicy(interval_seconds=1, on_phase_change=False, on_task_complete=False, baselines=())
    assert begin(Story(), policy=replace(POLICY, checkpoints=only_time)).state.outcome == "done"


# ── facts that belong to nobody ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(ev.EffectFailed(id="99999-x", kind="permanent", message="late"), id="a failure"),
        pytest.param(ev.EffectInterrupted(id="99999-x"), id="an interruption"),
        pytest.param(ev.WaitEnded(id="99999-x"), id="a wait"),
        pytest.param(ev.GateAnswered(gate="G99", choice="yes"), id="an answer to no gate"),
        pytest.param(ev.GateAsked(gate="G99", question="?"), id="a question to no gate"),
        pytest.param(ev.GateReplied(gate="G99", id="x", answer="!"), id="a reply to no gate"),
        pytest.param(ev.Steered(task="9.9", text="x"), id="a note to no task"),
        pytest.param(ev.SkipRequested(task="9.9"), id="a skip of no task"),
        pytest.param(ev.RetryRequested(task="9.9"), id="a retry of no task"),
        pytest.param(ev.TaskEnded(task="9.9", decision=Decision.COMPLETE, reason=""), id="an end of no task"),
        pytest.param(ev.CommandHandled(command="c", name="stop", ok=True), id="an acknowledgement"),
    ],
)
def test_facts_that_belong_to_nothing_change_nothing(event: ev.AnyEvent) -> None:
    world = begin(Story(), attended=True)
    after = apply(world.state, ev.Envelope(seq=world.state.seq, stream="s", at=world.state.now, event=event))
    assert after == world.state


def test_a_clock_that_ran_ahead_makes_no_wait_longer() -> None:
    """The run before recorded times of next year; the new one starts today."""
    story = Story(implement=[bad(ResultKind.RATE)])
    world = World(story, at=NOW + 3e7).begin(plan_of(ONE), POLICY)
    while not effects_of(world, ef.Wait):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.at = NOW
    again(world)
    assert world.state.outcome == "done"
    assert world.at < NOW + 100, "nothing waited for next year"


def test_a_clock_set_back_leaves_of_a_limit_what_was_left_of_it() -> None:
    """An agent is limited for ten minutes; the next run starts two hours earlier by the wall."""
    started = ev.RunStarted(run="r", pid=1, policy=POLICY, attended=False, waits=True, sandbox="none", version="1")
    limited = replace(State(), now=NOW, limits={"claude": NOW + 600})
    after = apply(limited, ev.Envelope(seq=1, stream="s", at=NOW - 7200, event=started))
    assert after.limits == {"claude": NOW - 7200 + 600}
    later = apply(limited, ev.Envelope(seq=1, stream="s", at=NOW + 100, event=started))
    assert later.limits == {"claude": NOW + 600}, "time that passed counts"


@pytest.mark.parametrize("moved", [-7200.0, 3600.0, 86400.0, 0.5])
@pytest.mark.parametrize("same_boot", [True, False])
def test_a_clock_set_between_two_runs_of_one_boot_moves_every_deadline_along(moved: float, same_boot: bool) -> None:
    """Ten minutes of a limit are left, thirty seconds pass by the boot clock; the wall clock says something else."""
    before = replace(
        State(), now=NOW, limits={"claude": NOW + 600}, breakers={"claude": Breaker(opened_at=NOW - 5)},
        recent_calls=(NOW - 60,), boot="b1", booted_at=NOW - 1000,
    )  # fmt: skip
    at = NOW + 30 + moved
    started = ev.RunStarted(
        run="r", pid=1, policy=POLICY, attended=False, sandbox="none", version="1",
        boot="b1" if same_boot else "b2", booted_at=NOW - 1000 + moved,
    )  # fmt: skip
    after = apply(before, ev.Envelope(seq=1, stream="s", at=at, event=started))
    if not same_boot:
        assert after.limits["claude"] - at <= 600, "of another boot nothing is known: no wait is longer than it was"
        return
    assert after.limits["claude"] - at == pytest.approx(570, abs=1)
    assert at - after.breakers["claude"].opened_at == pytest.approx(35, abs=1)
    assert [at - call for call in after.recent_calls] == pytest.approx([90], abs=1)


@pytest.mark.parametrize(
    ("moment", "wall", "left"),
    [
        pytest.param(NOW + 600, NOW, 600, id="nobody set anything"),
        pytest.param(NOW + 601, NOW + 1, 601, id="a time server's second"),
        pytest.param(NOW + 3600 + 600, NOW + 3600, 600, id="it was an hour slow, and set right"),
        pytest.param(NOW - 3600 + 600, NOW - 3600, 600, id="it was an hour fast, and set right"),
        pytest.param(NOW + 600, NOW + 3600, 600, id="set an hour on by mistake"),
        pytest.param(NOW + 600, NOW - 3600, 600, id="set an hour back by mistake"),
        pytest.param(NOW - 60, NOW + 3600, -60, id="over by both"),
    ],
)
def test_a_reset_time_is_by_the_clock_that_ends_the_wait_first(moment: float, wall: float, left: float) -> None:
    assert meant(moment, NOW, wall) == NOW + left


def test_learnings_and_notes_are_kept_to_the_last() -> None:
    state = State()
    for number in range(99):
        for event in (ev.Noted(text=f"n{number}"), ev.LearningRecorded(task="1.1", text=f"l{number}")):
            state = apply(state, ev.Envelope(seq=1, stream="s", at=1.0, event=event))
    assert (len(state.notes), state.notes[-1]) == (20, "n98")
    assert (len(state.learnings), state.learnings[-1]) == (50, "l98")


def test_a_reason_is_given_with_every_decision() -> None:
    world = begin(Story(checks=reds(8)), ONE, task("1.2", "1.1"))
    for kind in (ev.Decided, ev.TaskEnded, ev.HealthChanged, ev.TaskStarted):
        assert all(event.reason for event in facts(world, kind))
