"""Whole sprints in a troubled world: limits, errors, lanes, merges, kills, housekeeping."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import ResultKind, Role, Verdict
from engine.core.policy import BreakerPolicy, CheckpointPolicy, GatePolicy, LadderPolicy, LimitPolicy
from engine.core.state import Status
from tests.core.parts import MIXED, NOW
from tests.core.story import (
    ONE,
    POLICY,
    Story,
    again,
    answer,
    bad,
    begin,
    effects_of,
    facts,
    red,
    reds,
    status,
    task,
    the_gate,
)
from tests.core.world import World, failing, ok, plan_of

AUTO = replace(POLICY, gates=GatePolicy(task="auto"))


def waits(world: World) -> list[ef.Wait]:
    return [effect for effect in world.started if isinstance(effect, ef.Wait)]


def implementers(world: World) -> list[ef.CallAgent]:
    return [effect for effect in world.started if isinstance(effect, ef.CallAgent) and effect.role is Role.IMPLEMENTER]


# ── usage limits ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_usage_limit_is_waited_for_and_the_iteration_not_charged() -> None:
    world = begin(Story(implement=[bad(ResultKind.LIMIT, reset_at=NOW + 5000)]))
    (wait,) = waits(world)
    assert (wait.until, wait.reason, wait.dependency) == (NOW + 5000, "claude usage limit", "claude")
    assert [(call.iteration, call.attempt) for call in implementers(world)] == [(1, 1), (1, 1)]
    assert world.decisions("1.1") == ["COMPLETE"]


def test_the_wait_survives_a_restart() -> None:
    story = Story(implement=[bad(ResultKind.LIMIT, reset_at=NOW + 5000)])
    world = World(story).begin(plan_of(ONE), POLICY)
    while not waits(world):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.at += 100
    again(world)
    assert [wait.until for wait in waits(world)] == [NOW + 5000, NOW + 5000]
    assert world.state.outcome == "done"
    assert world.state.tasks["1.1"].iteration == 1


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(lambda limit: Story(review=[limit]), id="the reviewer"),
        pytest.param(lambda limit: Story(checks=reds(7), council=[limit]), id="a councillor"),
        pytest.param(lambda limit: Story(checks=reds(7), synthesis=[limit]), id="the synthesis"),
    ],
)
def test_every_role_waits_for_its_limit(story: object) -> None:
    world = begin(story(bad(ResultKind.LIMIT, reset_at=NOW + 5000)))  # type: ignore[operator]
    assert [wait.until for wait in waits(world)] == [NOW + 5000]
    assert world.state.outcome == "done"


def test_a_limit_in_ten_years_ends_the_run() -> None:
    world = begin(Story(implement=[bad(ResultKind.LIMIT, reset_at=NOW + 3.2e8)]))
    assert world.state.outcome == "limit"
    assert "claude is limited for" in world.state.outcome_reason
    assert waits(world) == []
    assert status(world) is Status.RUNNING, "resumable"


def test_a_limit_without_a_reset_is_tried_again_later() -> None:
    world = begin(Story(implement=[bad(ResultKind.LIMIT)]))
    (wait,) = waits(world)
    assert 800 < wait.until - NOW < 1000


def test_a_provider_that_is_limited_for_ever_holds_nobody_for_ever() -> None:
    world = begin(Story(implement=[bad(ResultKind.LIMIT) for _ in range(99)]))
    assert world.state.outcome == "blocked"
    assert "51 times" in world.state.outcome_reason


def mixed(**fields: object) -> LadderPolicy:
    return replace(LadderPolicy(rungs=MIXED, failures=(1,), roles={"reviewer": "big"}), **fields)


def test_another_agent_takes_over_while_one_is_limited_and_sessions_are_not_mixed() -> None:
    limit = bad(ResultKind.LIMIT, reset_at=NOW + 3000)
    policy = replace(POLICY, ladder=mixed(fallback=("codex",), failures=(9,)))
    story = Story(implement=[None, limit, None, None], checks=reds(3))
    world = begin(story, replace(ONE, agent="small"), policy=policy)
    assert [(call.rung.agent, call.session) for call in implementers(world)] == [
        ("claude", ""),
        ("claude", "s"),
        ("codex", ""),
        ("codex", ""),
        ("codex", ""),
    ]
    assert waits(world) == []
    assert world.state.outcome == "done"


def test_the_old_agent_does_not_get_the_other_ones_session() -> None:
    limit = bad(ResultKind.LIMIT, reset_at=NOW + 8)
    policy = replace(POLICY, ladder=mixed(fallback=("codex",), failures=(9,)))
    world = begin(Story(implement=[limit], checks=[red()]), replace(ONE, agent="small"), policy=policy)
    assert [(call.rung.agent, call.session) for call in implementers(world)] == [
        ("claude", ""),
        ("codex", ""),
        ("claude", ""),
    ]


@pytest.mark.parametrize(
    ("reset", "outcome"),
    [pytest.param(NOW + 3.2e8, "limit", id="for years"), pytest.param(NOW + 4000, "done", id="for an hour")],
)
def test_lanes_with_another_agent_go_on(reset: float, outcome: str) -> None:
    tasks = (replace(ONE, agent="small"), task("1.2", agent="big"), task("1.3", agent="big"))
    policy = replace(POLICY, ladder=mixed(), lanes=2)
    world = begin(Story("1.1", implement=[bad(ResultKind.LIMIT, reset_at=reset)]), *tasks, policy=policy)
    assert status(world, "1.2") is Status.COMPLETE
    assert status(world, "1.3") is Status.COMPLETE
    assert world.state.outcome == outcome


def test_permits_an_hour_make_calls_wait() -> None:
    world = begin(Story(checks=reds(1)), policy=replace(POLICY, limits=LimitPolicy(calls_per_hour=2)))
    assert len(waits(world)) == 1
    assert "2 calls an hour are used up" in waits(world)[0].reason
    times = [entry.at for entry in world.log if isinstance(entry.event, ev.EffectStarted) and _calls(entry.event)]
    assert times[2] - times[0] >= 3600
    assert world.state.outcome == "done"


def _calls(event: ev.EffectStarted) -> bool:
    return isinstance(event.effect, ef.CallAgent)


# ── errors ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["rate", "overloaded", "network"])
def test_a_provider_that_is_down_is_waited_for_and_costs_no_iteration(kind: str) -> None:
    policy = replace(POLICY, breaker=BreakerPolicy(enabled=False))
    world = begin(Story(implement=[bad(ResultKind(kind))] * 9), policy=policy)
    assert (world.decisions("1.1"), world.state.outcome) == (["COMPLETE"], "done")
    assert {call.iteration for call in implementers(world)} == {1}
    assert max(wait.until for wait in waits(world)) - waits(world)[0].until > 60, "longer and longer"


@pytest.mark.parametrize("kind", ["crash", "no_result"])
def test_transient_endings_are_tried_three_times_with_backoff(kind: str) -> None:
    world = begin(Story(implement=[bad(ResultKind(kind))] * 3))
    spans = [wait.until - at for wait, at in zip(waits(world), _wait_times(world), strict=True)]
    assert 1.0 <= spans[0] <= 1.25
    assert 2.0 <= spans[1] <= 2.5
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert [call.iteration for call in implementers(world)] == [1, 1, 1, 2]


def _wait_times(world: World) -> list[float]:
    """When the failure came that each wait is for: the workspace is not prepared again before the wait is over."""
    found: list[float] = []
    last = 0.0
    for entry in world.log:
        if isinstance(entry.event, ev.AgentFinished):
            last = entry.at
        if isinstance(entry.event, ev.EffectStarted) and isinstance(entry.event.effect, ef.Wait):
            found.append(last)
    return found


def test_a_third_try_that_works_costs_no_iteration() -> None:
    world = begin(Story(implement=[bad(ResultKind.RATE)] * 2))
    assert world.decisions("1.1") == ["COMPLETE"]


def test_a_timeout_gets_twice_the_time_once() -> None:
    world = begin(Story(implement=[bad(ResultKind.TIMEOUT), bad(ResultKind.TIMEOUT)]))
    assert [call.timeout for call in implementers(world)] == [300, 600, 300]
    assert [call.iteration for call in implementers(world)] == [1, 1, 2]


@pytest.mark.parametrize("kind", ["turns", "budget", "refusal", "denied"])
def test_a_failed_attempt_is_still_held_to_its_scope(kind: str) -> None:
    world = begin(Story(implement=[bad(ResultKind(kind))]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert len(effects_of(world, ef.CheckScope)) == 2
    assert len([effect for effect in effects_of(world, ef.RunChecks) if effect.purpose == "task"]) == 1


DENIED = bad(ResultKind.DENIED, error="was refused: Bash", hint="allow it", denials=("Bash",))


def test_a_permission_denied_twice_is_a_humans_to_give() -> None:
    world = begin(Story(implement=[DENIED, DENIED]))
    assert world.state.outcome == "blocked"
    assert world.state.outcome_reason == "1.1: claude: was refused: Bash — allow it"
    assert world.decisions("1.1") == ["ITERATE"]
    assert world.calls() == ["haiku", "haiku"], "no climb for what no model can mend"
    again(world)
    assert world.state.outcome == "done"


def test_another_denial_is_another_failure() -> None:
    world = begin(Story(implement=[DENIED, replace(DENIED, error="was refused: WebFetch")]))
    assert world.state.outcome == "done"
    assert world.decisions("1.1") == ["ITERATE", "ESCALATE", "COMPLETE"]


def test_the_breaker_opens_and_a_probe_closes_it() -> None:
    policy = replace(POLICY, breaker=BreakerPolicy(threshold=2, reset_seconds=60))
    world = begin(Story(implement=[bad(ResultKind.NETWORK)] * 2), policy=policy)
    reasons = [wait.reason for wait in waits(world)]
    assert any("claude failed 2 times in a row: breaker open" in reason for reason in reasons)
    assert world.state.breakers["claude"].failures == 0
    assert world.state.outcome == "done"


# ── what a human must mend ─────────────────────────────────────────────────────────────────────────────────────────

LOGIN = bad(ResultKind.AUTH, hint="claude login")


@pytest.mark.parametrize("kind", ["auth", "billing", "model"])
def test_attended_a_mended_blocker_lets_the_same_iteration_go_on(kind: str) -> None:
    world = begin(Story(implement=[bad(ResultKind(kind), hint="claude login")]), policy=AUTO, attended=True)
    assert the_gate(world) == "blocked"
    assert "to do: claude login" in world.state.open_gates()[0].body
    answer(world, "retry")
    assert [(call.iteration, call.attempt) for call in implementers(world)] == [(1, 1), (1, 1)]
    assert world.state.outcome == "done"


def test_unattended_the_run_ends_blocked_names_the_cure_and_resumes() -> None:
    world = begin(Story(implement=[LOGIN]))
    assert world.state.outcome == "blocked"
    assert world.state.outcome_reason == "1.1: claude: it said auth — claude login"
    assert status(world) is Status.RUNNING
    again(world)
    assert world.state.outcome == "done"
    assert [call.iteration for call in implementers(world)] == [1, 1]


def test_a_new_run_tries_what_waited_for_a_human_again() -> None:
    world = begin(Story(implement=[LOGIN]), policy=AUTO, attended=True, waits=False)
    assert world.state.outcome == "blocked"
    again(world, attended=True)
    assert world.state.outcome == "done"
    assert world.state.open_gates() == []


@pytest.mark.parametrize("place", ["review", "council", "synthesis"])
def test_every_role_can_be_mended(place: str) -> None:
    surprises = {"checks": reds(7), place: [LOGIN]}
    if place == "review":
        surprises["checks"] = []
    world = begin(Story(**surprises), policy=AUTO, attended=True)  # type: ignore[arg-type]
    assert the_gate(world) == "blocked"
    answer(world, "retry")
    assert world.state.outcome == "done"
    assert world.state.councils == (place != "review")


def test_while_one_lane_waits_for_a_login_the_others_go_on() -> None:
    tasks = (replace(ONE, agent="small"), task("1.2", agent="big"), task("1.3", agent="big"))
    world = begin(Story("1.1", implement=[LOGIN]), *tasks, policy=replace(POLICY, ladder=mixed(), lanes=2))
    assert world.state.outcome == "blocked"
    assert [status(world, name) for name in ("1.2", "1.3")] == [Status.COMPLETE, Status.COMPLETE]


# ── the engine's own failures ──────────────────────────────────────────────────────────────────────────────────────


def fails(kind: str) -> object:
    return lambda effect: [ev.EffectFailed(id=effect.id, kind=kind, message="git: no space", hint="free some")]


@pytest.mark.parametrize("place", ["workspace", "implement", "scope", "checks", "review", "commit"])
def test_a_transient_failure_is_done_again(place: str) -> None:
    world = begin(Story(**{place: [fails("transient"), fails("recoverable")]}))  # type: ignore[arg-type]
    assert world.decisions("1.1") == ["COMPLETE"]
    assert len(waits(world)) == 2
    assert world.state.outcome == "done"


@pytest.mark.parametrize("place", ["workspace", "implement", "scope", "checks", "review", "commit"])
def test_a_permanent_one_blocks_the_task_and_never_passes_it(place: str) -> None:
    world = begin(Story("1.1", **{place: [fails("permanent")]}), ONE, task("1.2"))  # type: ignore[arg-type]
    assert status(world) is Status.BLOCKED
    assert world.state.tasks["1.1"].reason == "git: no space — free some"
    assert status(world, "1.2") is Status.COMPLETE
    assert world.state.outcome == "blocked"


@pytest.mark.parametrize("place", ["workspace", "implement", "scope", "checks", "review", "commit"])
def test_mended_by_hand_it_goes_on_where_it_was_and_ends_complete(place: str) -> None:
    world = begin(Story(**{place: [fails("permanent")]}), policy=AUTO, attended=True)  # type: ignore[arg-type]
    assert the_gate(world) == "blocked"
    answer(world, "retry")
    assert status(world) is Status.COMPLETE
    assert world.state.tasks["1.1"].iteration == 1
    assert world.state.outcome == "done"


@pytest.mark.parametrize("place", ["sprint_workspace", "baseline", "final"])
@pytest.mark.parametrize(
    ("kinds", "outcome"),
    [
        pytest.param(["transient"], "done", id="once"),
        pytest.param(["transient"] * 3, "failed", id="three times"),
        pytest.param(["permanent"], "failed", id="for good"),
    ],
)
def test_the_sprints_own_failures(place: str, kinds: list[str], outcome: str) -> None:
    world = begin(Story(**{place: [fails(kind) for kind in kinds]}))  # type: ignore[arg-type]
    assert world.state.outcome == outcome
    assert ("git: no space — free some" in world.state.outcome_reason) is (outcome == "failed")


def test_a_checkpoint_that_fails_is_noted_and_stops_nothing() -> None:
    world = begin(Story(save_checkpoint=[fails("permanent")], create_baseline=[fails("permanent")]))  # type: ignore[list-item]
    assert world.state.outcome == "done"
    assert world.state.notes.count("git: no space — free some") == 2


# ── lanes and merges ───────────────────────────────────────────────────────────────────────────────────────────────


def test_independent_tasks_run_in_parallel_lanes() -> None:
    world = World(Story()).begin(plan_of(ONE, task("1.2"), task("1.3", "1.1")), replace(POLICY, lanes=3))
    while len(world.calls()) < 2:
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    assert {call.task: call.lane for call in world.state.calls_in_flight()} == {"1.1": 0, "1.2": 1}
    assert world.state.reserved_usd() == 0.5
    assert world.run(lambda waiting: waiting[-1]).outcome == "done"


def test_a_clean_merge_is_judged_and_approved_again() -> None:
    moved = _moved("merged")
    world = begin(Story(commit=[moved]), attended=True)
    answer(world, "yes")
    (gate,) = world.state.open_gates()
    assert gate.tree == "merged", "the approval of the old tree is void"
    answer(world, "yes")
    assert [effect.tree for effect in effects_of(world, ef.Commit)][-1] == "merged"
    checked = [effect.tree for effect in effects_of(world, ef.RunChecks) if effect.purpose == "task"]
    assert checked[-1] == "merged"
    assert world.decisions("1.1") == ["COMPLETE", "COMPLETE"]
    assert world.state.tasks["1.1"].iteration == 1


def test_a_merge_that_breaks_the_checks_is_no_pass() -> None:
    world = begin(Story(commit=[_moved("merged")], checks=[None, failing("test_a")]))
    assert world.decisions("1.1") == ["COMPLETE", "ITERATE", "COMPLETE"]


def test_a_conflict_runs_the_task_again_on_the_new_base_even_at_its_last_iteration() -> None:
    world = begin(Story(commit=[_moved("")]), policy=replace(POLICY, max_iterations=1))
    prepared = effects_of(world, ef.PrepareWorkspace)[-1]
    assert (prepared.iteration, prepared.tree, prepared.base) == (2, "", "")
    assert "another task changed the same places: a.py" in world.state.tasks["1.1"].comments[0]
    assert world.state.outcome == "done"


def test_no_tree_of_the_old_base_is_ever_gone_back_to() -> None:
    patient = replace(POLICY, ladder=replace(POLICY.ladder, failures=(9, 9, 9)))
    counts = [None, red(0, passed=1), red(1, passed=1)]
    world = begin(Story(commit=[_moved("merged")], checks=counts), policy=patient)  # type: ignore[arg-type]
    old = {event.tree for event in facts(world, ev.ScopeChecked)[:1]}
    assert not old & {effect.tree for effect in effects_of(world, ef.Rollback)}


def _moved(tree: str) -> object:
    return lambda effect: [ev.BaseMoved(id=effect.id, task=effect.task, base="c9", tree=tree, conflicts=("a.py",))]


# ── housekeeping ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_checkpoints_and_baselines_are_asked_for_at_their_moments() -> None:
    world = begin(Story(), ONE, task("1.2"), task("2.1"), phases=2)
    reasons = [effect.reason for effect in effects_of(world, ef.SaveCheckpoint)]
    assert reasons == ["task 1.1 complete", "batch-1: phase 1 complete", "batch-2: phase 2 complete"]
    milestones = [effect.milestone for effect in effects_of(world, ef.CreateBaseline)]
    assert milestones[:2] == ["sprint_start", "session_start"]
    assert sorted(milestones[2:]) == [
        "all_tests_passing",
        "feature_complete-1.1",
        "feature_complete-1.2",
        "feature_complete-2.1",
        "sprint_end",
    ]
    again(world)
    later = [effect.milestone for effect in effects_of(world, ef.CreateBaseline)][len(milestones) :]
    assert later == ["session_start"], "a finished sprint is only looked at again"


def test_a_checkpoint_every_so_often() -> None:
    policy = replace(POLICY, checkpoints=CheckpointPolicy(interval_seconds=3, on_task_complete=False, baselines=()))
    world = begin(Story(), policy=replace(policy, checkpoints=replace(policy.checkpoints, on_phase_change=False)))
    assert {effect.reason for effect in effects_of(world, ef.SaveCheckpoint)} == {"every 0 min"}


def test_all_of_it_can_be_switched_off() -> None:
    off = CheckpointPolicy(interval_seconds=0, on_phase_change=False, on_task_complete=False, baselines=())
    world = begin(Story(), policy=replace(POLICY, checkpoints=off))
    assert effects_of(world, ef.SaveCheckpoint) == effects_of(world, ef.CreateBaseline) == []


def test_red_final_checks_make_no_baseline_of_green_tests() -> None:
    world = begin(Story(final=[failing("x", verdict=Verdict.ERROR)]))
    assert "all_tests_passing" not in [effect.milestone for effect in effects_of(world, ef.CreateBaseline)]


# ── kill at any moment ─────────────────────────────────────────────────────────────────────────────────────────────


def eventful() -> Story:
    return Story("1.1", checks=[red(), None], scope=[None, None], review=[ok(), None])


TASKS = (ONE, task("1.2", "1.1"))


def undisturbed() -> World:
    return begin(eventful(), *TASKS)


@pytest.mark.parametrize("landed", [False, True], ids=["before it landed", "after it landed"])
def test_a_kill_at_every_effect_boundary_costs_nothing_but_money(landed: bool) -> None:
    """The engine dies with its n-th effect under way, or right after it; the next run ends the same."""
    calm = undisturbed()
    expected = [(event.task, event.decision) for event in facts(calm, ev.TaskEnded)]
    for boundary in range(len(calm.started)):
        world = World(eventful()).begin(plan_of(*TASKS), POLICY)
        while world.state.running and len(world.started) <= boundary:
            if not world.turn():
                world.land(next(iter(world.state.inflight.values())))
        if landed and world.state.inflight:
            world.land(next(iter(world.state.inflight.values())))
        if world.state.running:
            again(world)
        assert [(event.task, event.decision) for event in facts(world, ev.TaskEnded)] == expected, boundary
        assert world.decisions("1.1") == calm.decisions("1.1"), boundary
        assert len(facts(world, ev.Committed)) == 2, boundary
        assert world.state.outcome == "done"
        made = {baseline.milestone for baseline in world.state.baselines}
        assert made == {baseline.milestone for baseline in calm.state.baselines}, boundary


def test_a_run_that_ended_over_a_call_has_paid_for_it_and_prepares_anew() -> None:
    world = World(Story()).begin(plan_of(ONE), POLICY)
    while not world.calls():
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.append(ev.RunEnded(run=world.state.run, outcome="error", reason="the journal is full"))
    assert world.state.spent_usd == 0.25
    assert world.state.inflight == {}
    before = len(effects_of(world, ef.PrepareWorkspace))
    assert again(world).outcome == "done"
    assert len(effects_of(world, ef.PrepareWorkspace)) == before + 1, "the lane gets the tree the attempt started from"
