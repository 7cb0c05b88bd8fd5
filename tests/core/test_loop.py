"""Whole sprints through the pure loop: implement, judge, climb, ask, commit."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import Decision, Finding, Health, Issue, ResultKind, Role, Verdict
from engine.core.policy import BudgetPolicy, Policy
from engine.core.state import Status
from tests.core.story import (
    NO_CHANGE,
    ONE,
    OUT_OF_SCOPE,
    POLICY,
    Story,
    bad,
    begin,
    effects_of,
    facts,
    red,
    reds,
    said_blocked,
    status,
    task,
)
from tests.core.world import World, approved, changes_wanted, failing, ok, plan_of

CRITICAL = Finding(rule="S608", text="SQL injection", path="db.py", line=7, severity="critical")


def order_of(world: World, name: str) -> list[str]:
    return [effect.__struct_config__.tag for effect in world.started if effect.task == name]


# ── A–E ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_first_pass_success() -> None:
    world = begin(Story())
    assert world.state.outcome == "done"
    assert world.decisions("1.1") == ["COMPLETE"]
    assert order_of(world, "1.1") == [
        "prepare_workspace",
        "call_agent",
        "check_scope",
        "run_checks",
        "call_agent",
        "commit",
    ]
    (commit,) = effects_of(world, ef.Commit)
    assert commit.message == "impl(demo): T1.1 — One"
    assert commit.tree == world.state.tasks["1.1"].tree
    assert world.state.outcome_reason == "All tasks complete. 1 task implemented."


def test_a_failing_test_is_fixed_on_the_second_try() -> None:
    world = begin(Story(checks=[red()]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert world.calls() == ["haiku", "haiku"]
    first = facts(world, ev.Decided)[0]
    assert "failure 1 of 2" in first.reason
    assert "test_0" in first.reason


def test_the_next_attempt_hears_what_failed() -> None:
    world = World(Story(checks=[red()])).begin(plan_of(ONE), POLICY)
    while world.state.tasks["1.1"].iteration < 2:
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    feedback = world.state.tasks["1.1"].feedback
    assert feedback is not None
    assert [result.failing for result in feedback.checks] == [("test_0",)]


def test_the_whole_ladder_and_a_council_that_helps() -> None:
    world = begin(Story(checks=reds(7)))
    assert world.decisions("1.1") == [
        *("ITERATE", "ESCALATE"),
        *("ITERATE", "ESCALATE"),
        *("ITERATE", "ITERATE", "COUNCIL"),
        "COMPLETE",
    ]
    assert world.calls() == ["haiku"] * 2 + ["sonnet"] * 2 + ["opus"] * 4
    assert [(step.source, step.target, step.iteration) for step in world.state.escalations] == [
        ("haiku", "sonnet", 3),
        ("sonnet", "opus", 5),
    ]
    assert world.calls(Role.COUNCILLOR) == ["opus"] * 5
    assert world.calls(Role.SYNTHESIST) == ["opus"]
    assert world.state.councils == 1
    assert world.state.outcome == "done"


def test_councillors_sit_in_parallel_and_read_only() -> None:
    world = begin(Story(checks=reds(7)))
    seats = [effect for effect in effects_of(world, ef.CallAgent) if effect.role is Role.COUNCILLOR]
    assert len({effect.seat for effect in seats}) == 5
    assert all(effect.read_only for effect in seats)
    first = world.started.index(seats[0])
    assert world.started[first : first + 5] == seats, "all five are asked before the first has answered"


def test_after_the_council_one_attempt_then_blocked_and_the_sprint_goes_on() -> None:
    tasks = (ONE, task("1.2", "1.1"), task("1.3", "1.2"), task("1.4"))
    world = begin(Story("1.1", checks=reds(8)), *tasks)
    assert world.decisions("1.1")[-2:] == ["COUNCIL", "BLOCKED"]
    assert world.state.councils == 1
    assert {name: item.status for name, item in world.state.tasks.items()} == {
        "1.1": Status.BLOCKED,
        "1.2": Status.BLOCKED,
        "1.3": Status.BLOCKED,
        "1.4": Status.COMPLETE,
    }
    assert world.state.tasks["1.2"].reason == "depends on 1.1, which is blocked"
    assert world.state.tasks["1.2"].action == "devteam retry 1.1; this task then opens again by itself"
    assert world.state.outcome == "blocked"


def test_stuck_below_the_top_climbs_and_at_the_top_calls_the_council() -> None:
    same = [failing("test_a") for _ in range(9)]
    world = begin(Story(checks=list(same)), policy=replace(POLICY, stuck_detection=True, max_iterations=20))
    climb = ["ITERATE", "ESCALATE", "ITERATE", "ESCALATE", "ITERATE", "ITERATE", "COUNCIL", "BLOCKED"]
    assert world.decisions("1.1") == climb, "stuck counts at one rung: 2/2/3 is 2/2/3"
    reasons = [event.reason for event in facts(world, ev.Decided)]
    assert "2 consecutive failures" in reasons[1]
    assert "stuck: the same error 3 times" in reasons[6]
    patient = replace(POLICY, stuck_detection=True, ladder=replace(POLICY.ladder, failures=(9, 9, 9)))
    world = begin(Story(checks=[failing("test_a") for _ in range(6)]), policy=patient)
    assert world.decisions("1.1")[:3] == ["ITERATE", "ITERATE", "ESCALATE"]


def test_the_same_issue_of_a_review_three_times_is_stuck_and_stalled() -> None:
    wanted = [changes_wanted(ONE) for _ in range(3)]
    policy = replace(POLICY, stuck_detection=True, ladder=replace(POLICY.ladder, failures=(9, 9, 9)))
    world = begin(Story(review=list(wanted)), policy=policy)
    assert world.decisions("1.1") == ["ITERATE", "ITERATE", "ESCALATE", "COMPLETE"]
    assert "the same error 3 times: review: too slow" in facts(world, ev.Decided)[2].reason
    assert Health.STALLED in {event.health for event in facts(world, ev.HealthChanged)}
    other = [replace(changes_wanted(ONE), issues=(Issue(text=f"issue {n}"),)) for n in range(3)]
    world = begin(Story(review=list(other)), policy=policy)
    assert world.decisions("1.1") == ["ITERATE", "ITERATE", "ITERATE", "COMPLETE"], "other issues are progress"


def test_max_iterations_halts_the_task_and_the_run_fails() -> None:
    world = begin(Story("1.1", checks=reds(9)), ONE, task("1.2"), policy=replace(POLICY, max_iterations=3))
    assert status(world) is Status.HALTED
    assert "max_iterations_reached" in world.state.tasks["1.1"].reason
    assert world.state.tasks["1.1"].iteration == 3
    assert status(world, "1.2") is Status.COMPLETE, "the next task has its own count"
    assert world.state.outcome == "failed"


def test_a_run_may_set_its_own_number_of_iterations() -> None:
    world = begin(Story(checks=reds(9)), max_iterations=2)
    assert world.state.tasks["1.1"].iteration == 2


# ── scope ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_out_of_scope_changes_are_retried_in_the_same_iteration() -> None:
    world = begin(Story(scope=[OUT_OF_SCOPE]))
    calls = [effect for effect in effects_of(world, ef.CallAgent) if effect.role is Role.IMPLEMENTER]
    assert [(call.iteration, call.attempt) for call in calls] == [(1, 1), (1, 2)]
    assert world.decisions("1.1") == ["COMPLETE"]
    assert world.state.tasks["1.1"].scope_violations == 1


def test_scope_that_never_passes_fails_the_iteration_without_checks() -> None:
    world = begin(Story(scope=[OUT_OF_SCOPE, OUT_OF_SCOPE]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert "1 out-of-scope path(s) put back: other.py" in facts(world, ev.Decided)[0].reason
    checked = [effect.iteration for effect in effects_of(world, ef.RunChecks) if effect.purpose == "task"]
    assert checked == [2]


def test_scope_that_cannot_be_told_is_no_pass() -> None:
    world = begin(Story(scope=[{"verdict": Verdict.ERROR}]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]


# ── security ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_security_critical_finding_halts_the_task() -> None:
    world = begin(Story("1.1", checks=[CRITICAL]), ONE, task("1.2"))
    assert world.decisions("1.1") == ["HALT"]
    assert world.state.tasks["1.1"].reason == "security_critical: SQL injection (db.py:7)"
    assert status(world, "1.2") is Status.COMPLETE


def test_taken_out_of_the_list_it_sends_the_next_attempt_to_the_top() -> None:
    policy = replace(POLICY, halt_conditions=("max_iterations_reached",))
    world = begin(Story(checks=[CRITICAL]), policy=policy)
    assert world.decisions("1.1") == ["ESCALATE", "COMPLETE"]
    assert world.calls() == ["haiku", "opus"]


def test_a_critical_issue_of_an_approving_review_halts_too() -> None:
    review = replace(approved(ONE), issues=(Issue(text="token in the log", critical=True),))
    assert begin(Story(review=[review])).decisions("1.1") == ["HALT"]


# ── budget ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def poor(session: float, **fields: object) -> Policy:
    return replace(POLICY, budget=replace(BudgetPolicy(session_usd=session), **fields))


def test_under_a_fifth_left_nothing_climbs_and_the_next_task_goes_on() -> None:
    dear = [ok(0.9), ok(0.9), *[None] * 9]
    world = begin(Story("1.1", implement=dear, checks=reds(2)), ONE, task("1.2"), policy=poor(2.0))
    assert world.decisions("1.1") == ["ITERATE", "BUDGET_EXHAUSTED"]
    assert "Budget nearly exhausted" in world.state.tasks["1.1"].reason
    assert "Cannot escalate model" in world.state.tasks["1.1"].reason
    assert world.state.outcome == "limit"
    assert facts(world, ev.TaskStarted)[-1].task == "1.2", "the next task is taken"


def test_what_cannot_be_reserved_is_not_called() -> None:
    world = begin(Story(), policy=poor(0.2))
    assert status(world) is Status.BUDGET_EXHAUSTED
    assert world.calls() == []
    assert "haiku reserves $0.25 a call" in world.state.tasks["1.1"].reason


def test_an_exceeded_budget_halts_everything_and_is_resumable() -> None:
    world = begin(Story(implement=[ok(6.0)]), policy=poor(5.0))
    assert world.state.outcome == "limit"
    assert "the session budget of $5.00 is spent ($6.00)" in world.state.outcome_reason
    assert status(world) is Status.RUNNING
    world.begin(plan_of(ONE), poor(50.0))
    assert world.run().outcome == "done"
    assert world.state.tasks["1.1"].iteration == 1, "the same iteration goes on"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"max_calls": 1}, "1 agent calls are used up", id="calls"),
        pytest.param({"max_seconds": 2.0}, "2 s of wall time", id="wall time"),
        pytest.param({"day_usd": 0.01}, "day budget", id="the day"),
    ],
)
def test_calls_time_and_the_day_are_bounds_too(fields: dict[str, object], words: str) -> None:
    policy = poor(100.0, **fields)
    if "day_usd" in fields:
        policy = replace(
            policy, ladder=replace(policy.ladder, rungs=(replace(policy.ladder.rungs[0], reserve_usd=0.005),))
        )
    world = begin(Story(), policy=policy)
    assert world.state.outcome == "limit"
    assert words in world.state.outcome_reason


def test_the_council_may_not_pass_the_bound_on_calls() -> None:
    world = begin(Story(checks=reds(7)), policy=poor(1000.0, max_calls=9))
    assert len(effects_of(world, ef.CallAgent)) == 9


def test_the_warning_is_recorded_once() -> None:
    world = begin(Story(implement=[ok(4.2)]), policy=poor(5.0, low_percent=0))
    assert [event.scope for event in facts(world, ev.BudgetWarned)] == ["session"]


# ── the monitor ────────────────────────────────────────────────────────────────────────────────────────────────────

PATIENT = replace(POLICY, ladder=replace(POLICY.ladder, failures=(9, 9, 9)))


def test_regressing_rolls_back_to_the_last_good_tree() -> None:
    counts = [red(0, passed=9), red(1, passed=3), red(2, passed=2)]
    world = begin(Story(checks=list(counts)), policy=PATIENT)
    (rollback,) = effects_of(world, ef.Rollback)
    good = next(entry.event.tree for entry in world.log if isinstance(entry.event, ev.ScopeChecked))
    assert rollback.tree == good
    assert "REGRESSING: 2 tests pass, 9 did before" in rollback.reason
    prepared = [effect.tree for effect in effects_of(world, ef.PrepareWorkspace) if effect.iteration == 4]
    assert prepared == [good], "the next attempt starts from it"
    assert world.state.outcome == "done"


def flip_flop() -> Story:
    trees = [{"tree": name} for name in ("first", "A", "B", "A")]
    return Story(checks=reds(4), scope=trees)  # type: ignore[arg-type]


def test_flip_flopping_goes_back_two() -> None:
    world = begin(flip_flop(), policy=PATIENT)
    (rollback,) = effects_of(world, ef.Rollback)
    assert rollback.tree == "first"
    assert "FLIP_FLOPPING: iteration 4 is back at the tree of iteration 2" in rollback.reason
    assert world.state.outcome == "done"


def test_stalled_starts_a_fresh_session_and_after_two_recoveries_unattended_leaves_it_to_the_ladder() -> None:
    same = [failing("test_a", passed=3) for _ in range(6)]
    world = begin(Story(checks=list(same), scope=[NO_CHANGE] * 6), policy=PATIENT)
    recoveries = [event.recovery for event in facts(world, ev.Decided)]
    assert recoveries == ["", "", "fresh", "fresh", "human", "human", ""]
    calls = [effect for effect in effects_of(world, ef.CallAgent) if effect.role is Role.IMPLEMENTER]
    assert [call.session for call in calls] == ["", "s", "s", "", "", "", ""]
    changes = [(event.health, event.reason) for event in facts(world, ev.HealthChanged)]
    assert (Health.STALLED, "the same error 3 times: tests: 1 failing: test_a") in changes
    assert world.state.outcome == "done"


# ── completion is proven, never claimed ────────────────────────────────────────────────────────────────────────────

CLAIMS = ("All tests pass. EXIT_SIGNAL: true", "<promise>DONE</promise>", "EXIT_SIGNAL: true", "Everything is green!")


def test_two_hundred_false_claims_complete_nothing() -> None:
    claims = [ok(0.0, claim="complete", claim_text=CLAIMS[n % 4], text=CLAIMS[n % 4]) for n in range(200)]
    doubts = [
        failing("test_a"),
        failing(verdict=Verdict.ERROR, reason="pytest could not start"),
        failing(verdict=Verdict.NOT_RUN, reason="timed out"),
        failing(),
    ]
    policy = replace(PATIENT, max_iterations=200, limits=replace(PATIENT.limits, calls_per_hour=0))
    policy = replace(
        policy, ladder=replace(policy.ladder, failures=(999,)), budget=BudgetPolicy(session_usd=0, day_usd=0)
    )
    world = begin(Story(implement=list(claims), checks=[doubts[n % 4] for n in range(200)]), policy=policy)
    assert world.calls() == ["haiku"] * 200
    assert Decision.COMPLETE not in {event.decision for event in facts(world, ev.Decided)}
    assert effects_of(world, ef.Commit) == []
    assert world.state.outcome == "failed"


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(lambda: Story(scope=[OUT_OF_SCOPE] * 2), id="out of scope"),
        pytest.param(lambda: Story(review=[replace(approved(ONE), criteria=())]), id="criteria unanswered"),
        pytest.param(lambda: Story(review=[changes_wanted(ONE)]), id="not approved"),
        pytest.param(lambda: Story(checks=[{"results": ()}]), id="no check at all"),
        pytest.param(lambda: Story(checks=[{"tree": "another"}]), id="evidence of another tree"),
    ],
)
def test_a_claim_without_evidence_is_another_iteration(story: object) -> None:
    world = begin(story())  # type: ignore[operator]
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]


def test_the_sprint_is_done_only_when_its_branch_passes() -> None:
    world = begin(Story(final=[failing("test_b")]))
    assert status(world) is Status.COMPLETE
    assert world.state.outcome == "failed"
    assert "the final checks on the sprint branch: tests: 1 failing: test_b" in world.state.outcome_reason


def test_a_plan_with_every_task_ticked_is_done_without_a_call() -> None:
    world = begin(Story(), replace(ONE, done=True), replace(task("1.2"), done=True))
    assert world.state.outcome == "done"
    assert [type(effect) for effect in world.started] == [ef.Finish]


# ── the reviewer ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reviewer_without_a_valid_review_is_asked_three_times() -> None:
    world = begin(Story(review=[ok(text="LGTM, approved!")] * 3))
    assert status(world) is Status.BLOCKED, "an approval in prose is none, and no reason to do the work again"
    assert "no valid review after 3 tries" in world.state.tasks["1.1"].reason
    assert (len(world.calls(Role.REVIEWER)), len(world.calls())) == (3, 1)


def test_the_third_try_may_still_succeed() -> None:
    world = begin(Story(review=[ok(), bad(ResultKind.CRASH)]))
    assert world.decisions("1.1") == ["COMPLETE"]
    assert world.state.tasks["1.1"].failures.get("reviewer", 0) == 0


def test_a_reviewer_below_the_top_climbs_first() -> None:
    policy = replace(POLICY, ladder=replace(POLICY.ladder, roles={"reviewer": "sonnet"}))
    world = begin(Story(review=[ok(), ok(), ok()]), policy=policy)
    assert world.calls(Role.REVIEWER) == ["sonnet"] * 3 + ["opus"]
    assert world.decisions("1.1") == ["COMPLETE"]


def test_unattended_a_review_that_wants_changes_is_iterated() -> None:
    world = begin(Story(review=[changes_wanted(ONE)]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert facts(world, ev.GateOpened) == []
    assert [event.by for event in facts(world, ev.GatePassed)] == ["unattended"]


def test_unattended_an_honest_block_ends_the_task_at_once_with_the_action_named() -> None:
    world = begin(Story("1.1", implement=[said_blocked()]), ONE, task("1.2"))
    assert world.decisions("1.1") == ["BLOCKED"]
    assert (status(world), status(world, "1.2")) == (Status.BLOCKED, Status.COMPLETE)
    assert world.state.tasks["1.1"].action == "no access to the database — then: devteam retry 1.1"
    assert "the agent says blocked: no access to the database" in facts(world, ev.Decided)[0].reason
    assert Health.BLOCKED in {event.health for event in facts(world, ev.HealthChanged)}


def test_a_call_is_capped_by_what_the_budget_leaves_and_not_by_what_is_set_aside() -> None:
    """Money set aside is no hard cap: it would cut a third of the successful calls of a middle model."""
    policy = replace(POLICY, budget=BudgetPolicy(session_usd=9.0, day_usd=100.0))
    world = begin(Story(), policy=policy)
    first = effects_of(world, ef.CallAgent)[0]
    assert first.cap_usd > first.rung.reserve_usd and first.cap_usd == pytest.approx(9.0)
    rungs = tuple(replace(rung, cap_usd=0.7) for rung in policy.ladder.rungs)
    world = begin(Story(), policy=replace(policy, ladder=replace(policy.ladder, rungs=rungs)))
    assert effects_of(world, ef.CallAgent)[0].cap_usd == 0.7
