"""Whole sprints with somebody at the gates: fix gate, task gate, blocked prompt, and every other command."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer as Reply
from engine.core.commands import Cancel, LandNow, Pause, Resume, Retry, SetAttended, SetAuto, Skip, Steer, Stop
from engine.core.decide import decide
from engine.core.model import Health, ResultKind, Role
from engine.core.orders import obey
from engine.core.policy import GatePolicy
from engine.core.state import Status
from engine.core.task_state import Step
from tests.core.parts import RUNGS
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
    order,
    red,
    reds,
    said_blocked,
    status,
    task,
    the_gate,
)
from tests.core.world import World, changes_wanted, failing, ok, plan_of

AUTO = replace(POLICY, gates=GatePolicy(task="auto"))


def needing(times: int, **more: object) -> World:
    """At the fix gate, with a reviewer who wants changes so many times."""
    return begin(Story(review=[changes_wanted(ONE) for _ in range(times)]), policy=AUTO, attended=True, **more)  # type: ignore[arg-type]


# ── the fix gate ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_fix_gate_yes_passes_the_review_on() -> None:
    world = needing(1)
    assert the_gate(world) == "fix"
    assert world.state.running, "the engine waits, with no effect under way"
    assert world.state.inflight == {}
    answer(world, "y")
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert world.state.outcome == "done"


def test_fix_gate_auto_asks_no_more_until_forced() -> None:
    world = needing(4)
    answer(world, "auto")
    assert world.state.tasks["1.1"].fix_attempts == 3, "the second went by itself"
    (gate,) = world.state.open_gates()
    assert gate.forced
    assert "have not converged after 3 attempts" in gate.body
    answer(world, "yes")
    assert the_gate(world) == "fix", "every attempt from the third on is asked for"
    answer(world, "yes")
    assert world.state.outcome == "done"


def test_auto_can_be_taken_back() -> None:
    world = needing(2)
    (gate,) = world.state.open_gates()
    world.append(*obey(world.state, Reply(gate=gate.id, choice="auto")).events)
    order(world, SetAuto(gate_kind="fix", auto=False))
    assert the_gate(world) == "fix"
    assert not world.state.auto_mode("fix")


def test_fix_gate_skip_overrides_the_reviewer_and_the_task_is_complete() -> None:
    world = needing(1)
    answer(world, "skip")
    assert status(world) is Status.COMPLETE
    assert world.state.tasks["1.1"].reason == "you overrode the reviewer"
    assert len(effects_of(world, ef.Commit)) == 1
    assert world.state.outcome == "done"


def test_fix_gate_ask_answers_and_changes_nothing() -> None:
    world = needing(1)
    before = world.state.tasks["1.1"]
    answer(world, "ask", "why is it slow?")
    assert world.state.tasks["1.1"] == replace(
        before, calls=world.state.tasks["1.1"].calls, spent_usd=before.spent_usd + 0.01
    )
    (gate,) = world.state.open_gates()
    assert gate.questions == (("why is it slow?", "because"),)
    (call,) = [effect for effect in effects_of(world, ef.CallAgent) if effect.role is Role.ANSWERER]
    assert (call.read_only, call.question, call.gate) == (True, "why is it slow?", gate.id)


def test_fix_gate_comment_goes_to_the_next_attempt_verbatim() -> None:
    world = needing(1)
    answer(world, "comment", "use  argon2,\nnot bcrypt")
    assert world.state.tasks["1.1"].comments == ("use  argon2,\nnot bcrypt",)
    assert world.state.outcome == "done"


def test_unmet_criteria_of_an_approving_review_reach_the_fix_gate() -> None:
    unmet = replace(changes_wanted(ONE), approved=True, issues=())
    world = begin(Story(review=[unmet]), policy=AUTO, attended=True)
    assert the_gate(world) == "fix"
    assert "unmet: fast" in world.state.open_gates()[0].body


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(bad(ResultKind.LIMIT, reset_at=1_000_500.0), id="usage limit"),
        pytest.param(bad(ResultKind.AUTH), id="no login"),
        pytest.param(bad(ResultKind.CRASH), id="crash"),
        pytest.param(lambda call: [ev.EffectFailed(id=call.id, kind="permanent", message="no fork")], id="not started"),
        pytest.param(lambda call: [ev.EffectFailed(id=call.id, kind="transient", message="no fork")], id="sneezed"),
    ],
)
def test_a_question_that_finds_no_answer_is_said_so_once_and_the_task_goes_on(trouble: object) -> None:
    world = begin(Story(answer=[trouble]), attended=True)  # type: ignore[list-item]
    assert the_gate(world) == "task"
    answer(world, "ask", "is it good?")
    (gate,) = world.state.open_gates()
    assert gate.questions[0][1].startswith("(no answer: ")
    assert len(world.calls(Role.ANSWERER)) == 1
    answer(world, "yes")
    assert status(world) is Status.COMPLETE
    assert world.state.outcome == "done"
    assert effects_of(world, ef.Wait) == []


def test_a_question_nobody_may_be_paid_for_is_declined_with_words() -> None:
    story = Story(review=[bad(ResultKind.LIMIT, reset_at=3e9), None])
    world = begin(story, policy=replace(POLICY, review=False), attended=True)
    world.append(replace(_limit_fact(world), id="x"))
    answer(world, "ask", "is it good?")
    assert world.state.running, "a question ends no run"
    assert "no answer now: claude is limited for" in world.state.open_gates()[0].questions[0][1]
    answer(world, "yes")
    assert status(world) is Status.COMPLETE


def _limit_fact(world: World) -> ev.AgentFinished:
    call = next(effect for effect in world.started if isinstance(effect, ef.CallAgent))
    return ev.AgentFinished(
        id=call.id, task="", role=Role.ANSWERER, rung=call.rung, result=bad(ResultKind.LIMIT, reset_at=3e9)
    )


# ── the task gate ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_task_gate_yes_commits_the_tree_that_was_seen() -> None:
    world = begin(Story(), attended=True)
    (gate,) = world.state.open_gates()
    assert gate.kind == "task"
    assert effects_of(world, ef.Commit) == []
    answer(world, "yes")
    (commit,) = effects_of(world, ef.Commit)
    assert (commit.tree, commit.evidence) == (gate.tree, gate.evidence)


def test_task_gate_auto_lets_the_rest_through() -> None:
    world = begin(Story(), ONE, task("1.2"), attended=True)
    answer(world, "a")
    assert world.state.outcome == "done"
    assert [event.by for event in facts(world, ev.GatePassed)] == ["auto"]


def test_task_gate_comment_starts_a_fix_round_even_at_the_last_iteration() -> None:
    world = begin(Story(), policy=replace(POLICY, max_iterations=1), attended=True)
    answer(world, "comment", "shorter")
    assert the_gate(world) == "task"
    assert world.state.tasks["1.1"].iteration == 2
    assert world.state.tasks["1.1"].comments == ("shorter",)


def test_without_waiting_the_run_ends_blocked_and_names_the_answer_to_type() -> None:
    world = begin(Story(), attended=True, waits=False)
    assert world.state.outcome == "blocked"
    assert (
        "waiting for an answer to G1 (task 1.1) — devteam answer G1 yes|auto|ask|comment" in world.state.outcome_reason
    )
    world.append(*obey(world.state, Reply(gate="G1", choice="yes")).events)
    assert again(world, attended=True).outcome == "done"


# ── the blocked prompt ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("claim", ["blocked", "failed"])
def test_an_agent_that_says_it_cannot_puts_the_prompt(claim: str) -> None:
    world = begin(Story(implement=[ok(claim=claim, claim_text="no database")]), policy=AUTO, attended=True)
    (gate,) = world.state.open_gates()
    assert gate.kind == "blocked"
    assert claim in gate.title
    assert "no database" in gate.body
    assert world.state.health is Health.BLOCKED


def test_an_agent_that_claims_completion_and_fails_puts_no_prompt() -> None:
    world = begin(Story(checks=[red()]), policy=AUTO, attended=True)
    assert facts(world, ev.GateOpened) == []
    assert world.state.outcome == "done"


def test_blocked_retry_goes_on_with_the_comment() -> None:
    world = begin(Story(implement=[said_blocked()]), policy=AUTO, attended=True)
    answer(world, "retry", "it is at localhost")
    assert world.state.outcome == "done"
    assert world.state.tasks["1.1"].comments == ("it is at localhost",)
    assert world.state.tasks["1.1"].iteration == 2


def test_blocked_skip_moves_to_the_next_task() -> None:
    world = begin(Story("1.1", implement=[said_blocked()]), ONE, task("1.2"), policy=AUTO, attended=True)
    answer(world, "s")
    assert status(world) is Status.SKIPPED
    assert status(world, "1.2") is Status.COMPLETE
    assert world.state.outcome == "done"


def test_blocked_stop_ends_the_run_and_the_next_one_asks_again() -> None:
    world = begin(Story(implement=[said_blocked()]), policy=AUTO, attended=True)
    answer(world, "stop")
    assert world.state.outcome == "stopped"
    assert status(world) is Status.RUNNING
    again(world, attended=True)
    assert the_gate(world) == "blocked"


def test_after_the_council_failed_the_prompt_comes_and_retry_never_calls_it_twice() -> None:
    world = begin(Story(checks=reds(9)), policy=replace(AUTO, max_iterations=20), attended=True)
    assert the_gate(world) == "blocked"
    answer(world, "retry", "look at the cache")
    assert the_gate(world) == "blocked", "one more failure asks again"
    answer(world, "retry")
    assert world.state.outcome == "done"
    assert world.state.councils == 1


def test_flip_flopping_asks_before_it_goes_back_two() -> None:
    trees = [{"tree": name} for name in ("first", "A", "B", "A")]
    patient = replace(AUTO, ladder=replace(AUTO.ladder, failures=(9, 9, 9)))
    world = begin(Story(checks=reds(4), scope=trees), policy=patient, attended=True)  # type: ignore[arg-type]
    (gate,) = world.state.open_gates()
    assert "FLIP_FLOPPING: iteration 4 is back at the tree of iteration 2; the next attempt goes back two" in gate.body
    answer(world, "retry", "keep the first one")
    assert [effect.tree for effect in effects_of(world, ef.Rollback)] == ["first"]
    assert world.state.outcome == "done"


def test_two_recoveries_then_the_human() -> None:
    same = [failing("test_a", passed=3) for _ in range(9)]
    patient = replace(AUTO, ladder=replace(AUTO.ladder, failures=(9, 9, 9)))
    world = begin(Story(checks=list(same)), policy=patient, attended=True)
    (gate,) = world.state.open_gates()
    assert [event.recovery for event in facts(world, ev.Decided)] == ["", "", "fresh", "fresh", "human"]
    assert "STALLED: the same error 3 times" in gate.body
    assert "the recoveries are used up" in gate.body


# ── going away and coming back ─────────────────────────────────────────────────────────────────────────────────────


def test_leaving_lets_open_gates_go_on_by_themselves() -> None:
    world = begin(Story(), ONE, task("1.2"), attended=True)
    order(world, SetAttended(attended=False))
    assert world.state.outcome == "done"
    assert [event.by for event in facts(world, ev.GateAnswered)] == ["unattended"]


@pytest.mark.parametrize(
    ("story", "outcome", "ends"),
    [
        pytest.param(lambda: Story(implement=[said_blocked()]), "blocked", Status.BLOCKED, id="an honest block"),
        pytest.param(
            lambda: Story(implement=[bad(ResultKind.AUTH)]), "blocked", Status.RUNNING, id="a login: resumable"
        ),
        pytest.param(lambda: Story(checks=reds(8)), "blocked", Status.BLOCKED, id="after the council"),
    ],
)
def test_leaving_at_the_blocked_prompt(story: object, outcome: str, ends: Status) -> None:
    world = begin(story(), policy=AUTO, attended=True)  # type: ignore[operator]
    assert the_gate(world) == "blocked"
    order(world, SetAttended(attended=False))
    assert world.state.outcome == outcome
    assert status(world) is ends


# ── commands ───────────────────────────────────────────────────────────────────────────────────────────────────────


def midway(story: Story | None = None, *tasks: object, **more: object) -> World:
    """Stops with the first implementer under way."""
    world = World(story or Story())
    world.begin(plan_of(*(tasks or (ONE,))), more.pop("policy", POLICY), **more)  # type: ignore[arg-type]
    while not world.calls():
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    return world


def test_pause_finishes_the_running_step_and_starts_none() -> None:
    world = midway()
    world.append(*obey(world.state, Pause()).events)
    world.run()
    assert world.state.running
    assert world.state.tasks["1.1"].step is Step.SCOPE, "the call under way was taken in"
    assert decide(world.state).effects == ()
    assert order(world, Resume()).outcome == "done"


def test_gates_are_answered_while_paused_and_act_on_resume() -> None:
    world = begin(Story(), attended=True)
    world.append(*obey(world.state, Pause()).events)
    answer(world, "ask", "good?")
    assert world.state.open_gates()[0].questions == (("good?", "because"),)
    answer(world, "yes")
    assert effects_of(world, ef.Commit) == []
    assert order(world, Resume()).outcome == "done"


def test_a_paused_sprint_can_be_stopped() -> None:
    world = midway()
    world.append(*obey(world.state, Pause()).events)
    assert order(world, Stop()).outcome == "stopped"


@pytest.mark.parametrize("now", [False, True], ids=["graceful", "now"])
def test_stop_ends_the_run_after_what_is_under_way_and_run_goes_on(now: bool) -> None:
    world = midway()
    assert order(world, Stop(now=now)).outcome == "stopped"
    assert world.state.tasks["1.1"].step is Step.SCOPE
    assert again(world).outcome == "done"
    assert world.calls() == ["haiku"], "nothing was done twice"


def test_stop_does_not_wait_for_a_limit() -> None:
    world = midway(Story(implement=[bad(ResultKind.LIMIT, reset_at=1_009_000.0)]))
    while not effects_of(world, ef.Wait):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.append(*obey(world.state, Stop()).events)
    (finish,) = decide(world.state).effects
    assert isinstance(finish, ef.Finish)
    assert finish.outcome == "stopped"


def test_cancel_ends_the_sprint_and_keeps_its_commits() -> None:
    world = begin(Story(), ONE, task("1.2"), attended=True)
    answer(world, "yes")
    order(world, Cancel())
    assert world.state.outcome == "cancelled"
    assert "cancelled; the commits made so far are on the sprint branch" in world.state.outcome_reason
    assert world.state.head != world.state.base


def test_steer_reaches_the_next_attempt() -> None:
    world = midway(Story(checks=[red()]))
    order(world, Steer(task="1.1", text="mind the gap"))
    assert world.state.tasks["1.1"].comments == ("mind the gap",)
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]


def test_skip_of_a_running_task_waits_for_its_step() -> None:
    world = midway(None, ONE, task("1.2"))
    order(world, Skip(task="1.1"))
    assert status(world) is Status.SKIPPED
    assert status(world, "1.2") is Status.COMPLETE
    assert world.state.outcome == "done"


def test_skip_does_not_wait_for_a_limit() -> None:
    limited = bad(ResultKind.LIMIT, reset_at=1_009_000.0)
    world = midway(Story("1.1", implement=[limited]), ONE, task("1.2", agent=""), policy=AUTO)
    while not effects_of(world, ef.Wait):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    world.append(*obey(world.state, Skip(task="1.1")).events)
    world.turn()
    assert status(world) is Status.SKIPPED


def test_skip_while_the_commit_is_under_way_comes_too_late() -> None:
    world = World(Story()).begin(plan_of(ONE), AUTO)
    while not effects_of(world, ef.Commit):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    order(world, Skip(task="1.1"))
    assert status(world) is Status.COMPLETE


def test_skip_at_an_open_gate_withdraws_it() -> None:
    world = needing(1)
    order(world, Skip(task="1.1"))
    assert world.state.open_gates() == []
    assert (world.state.outcome, world.state.outcome_reason) == ("failed", "nothing was implemented: 1 task skipped")


def test_retry_opens_a_task_and_all_that_waited_for_it_with_a_fresh_ladder() -> None:
    tasks = (ONE, task("1.2", "1.1"), task("1.3", "1.2"))
    world = begin(Story("1.1", checks=reds(8)), *tasks)
    assert world.state.outcome == "blocked"
    world.append(*obey(world.state, Retry(task="1.1", text="drop the cache")).events)
    opened = world.state.tasks["1.1"]
    assert (opened.status, opened.rung, opened.comments) == (Status.PENDING, 0, ("drop the cache",))
    assert len(opened.history) == 8, "what was tried stays known"
    assert {record.tree for record in opened.history} == {""}, "but is not gone back to"
    assert status(world, "1.3") is Status.PENDING, "dependents of dependents too"
    assert again(world).outcome == "done"
    assert world.calls()[-3] == "haiku"


def test_what_went_in_circles_before_a_retry_does_not_count_against_it() -> None:
    same = [failing("test_a", passed=3) for _ in range(4)]
    policy = replace(POLICY, stuck_detection=True, ladder=replace(POLICY.ladder, rungs=RUNGS[:1], failures=(9,)))
    world = begin(Story(checks=[*same, failing("test_a", passed=3)]), policy=policy)
    assert world.decisions("1.1") == ["ITERATE", "ITERATE", "COUNCIL", "BLOCKED"]
    world.append(*obey(world.state, Retry(task="1.1")).events)
    again(world)
    assert world.decisions("1.1")[4:] == ["ITERATE", "COMPLETE"]


def test_landing_by_command_and_by_policy() -> None:
    world = begin(Story(), policy=replace(POLICY, auto_land=True))
    assert world.state.landed == world.state.head
    world = begin(Story(), ONE, task("1.2"), attended=True)
    answer(world, "yes")
    order(world, LandNow())
    assert world.state.landed == world.state.head


# ── the plan edited between tasks ──────────────────────────────────────────────────────────────────────────────────


def edited(world: World, *tasks: object) -> World:
    world.append(ev.PlanChanged(plan=plan_of(*tasks)))  # type: ignore[arg-type]
    world.run()
    return world


def test_an_edited_plan_is_taken_up() -> None:
    world = begin(Story(), ONE, task("1.2"), task("1.3"), attended=True)
    edited(world, ONE, replace(task("1.3"), title="New title"), task("1.9"))
    order(world, SetAttended(attended=False))
    assert list(world.state.tasks) == ["1.1", "1.3", "1.9"]
    messages = [effect.message for effect in effects_of(world, ef.Commit)]
    assert messages == ["impl(demo): T1.1 — One", "impl(demo): T1.3 — New title", "impl(demo): T1.9 — Task 1.9"]


def test_a_running_task_keeps_its_words_and_a_removed_one_goes_on() -> None:
    world = begin(Story(), ONE, task("1.2"), attended=True)
    edited(world, task("1.2"))
    assert world.state.tasks["1.1"].spec == ONE
    order(world, SetAttended(attended=False))
    assert status(world) is Status.COMPLETE


def test_a_blocked_task_takes_new_words_or_a_tick_by_hand() -> None:
    world = begin(Story(checks=reds(8)), ONE, task("1.2"), attended=False)
    assert status(world) is Status.BLOCKED
    edited(world, replace(ONE, description="clearer"), task("1.2"))
    world.append(*obey(world.state, Retry(task="1.1")).events)
    assert world.state.tasks["1.1"].spec.description == "clearer"
    world = begin(Story(checks=reds(8)), attended=False)
    edited(world, replace(ONE, done=True))
    assert status(world) is Status.COMPLETE
    assert again(world).outcome == "done"


# ── sent back with words ───────────────────────────────────────────────────────────────────────────────────────────

UNREVIEWED = replace(POLICY, review=False)
SAME: dict[str, object] = {"tree": "the same"}


def sent_back(story: Story, policy: object) -> World:
    """At the task gate, sent back with words; then the terminal is closed."""
    world = begin(story, policy=policy, attended=True)  # type: ignore[arg-type]
    assert the_gate(world) == "task"
    world.append(*obey(world.state, Reply(gate=world.state.open_gates()[0].id, choice="c", text="greet too")).events)
    order(world, SetAttended(attended=False))
    return world


@pytest.mark.parametrize("policy", [POLICY, UNREVIEWED], ids=["reviewed", "unreviewed"])
def test_a_tree_that_was_sent_back_is_never_taken_by_nobody(policy: object) -> None:
    world = sent_back(Story(scope=[SAME] * 30), policy)
    assert not effects_of(world, ef.Commit)
    assert status(world) is not Status.COMPLETE
    said = "; ".join(one.reason for one in facts(world, ev.Decided))  # type: ignore[union-attr]
    assert "nothing was changed for what you said: greet too" in said
    assert len([one for one in effects_of(world, ef.RunChecks) if one.purpose == "task"]) == 1, "judged once"  # type: ignore[union-attr]


def test_words_that_no_reviewer_judges_wait_for_who_said_them() -> None:
    world = sent_back(Story(), UNREVIEWED)
    assert (status(world), effects_of(world, ef.Commit)) == (Status.BLOCKED, [])
    assert "sent back with 'greet too'" in world.state.tasks["1.1"].reason
    world = begin(Story(), policy=replace(UNREVIEWED, gates=GatePolicy(task="auto")), attended=True)
    assert world.state.outcome == "done", "nobody said a word"


def test_words_that_the_reviewer_has_heard_are_judged_by_it() -> None:
    assert sent_back(Story(), POLICY).state.outcome == "done"


def test_what_is_done_cannot_be_cancelled() -> None:
    world = begin(Story())
    assert "the sprint is done already" in obey(world.state, Cancel()).detail


def test_an_answer_that_is_none_is_quoted() -> None:
    world = begin(Story(), attended=True)
    (gate,) = world.state.open_gates()
    assert "'nonsense' is no answer to a task gate" in obey(world.state, Reply(gate=gate.id, choice="nonsense")).detail


def test_a_gate_without_a_review_is_not_called_approved() -> None:
    assert begin(Story(), attended=True).state.open_gates()[0].title.endswith("— approved")
    world = begin(Story(), policy=UNREVIEWED, attended=True)
    assert world.state.open_gates()[0].title.endswith("— ready, not reviewed")


# ── edited while it is worked on ───────────────────────────────────────────────────────────────────────────────────

OMEGA = replace(ONE, title="Omega")


def until(world: World, where: type[ef.AnyEffect] | str) -> World:  # type: ignore[valid-type]
    """The sprint up to the moment at which such an effect is under way, or such a gate is open."""
    for _ in range(500):
        if isinstance(where, str) and any(gate.kind == where for gate in world.state.open_gates()):
            return world
        if not isinstance(where, str) and any(
            isinstance(one, where) and one.task for one in world.state.inflight.values()
        ):
            return world
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    raise AssertionError(where)


@pytest.mark.parametrize("where", [ef.CallAgent, ef.CheckScope, ef.RunChecks, ef.Commit, "task"])
def test_an_attempt_at_the_old_words_never_completes_the_new_ones(where: object) -> None:
    attended = where == "task"
    world = World(Story()).begin(plan_of(ONE), POLICY, attended=attended)
    until(world, where)  # type: ignore[arg-type]
    world.append(ev.PlanChanged(plan=plan_of(OMEGA)))
    world.run()
    if attended:
        assert [gate.title for gate in world.state.open_gates()] == ["Task 1.1: Omega — approved"]
        answer(world, "y")
    assert (world.state.outcome, world.state.tasks["1.1"].spec.title) == ("done", "Omega")
    commits = effects_of(world, ef.Commit)
    assert len(commits) == (2 if where is ef.Commit else 1), "one that was being made cannot be taken back"
    assert len(world.calls()) == 2, "the new words were worked on"
    assert world.state.escalations == ()


def test_words_that_were_put_back_in_time_change_nothing() -> None:
    world = until(World(Story()).begin(plan_of(ONE), POLICY), ef.CallAgent)
    for words in (OMEGA, ONE):
        world.append(ev.PlanChanged(plan=plan_of(words)))
    assert world.run().outcome == "done"
    assert len(world.calls()) == 1
