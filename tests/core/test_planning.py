"""The planning conversation with the real decide and fold: questions, revisions, approval, cut off anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer, Replan
from engine.core.fold import fold
from engine.core.forecast import PastTask, forecast
from engine.core.model import AgentResult, PhaseSpec, Plan, ResultKind, Role, TaskSpec
from engine.core.orders import obey
from engine.core.planning_state import Goal, PlanIssue, PlanQuestion, Stage, Until
from engine.core.policy import DEFAULT_RUNGS, BudgetPolicy, LadderPolicy, Policy, RetryPolicy, Rung
from engine.core.state import Status
from tests.core.world import World, happy, ok, outcome
from tests.depth import examples

QUESTIONS = (
    PlanQuestion(text="Which hash?", assumption="argon2"),
    PlanQuestion(text="Sessions or tokens?", assumption="sessions"),
)


def plan_named(title: str, *ids: str) -> Plan:
    tasks = tuple(TaskSpec(id=name, title=f"Do {name}", accept=("a test shows it",)) for name in ids or ("1.1", "1.2"))
    return Plan(title=title, phases=(PhaseSpec(id="1", title="One", tasks=tasks),))


class Talk:
    """A planner that asks twice, drafts, is sent back once, and is approved."""

    def __init__(self, questions=QUESTIONS, objections=1, problems=0, later=()):
        self.questions, self.objections, self.problems, self.later = questions, objections, problems, later
        self.drafts = 0

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        planning = world.state.planning
        match effect:
            case ef.Survey():
                return [ev.Surveyed(id=effect.id, facts="python, pytest")]
            case ef.CallAgent(role=Role.GATHERER):
                return [outcome(effect, ok()), ev.ContextGathered(id=effect.id, text="a web shop")]
            case ef.CallAgent(role=Role.PRD_WRITER):
                return [outcome(effect, ok()), ev.PrdDrafted(id=effect.id, text="# PRD")]
            case ef.CallAgent(role=Role.PLANNER):
                known = {one.question for one in planning.answers}
                if left := tuple(one for one in self.questions if one.text not in known):
                    asked = ev.QuestionsAsked(id=effect.id, role=Role.PLANNER, questions=left)
                    return [outcome(effect, ok()), asked]
                self.drafts += 1
                ids = ("1.1", "1.2") if planning.goal is Goal.PLAN else ("1.1", "1.2", "1.3")
                draft = ev.PlanDrafted(id=effect.id, plan=plan_named(f"v{self.drafts}", *ids), later=self.later)
                return [outcome(effect, ok()), draft]
            case ef.CheckPlan():
                issues = (PlanIssue(rule="cycle", text="1.1 waits for itself"),) if self.problems > 0 else ()
                self.problems -= 1
                return [ev.PlanChecked(id=effect.id, version=effect.version, plan=planning.plan, issues=issues)]
            case ef.CallAgent(role=Role.PLAN_REVIEWER):
                self.objections -= 1
                issues = (PlanIssue(text="too big", task="1.1", fix="split it"),) if self.objections >= 0 else ()
                said = ev.PlanReviewed(id=effect.id, version=planning.version, approved=not issues, issues=issues)
                return [outcome(effect, ok()), said]
            case _:
                return happy(world, effect)


def begin(world: World, *, attended=True, until=Until.PLAN, policy=None, **more: object) -> World:
    if not world.state.sprint:
        world.append(ev.PlanRequested(sprint="001-login", request="add login", branch="b", topic="login", **more))
    world.append(
        ev.RunStarted(
            run=f"r{len(world.log)}",
            pid=1,
            policy=policy or Policy(),
            attended=attended,
            waits=attended,
            sandbox="none",
            version="t",
            until=until,
        )
    )
    return world


def answer(world: World, gate: str, choice: str, text: str = "") -> None:
    said = obey(world.state, Answer(gate=gate, choice=choice, text=text, by="you"))
    assert said.ok, said.detail
    world.append(*said.events)


def kinds(world: World) -> list[str]:
    return [gate.kind for gate in world.state.open_gates()]


def test_two_questions_one_revision_approval() -> None:
    world = begin(World(script=Talk()))
    world.run()
    assert kinds(world) == ["question", "question"]
    assert all("If you do not say" in gate.body for gate in world.state.open_gates())
    answer(world, "G1", "bcrypt", "please")
    assert world.run().planning.stage is Stage.QUESTIONS
    answer(world, "G2", "y")
    world.run()
    planning = world.state.planning
    assert [(one.answer, one.by) for one in planning.answers] == [("bcrypt please", "you"), ("sessions", "you")]
    assert kinds(world) == ["plan"] and planning.version == 2 and planning.rounds == 1
    gate = world.state.open_gates()[0]
    assert "Expected: about $" in gate.body and "accept: a test shows it" in gate.body
    assert world.state.plan is None and not world.state.tasks
    answer(world, gate.id, "yes")
    state = world.run()
    assert state.outcome == "done" and "devteam run" in state.outcome_reason
    assert state.plan.status == "APPROVED" and state.plan.title == "v2" and list(state.tasks) == ["1.1", "1.2"]
    assert all(task.status is Status.PENDING for task in state.tasks.values())
    begin(world, attended=False, until=Until.SPRINT)
    assert world.run().outcome == "done" and world.state.progress() == (2, 2)


def test_unattended_takes_the_assumption_and_never_the_plan() -> None:
    world = begin(World(script=Talk()), attended=False)
    state = world.run()
    assert [(one.answer, one.by) for one in state.planning.answers] == [
        ("argon2", "assumption"),
        ("sessions", "assumption"),
    ]
    assert state.outcome == "blocked" and "devteam answer G1" in state.outcome_reason
    assert state.plan is None and "Assumed: Which hash? → argon2" in state.open_gates()[0].body
    answer(world, "G1", "yes")
    begin(world, attended=False)
    assert world.run().outcome == "done" and world.state.plan is not None


def test_answers_given_beforehand_and_approval_given_beforehand() -> None:
    world = World(script=Talk(objections=0))
    begin(world, attended=False, approve=True, given={"1": "scrypt", "tokens": "tokens"})
    state = world.run()
    assert [(one.answer, one.by) for one in state.planning.answers] == [
        ("scrypt", "--answers"),
        ("tokens", "--answers"),
    ]
    assert state.outcome == "done" and state.planning.approved_by == "--approve"


@pytest.mark.parametrize("talk", [Talk(objections=9), Talk(problems=9)], ids=["reviewer", "own checks"])
def test_three_rounds_then_the_human_even_with_approve(talk: Talk) -> None:
    world = begin(World(script=talk), attended=False, approve=True)
    state = world.run()
    assert state.outcome == "blocked" and talk.drafts == 3
    assert kinds(world) == ["plan"] and state.open_gates()[0].body.startswith("OBJECTION: ")
    answer(world, state.open_gates()[0].id, "comment", "smaller tasks")
    begin(world, attended=False)
    assert world.run().planning.comments == ("smaller tasks",) and talk.drafts == 6


def test_the_users_edit_is_checked_and_asked_about_anew() -> None:
    world = begin(World(script=Talk(questions=(), objections=0)))
    world.run()
    old = world.state.open_gates()[0]
    world.append(ev.PlanDrafted(id="", plan=plan_named("mine", "1.1"), by="you"))
    world.run()
    assert not obey(world.state, Answer(gate=old.id, choice="yes")).ok
    new = world.state.open_gates()[0]
    assert new.id != old.id and new.tree != old.tree
    answer(world, new.id, "yes")
    assert world.run().plan.title == "mine"


def test_a_question_at_the_plan_gate_is_answered_and_changes_nothing() -> None:
    world = begin(World(script=Talk(questions=(), objections=0)))
    world.run()
    gate = world.state.open_gates()[0]
    answer(world, gate.id, "ask", "why two tasks?")
    world.run()
    assert world.state.gates[gate.id].questions == (("why two tasks?", "because"),) and kinds(world) == ["plan"]


def test_a_prd_first_and_a_run_until_there() -> None:
    world = begin(World(script=Talk(questions=(), objections=0)), with_prd=True, until=Until.PRD)
    world.run()
    assert kinds(world) == ["prd"]
    answer(world, "G1", "yes")
    assert world.run().outcome == "done" and world.state.plan is None and world.state.planning.prd == "# PRD"
    begin(world, until=Until.PLAN)
    world.run()
    assert kinds(world) == ["plan"]


def test_replanning_is_gated_and_opens_the_task_again() -> None:
    talk = Talk(questions=(), objections=0)
    world = begin(World(script=talk), attended=False, approve=True)
    world.run()
    world.append(ev.TaskEnded(task="1.1", decision="BLOCKED", reason="stuck"))
    world.append(ev.TaskEnded(task="1.2", decision="BLOCKED", reason="depends on 1.1, which is blocked"))
    assert not obey(world.state, Replan(task="9.9", text="x")).ok
    begin(world, until=Until.SPRINT)
    said = obey(world.state, Replan(task="1.1", text="split it"))
    assert said.ok
    world.append(*said.events)
    world.run()
    gate = world.state.open_gates()[0]
    assert set(gate.choices) == {"yes", "skip", "comment", "ask"} and "+   1.3 Do 1.3" in gate.body
    answer(world, gate.id, "yes")
    world.append(ev.AttendanceChanged(attended=False))
    state = world.run()
    assert state.progress() == (3, 3) and state.outcome == "done"


@pytest.mark.parametrize("planned", [True, False], ids=["planned by an agent", "a plan of the user's own"])
def test_a_blocked_task_is_planned_anew_at_its_gate(planned: bool) -> None:
    """STALLED, its recoveries used: retry and skip are not the only ways."""
    talk = Talk(questions=(), objections=0)
    blocked = ok(claim="blocked", claim_text="the scope is too small")

    first = [True]

    def story(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.CallAgent) and effect.role is Role.IMPLEMENTER and first[0]:
            first[0] = False
            return [outcome(effect, blocked)]
        return talk(world, effect)

    world = World(script=story)
    if planned:
        begin(world, attended=False, approve=True).run()
    else:
        world.append(ev.SprintCreated(sprint="001-own", plan=plan_named("own"), branch="b", topic="own"))
    begin(world, until=Until.SPRINT)
    world.run()
    gate = world.state.open_gates()[0]
    assert (gate.kind, "replan" in gate.choices) == ("blocked", True)
    answer(world, gate.id, "replan", "split it")
    world.run()
    assert world.state.planning is not None and world.state.planning.request.startswith("split it\n\nTask 1.1 (Do 1.1)")
    plan_gate = next(one for one in world.state.open_gates() if one.kind == "plan")
    assert "+   1.3 Do 1.3" in plan_gate.body
    assert world.state.tasks["1.1"].status is Status.BLOCKED, "until the new plan holds"
    answer(world, plan_gate.id, "yes")
    world.append(ev.AttendanceChanged(attended=False))
    state = world.run()
    assert (state.progress(), state.outcome) == ((3, 3), "done")


def test_what_another_plan_cannot_mend_offers_none() -> None:
    talk = Talk(questions=(), objections=0)

    def no_login(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.CallAgent) and effect.role is Role.IMPLEMENTER:
            return [outcome(effect, AgentResult(kind=ResultKind.AUTH, error="no login", hint="claude login"))]
        return talk(world, effect)

    world = World(script=no_login)
    world.append(ev.SprintCreated(sprint="001-own", plan=plan_named("own"), branch="b", topic="own"))
    begin(world, until=Until.SPRINT).run()
    (gate,) = world.state.open_gates()
    assert "replan" not in gate.choices
    assert not obey(world.state, Answer(gate=gate.id, choice="replan")).ok


def test_a_planner_that_cannot_be_reached_is_said_and_taken_up_again() -> None:
    broken = [True]
    talk = Talk(questions=(), objections=0)

    def script(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if broken[0] and isinstance(effect, ef.CallAgent) and effect.role is Role.PLANNER:
            return [outcome(effect, AgentResult(kind=ResultKind.AUTH, error="no login", hint="claude login"))]
        return talk(world, effect)

    world = begin(World(script=script), attended=False)
    assert world.run().outcome == "failed" and "claude login" in world.state.outcome_reason
    broken[0] = False
    assert begin(world, attended=False).run().outcome == "blocked"


RICH = Policy(budget=BudgetPolicy(session_usd=1e6, day_usd=1e6))
"""A call that was cut off is charged as reserved: dying often is dear."""


@given(cuts=st.lists(st.integers(1, 25), max_size=6))
@settings(max_examples=examples(60), deadline=None)
def test_cut_off_anywhere_it_goes_on_and_ends_the_same(cuts: list[int]) -> None:
    world = begin(World(script=Talk()), attended=False, policy=RICH)
    for cut in cuts:
        for _ in range(cut):
            if not world.state.running:
                break
            if not world.turn() and world.state.inflight:
                world.land(next(iter(world.state.inflight.values())))
        lost = [ev.EffectInterrupted(id=name) for name in world.state.inflight]
        world.append(*lost)
        begin(world, attended=False, policy=RICH)
    state = world.run()
    assert state.outcome == "blocked" and kinds(world) == ["plan"] and len(state.planning.answers) == 2
    assert fold(world.log) == state


def test_the_plans_reviewer_is_another_agent_where_there_is_one() -> None:
    mixed = (Rung(name="a", agent="codex"), Rung(name="b", agent="claude"), Rung(name="c", agent="claude"))
    assert LadderPolicy(rungs=mixed).role_rung(Role.PLAN_REVIEWER) == 0
    assert LadderPolicy(rungs=DEFAULT_RUNGS).role_rung(Role.PLAN_REVIEWER) == 2
    assert LadderPolicy(rungs=mixed, roles={"plan-reviewer": "b"}).role_rung(Role.PLAN_REVIEWER) == 1


def test_a_forecast_says_what_it_rests_on() -> None:
    tasks = plan_named("p").tasks()
    none = forecast(tasks, (), DEFAULT_RUNGS)
    assert none.measured == 0 and "guess" in none.words()
    past = (PastTask(complexity=3, usd=0.5, seconds=60), PastTask(complexity=4, usd=1.5, seconds=180))
    known = forecast(tasks, past, DEFAULT_RUNGS)
    assert known.usd == 2.0 and known.seconds == 240 and "2 of 2 tasks" in known.words()
    flips = (replace(past[0], check_seconds=80, flaky=2), replace(past[1], check_seconds=120))
    flaky = forecast(tasks, flips, DEFAULT_RUNGS)
    assert (flaky.seconds, flaky.flaky_seconds) == (340, 100), "every other task met them: one run more in two tasks"
    assert "2 min of it for flaky tests" in flaky.words()


def test_no_money_ends_the_run_as_a_limit() -> None:
    policy = Policy(retry=RetryPolicy(), ladder=LadderPolicy(rungs=(Rung(name="x", agent="a", reserve_usd=99.0),)))
    assert begin(World(script=Talk()), attended=False, policy=policy).run().outcome == "limit"


def test_approval_beforehand_is_the_word_of_one_call() -> None:
    """A planning that failed under --approve is taken up without it: the plan is asked about."""
    talk, dead = Talk(), [True]

    def gone(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if dead and isinstance(effect, ef.CallAgent):
            return [outcome(effect, AgentResult(kind=ResultKind.NOT_STARTED, error="no such program"))]
        return talk(world, effect)

    world = begin(World(script=gone), attended=False, approve=True)
    world.run()
    assert world.state.health_reason.startswith("no plan yet: ")
    dead.clear()
    world.append(ev.PlanRequested(sprint="001-login", request="add login", branch="b", topic="login"))
    begin(world, attended=False)
    assert world.state.health_reason == "planning"
    state = world.run()
    assert [gate.kind for gate in state.open_gates()] == ["plan"] and state.plan is None
