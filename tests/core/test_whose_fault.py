"""Only wrong code iterates, escalates or reaches the council; every other fault has its own way and costs no more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.budget import charge
from engine.core.commands import Accept, Allow, CallCouncil, Retry, Skip
from engine.core.model import (
    CheckKind,
    CheckResult,
    Decision,
    FaultDomain,
    Finding,
    ProofVerdict,
    Question,
    ResultKind,
    Role,
    Tokens,
    Verdict,
)
from engine.core.orders import obey
from engine.core.policy import BudgetPolicy
from engine.core.state import Status
from tests.core.story import (
    ONE,
    POLICY,
    Story,
    Surprise,
    again,
    answer,
    bad,
    begin,
    effects_of,
    facts,
    order,
    reds,
    said_blocked,
    status,
    task,
    the_gate,
)
from tests.core.world import World, changes_wanted, failing, ok, passing, plan_of

ASKED = Question(
    rule="oracle-changed", text="data.json was changed", allow="edit tests/data.json", path="tests/data.json"
)
QUESTION: dict[str, object] = {"proof": ProofVerdict.QUESTION, "questions": (ASKED,)}
UNPROVEN: dict[str, object] = {"proof": ProofVerdict.UNPROVEN, "proof_reason": "no test turned green"}
ERROR: dict[str, object] = {"proof": ProofVerdict.ERROR, "results": (failing("x", verdict=Verdict.ERROR),)}


# ── the plan's: a permission ───────────────────────────────────────────────────────────────────────────────────────


def parked() -> World:
    world = begin(Story("1.1", checks=[QUESTION]), ONE, task("1.2", "1.1"), task("1.3"))
    assert status(world) is Status.PARKED
    return world


def test_unattended_a_question_is_parked_and_the_sprint_goes_on() -> None:
    world = parked()
    one = world.state.tasks["1.1"]
    assert (status(world, "1.2"), status(world, "1.3")) == (Status.PENDING, Status.COMPLETE), "dependents wait"
    assert one.kept is not None and one.kept.ref == "refs/devteam/001-demo/task/1.1/iteration-1"
    assert one.action == 'devteam allow 1.1 "edit tests/data.json"'
    assert world.calls() == ["haiku", "haiku"], "never the ladder"
    assert (world.state.outcome, "devteam questions" in world.state.outcome_reason) == ("blocked", True)
    assert one.failures.get("implementer", 0) == 0


def test_a_granted_permission_completes_the_kept_tree_without_a_new_call() -> None:
    world = parked()
    tree = world.state.tasks["1.1"].tree
    world.append(*obey(world.state, Allow(task="1.1", entry="edit tests/data.json", by="ann")).events)
    assert world.state.tasks["1.1"].spec.allow == ("edit tests/data.json",)
    assert again(world).outcome == "done"
    committed = [effect for effect in effects_of(world, ef.Commit) if effect.task == "1.1"]
    assert [effect.tree for effect in committed] == [tree]
    assert [call.task for call in effects_of(world, ef.CallAgent) if call.role is Role.IMPLEMENTER] == [
        "1.1",
        "1.3",
        "1.2",
    ]


def test_a_permission_survives_an_edit_of_the_plan() -> None:
    world = parked()
    world.append(*obey(world.state, Allow(task="1.1", entry="edit tests/data.json")).events)
    assert world.state.plan is not None
    world.append(ev.PlanChanged(plan=world.state.plan))
    assert "edit tests/data.json" in world.state.tasks["1.1"].spec.allow


def test_a_permission_that_does_not_help_parks_it_again() -> None:
    world = begin(Story(checks=[QUESTION, QUESTION]))
    world.append(*obey(world.state, Allow(task="1.1", entry="rename a to b")).events)
    again(world)
    assert (status(world), len(world.calls())) == (Status.PARKED, 1)


@pytest.mark.parametrize("entry", ["", "everything", "allow all", "rm -rf /"])
def test_an_entry_that_is_no_permission_is_refused_with_words(entry: str) -> None:
    said = obey(parked().state, Allow(task="1.1", entry=entry))
    assert not said.ok and said.detail and said.events == ()


SECOND = Question(rule="test-changed", text="test_a fails", allow="edit tests tests/test_a.py::test_a")


def test_one_of_two_questions_answered_leaves_the_other_one_asked() -> None:
    both: dict[str, object] = {"proof": ProofVerdict.QUESTION, "questions": (ASKED, SECOND)}
    world = begin(Story(checks=[both]))
    said = obey(world.state, Allow(task="1.1", entry="edit tests/data.json"))
    assert said.ok and "still asked (1): devteam allow 1.1" in said.detail and SECOND.allow in said.detail
    world.append(*said.events)
    assert (status(world), world.state.tasks["1.1"].questions) == (Status.PARKED, (SECOND,))
    assert world.state.tasks["1.1"].action == f'devteam allow 1.1 "{SECOND.allow}"'
    said = obey(world.state, Allow(task="1.1", entry="edit tests tests/test_a.py"))
    assert said.ok and "its kept tree is checked again" in said.detail
    world.append(*said.events)
    assert (again(world).outcome, world.calls()) == ("done", ["haiku"])
    runs = [effect for effect in effects_of(world, ef.RunChecks) if effect.task == "1.1"]
    assert len(runs) == 2, "once to find the questions, once when the last one is answered"


@pytest.mark.parametrize("entry", ["edit tests/dada.json", "accept oracle-changed in tests/x.py", "edit tests t.py::a"])
def test_a_place_that_the_waiting_work_does_not_know_is_a_slip_of_the_pen(entry: str) -> None:
    world = begin(Story(checks=[{"proof": ProofVerdict.QUESTION, "questions": (ASKED, SECOND)}]))
    said = obey(world.state, Allow(task="1.1", entry=entry))
    assert not said.ok and said.events == ()
    assert 'devteam allow 1.1 "edit tests/data.json"' in said.detail and entry.rpartition(" ")[2] in said.detail


@pytest.mark.parametrize("entry", ["edit tests/", "edit tests/*.json", "change behaviour of add", "rename a to b"])
def test_a_wider_permission_than_was_asked_for_is_one(entry: str) -> None:
    assert obey(parked().state, Allow(task="1.1", entry=entry)).ok


def test_the_line_that_a_question_names_is_always_taken() -> None:
    letter = Question(rule="oracle-changed", text="passes only with x", allow="edit x", path="x")
    world = begin(Story(checks=[{"proof": ProofVerdict.QUESTION, "questions": (letter,)}]))
    assert obey(world.state, Allow(task="1.1", entry="edit x")).ok


def test_before_its_work_is_there_a_task_may_be_allowed_anything() -> None:
    said = obey(parked().state, Allow(task="1.2", entry="edit tests/not-yet-there.json"))
    assert said.ok and "its next check knows it" in said.detail


def test_attended_the_question_is_asked_now_and_yes_grants_it() -> None:
    world = begin(Story(checks=[QUESTION]), attended=True)
    (gate,) = world.state.open_gates()
    assert (gate.kind, "allow: edit tests/data.json" in gate.body) == ("permission", True)
    answer(world, "yes")
    assert the_gate(world) == "task", "the same tree, checked and reviewed"
    assert world.calls() == ["haiku"]
    answer(world, "yes")
    assert world.state.outcome == "done"


def test_attended_the_question_may_wait_or_be_answered_with_another_way() -> None:
    world = begin(Story(checks=[QUESTION]), attended=True)
    answer(world, "skip")
    assert status(world) is Status.PARKED
    world = begin(Story(checks=[QUESTION]), attended=True)
    answer(world, "comment", "leave the data alone")
    assert world.calls() == ["haiku", "haiku"]
    assert world.state.tasks["1.1"].comments == ("leave the data alone",)


# ── unproven ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_unproven_is_told_once_and_then_a_human_is_asked() -> None:
    world = begin(Story(checks=[UNPROVEN, UNPROVEN]))
    assert world.decisions("1.1") == ["ITERATE", "BLOCKED"]
    assert world.calls() == ["haiku", "haiku"], "no climb"
    assert world.calls(Role.REVIEWER) == [], "no review of what shows nothing"
    one = world.state.tasks["1.1"]
    assert "no test turned green" in one.reason and one.kept is not None and one.kept.green
    assert one.feedback is not None and "no test turned green" in one.feedback.reason


@pytest.mark.parametrize(
    ("checks", "iterations", "offered"),
    [
        pytest.param([UNPROVEN], 1, True, id="the last iteration shows nothing"),
        pytest.param([UNPROVEN, UNPROVEN], 9, True, id="two in a row show nothing"),
        pytest.param(reds(1), 1, False, id="red work is nobody's to take"),
    ],
)
def test_green_work_that_ended_short_of_complete_can_be_taken_as_it_is_and_that_is_said(
    checks: list[dict[str, object]], iterations: int, offered: bool
) -> None:
    world = begin(Story(checks=checks), policy=replace(POLICY, max_iterations=iterations))
    one = world.state.tasks["1.1"]
    assert one.ended and one.status is not Status.COMPLETE
    assert ("devteam accept 1.1" in one.action) is offered, one.action
    assert 'devteam retry 1.1 "what to do differently"' in one.action
    assert "no test turned green" in one.reason or not offered, "the last words are not lost behind the count"
    assert bool(obey(world.state, Accept(task="1.1")).events) is offered


NOT_SHOWN = Question(rule="not-shown", text="no test tries “-1”", allow="accept not-shown")
HALF_SHOWN: dict[str, object] = {**UNPROVEN, "questions": (NOT_SHOWN,)}


@pytest.mark.parametrize(
    ("iterations", "calls", "scope"),
    [
        pytest.param(9, 2, [], id="told once, and not shown by the second change"),
        pytest.param(9, 2, [{"tree": "same"}, {"tree": "same"}], id="told once, and the same tree came again"),
        pytest.param(1, 1, [], id="no iteration is left"),
    ],
)
def test_what_one_line_would_accept_is_parked_with_that_line(
    iterations: int, calls: int, scope: list[Surprise]
) -> None:
    """There is a proof, and a part that no test shows: a human answers with one line, and no agent is called again."""
    story = Story("1.1", checks=[HALF_SHOWN] * (1 if scope else calls), scope=scope)
    world = begin(story, ONE, task("1.2", "1.1"), task("1.3"), policy=replace(POLICY, max_iterations=iterations))
    one = world.state.tasks["1.1"]
    assert one.status is Status.PARKED and one.action == 'devteam allow 1.1 "accept not-shown"'
    assert one.reason == "not shown: no test tries “-1”"
    assert status(world, "1.2") is not Status.BLOCKED and status(world, "1.3") is Status.COMPLETE
    before = world.calls()
    assert len(before) == calls + 1, "the task's own, and the one of the task that does not wait"
    order(world, Allow(task="1.1", entry="accept not-shown"))
    assert again(world).outcome == "done"
    assert len(world.calls()) == len(before) + 1, "only the task that waited is given to an agent"


def test_attended_what_is_not_shown_is_asked_at_the_second_time() -> None:
    world = begin(Story(checks=[HALF_SHOWN, HALF_SHOWN]), attended=True)
    (gate,) = world.state.open_gates()
    assert (gate.kind, "allow: accept not-shown" in gate.body) == ("permission", True)


def test_the_result_that_repeats_the_proof_is_not_counted_twice() -> None:
    """As the judge delivers it: a failing result of its own beside the verdict. It is told, and climbs no ladder."""
    mirror = CheckResult(name="proof", kind=CheckKind.OWN, verdict=Verdict.FAIL, reason="UNPROVEN: add a test")
    shown: dict[str, object] = {**UNPROVEN, "results": (passing(), mirror)}
    world = begin(Story(checks=[shown, shown]))
    assert (world.decisions("1.1"), world.calls()) == (["ITERATE", "BLOCKED"], ["haiku", "haiku"])
    feedback = world.state.tasks["1.1"].feedback
    assert feedback is not None and [result.reason for result in feedback.checks] == ["UNPROVEN: add a test"]


def test_a_change_that_the_proof_refutes_is_the_codes_and_cannot_be_accepted() -> None:
    refuted: dict[str, object] = {"proof": ProofVerdict.FAIL, "proof_reason": "a canary passed"}
    world = begin(Story(checks=[refuted] * 9))
    assert world.calls()[:3] == ["haiku", "haiku", "sonnet"]
    assert not obey(world.state, Accept(task="1.1")).ok


def test_unproven_then_proven_is_complete() -> None:
    proven: dict[str, object] = {"proof": ProofVerdict.PROVEN}
    world = begin(Story(checks=[UNPROVEN, proven]))
    assert (world.decisions("1.1"), world.state.outcome) == (["ITERATE", "COMPLETE"], "done")


@pytest.mark.parametrize("verdict", [ProofVerdict.PROVEN, ProofVerdict.HARMLESS])
def test_proven_and_harmless_are_complete(verdict: ProofVerdict) -> None:
    assert begin(Story(checks=[{"proof": verdict}])).state.outcome == "done"


# ── the environment's ──────────────────────────────────────────────────────────────────────────────────────────────


def test_checks_that_err_on_the_base_too_are_the_environments() -> None:
    gone = replace(failing("x", verdict=Verdict.ERROR), missing=True)
    world = begin(Story(checks=[{"proof": ProofVerdict.ERROR, "results": (gone,)}]))
    assert world.calls() == ["haiku"]
    assert world.decisions("1.1") == []
    assert (world.state.outcome, status(world)) == ("blocked", Status.RUNNING)
    assert again(world).outcome == "done", "mended, the same tree is checked again"
    assert world.calls() == ["haiku"]


def test_checks_that_err_only_on_the_change_are_the_codes_after_a_second_look() -> None:
    assert begin(Story(checks=[ERROR])).decisions("1.1") == ["COMPLETE"], "once: looked at again, at no cost"
    world = begin(Story(checks=[ERROR, ERROR]))
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert facts(world, ev.Decided)[0].fault is FaultDomain.CODE


def test_a_check_that_cannot_start_on_the_base_stops_before_the_first_call() -> None:
    gone = replace(failing("x", verdict=Verdict.ERROR, reason="the tool is missing: mypy"), missing=True)
    world = begin(Story(baseline=[{"results": (gone,)}]))
    assert (world.calls(), world.state.outcome) == ([], "blocked")
    assert "the tool is missing: mypy" in world.state.outcome_reason
    assert again(world).outcome == "done"


# ── the judge's ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_invalid_review_is_never_the_implementers_to_pay_for() -> None:
    policy = replace(POLICY, ladder=replace(POLICY.ladder, roles={"reviewer": "haiku"}))
    world = begin(Story(review=[ok()] * 9), policy=policy)
    assert world.calls(Role.REVIEWER) == ["haiku"] * 3 + ["sonnet"] * 3 + ["opus"] * 3, "the reviewer's own ladder"
    assert world.calls() == ["haiku"]
    assert world.state.councils == 0
    assert status(world) is Status.BLOCKED and world.state.tasks["1.1"].kept is not None


def test_a_reviewer_that_works_again_judges_the_kept_tree() -> None:
    world = begin(Story(review=[ok()] * 3))
    tree = world.state.tasks["1.1"].tree
    said = obey(world.state, Retry(task="1.1"))
    assert "from its kept tree" in said.detail
    world.append(*said.events)
    assert again(world).outcome == "done"
    assert (world.calls(), effects_of(world, ef.Commit)[0].tree) == (["haiku"], tree)


def test_attended_the_human_may_judge_in_the_reviewers_place() -> None:
    world = begin(Story(review=[ok()] * 3), attended=True)
    assert the_gate(world) == "blocked"
    assert "accept" in world.state.open_gates()[0].choices
    answer(world, "accept")
    assert world.state.outcome == "done"
    (commit,) = effects_of(world, ef.Commit)
    assert commit.override.startswith("accepted as it is by you")
    assert world.state.tasks["1.1"].reason == commit.override


# ── the agent program's ────────────────────────────────────────────────────────────────────────────────────────────


def test_an_agent_that_cannot_start_is_said_at_once_and_charged_nothing() -> None:
    gone = replace(bad(ResultKind.NOT_STARTED), error="claude: not found", hint="install claude")
    world = begin(Story(implement=[gone] * 9))
    assert (len(world.calls()), world.state.spent_usd, world.state.councils) == (1, 0.0, 0)
    assert (world.state.outcome, "install claude" in world.state.outcome_reason) == ("blocked", True)


@pytest.mark.parametrize("kind", [ResultKind.CRASH, ResultKind.NO_RESULT])
def test_an_agent_that_ends_before_its_first_word_never_reaches_the_council(kind: ResultKind) -> None:
    world = begin(Story(implement=[replace(bad(kind), silent=True)] * 20))
    assert (len(world.calls()), world.state.spent_usd, world.decisions("1.1")) == (3, 0.0, [])
    assert world.state.outcome == "blocked"


def test_what_a_silent_end_costs() -> None:
    silent = replace(bad(ResultKind.CRASH), silent=True)
    assert charge(silent, 2.0) == 0.0
    assert charge(replace(silent, tokens=Tokens(input=5)), 2.0) == 2.0
    assert charge(bad(ResultKind.CRASH), 2.0) == 2.0


# ── cut short in the middle ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [ResultKind.LIMIT, ResultKind.TIMEOUT])
def test_a_call_that_is_cut_short_goes_on_with_its_session_and_tree(kind: ResultKind) -> None:
    cut = replace(bad(kind), session="s7", tokens=Tokens(output=9), cost_usd=0.1)
    world = begin(Story(implement=[cut]))
    first, second = effects_of(world, ef.CallAgent)[:2]
    assert (second.role, second.session, second.iteration) == (Role.IMPLEMENTER, "s7", first.iteration)
    assert second.tree != first.tree, "from what it left, held to the scope"
    assert (world.decisions("1.1"), world.state.outcome) == (["COMPLETE"], "done")


# ── an honest block ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("before", [0, 2, 4])
def test_an_honest_block_reaches_the_human_at_any_rung(before: int) -> None:
    world = begin(Story(checks=reds(before), implement=[None] * before + [said_blocked()]), attended=True)
    assert the_gate(world) == "blocked"
    assert world.decisions("1.1")[-1] == "BLOCKED"
    assert len(world.calls()) == before + 1


# ── the human's commands ───────────────────────────────────────────────────────────────────────────────────────────


def test_kept_work_with_green_checks_can_be_accepted_later() -> None:
    world = begin(Story(checks=[UNPROVEN, UNPROVEN]))
    world.append(*obey(world.state, Accept(task="1.1", by="ann")).events)
    assert again(world).outcome == "done"
    assert (len(world.calls()), effects_of(world, ef.Commit)[0].override[:27]) == (2, "accepted as it is by ann (p")


@pytest.mark.parametrize(
    "taken", [Accept(task="1.1", by="ann"), Retry(task="1.1", from_tree=True)], ids=["accept", "retry"]
)
def test_kept_work_is_measured_again_when_the_task_had_begun_anew(taken: Accept | Retry) -> None:
    """A fresh attempt forgets what the checks said of the kept tree: none of it may be taken as read."""
    world = begin(Story(checks=[UNPROVEN, UNPROVEN]))
    kept = world.state.tasks["1.1"].kept
    assert kept is not None and kept.green
    world.append(*obey(world.state, Retry(task="1.1", from_tree=False)).events)
    world.append(*obey(world.state, Skip(task="1.1")).events)
    assert again(world).tasks["1.1"].status is Status.SKIPPED
    before = len(effects_of(world, ef.RunChecks))
    world.append(*obey(world.state, taken).events)
    assert again(world).outcome == "done"
    task = world.state.tasks["1.1"]
    assert (task.scope_verdict, task.changes, bool(task.checks)) == (Verdict.PASS, kept.changes, True)
    assert len(effects_of(world, ef.RunChecks)) > before
    assert effects_of(world, ef.Commit)[-1].tree == kept.tree


def test_green_work_of_a_task_without_money_can_be_accepted() -> None:
    """Nothing paid for is dropped because the budget ended before the reviewer was content."""
    poor = replace(POLICY, budget=BudgetPolicy(session_usd=2.0))
    world = begin(Story(implement=[ok(0.9), ok(0.9)], review=wanted(9)), policy=poor)
    one = world.state.tasks["1.1"]
    assert one.decision is Decision.BUDGET_EXHAUSTED and one.kept is not None and one.kept.green
    calls = len(world.calls())
    world.append(*obey(world.state, Accept(task="1.1", by="ann")).events)
    assert again(world).outcome == "done"
    assert len(world.calls()) == calls, "nobody is paid once more"
    assert effects_of(world, ef.Commit)[0].override.startswith("accepted as it is by ann")


def test_work_with_red_checks_cannot_be_accepted() -> None:
    world = begin(Story(checks=reds(9)))
    said = obey(world.state, Accept(task="1.1"))
    assert not said.ok and "no kept work with green checks" in said.detail


def test_retry_from_the_tree_and_at_a_rung() -> None:
    world = begin(Story(checks=reds(8)))
    kept = world.state.tasks["1.1"].kept
    assert kept is not None and not kept.green
    world.append(*obey(world.state, Retry(task="1.1", from_tree=True, rung="opus")).events)
    assert again(world).outcome == "done"
    prepared = [effect for effect in effects_of(world, ef.PrepareWorkspace) if effect.task]
    assert prepared[-1].tree == kept.tree
    world = begin(Story(checks=reds(8)))
    world.append(*obey(world.state, Retry(task="1.1", rung="opus")).events)
    assert again(world).outcome == "done"
    assert world.calls()[-1] == "opus"
    assert not obey(world.state, Retry(task="1.1", text="x", rung="nobody")).ok


def test_a_complete_task_is_opened_again_with_a_comment() -> None:
    world = begin(Story())
    assert not obey(world.state, Retry(task="1.1")).ok
    world.append(*obey(world.state, Retry(task="1.1", text="now with argon2")).events)
    assert again(world).outcome == "done"
    assert len(effects_of(world, ef.Commit)) == 2
    assert world.state.tasks["1.1"].comments == ("now with argon2",)


def test_the_council_on_request() -> None:
    world = begin(Story(checks=reds(1), review=[changes_wanted(ONE)]), attended=True)
    assert the_gate(world) == "fix"
    order(world, CallCouncil(task="1.1"))
    assert world.state.councils == 1
    assert len(world.calls(Role.COUNCILLOR)) == 5
    assert world.calls()[-1] == "opus"
    assert not obey(world.state, CallCouncil(task="1.1")).ok, "once a task"


def test_the_council_comes_too_late_for_what_is_on_the_branch() -> None:
    """Killed between its commit and its end: a request must not have it made twice."""
    world = World(Story()).begin(plan_of(ONE), POLICY)
    while not facts(world, ev.Committed):
        assert world.turn() or world.land(next(iter(world.state.inflight.values()))) is None
    assert status(world) is Status.RUNNING
    assert "is committed" in obey(world.state, CallCouncil(task="1.1")).detail
    world.append(ev.CouncilRequested(task="1.1", by="an older engine"))
    world.run()
    assert (world.state.outcome, len(facts(world, ev.Committed)), world.state.councils) == ("done", 1, 0)


# ── the fix gate ───────────────────────────────────────────────────────────────────────────────────────────────────


def wanted(count: int) -> list[Surprise]:
    return [replace(changes_wanted(ONE), summary=str(number)) for number in range(count)]


def test_the_fix_gate_comes_before_the_council_and_may_override_it() -> None:
    world = begin(Story(review=wanted(9)), attended=True)
    for _ in range(6):
        assert the_gate(world) == "fix"
        answer(world, "yes")
    gate = world.state.open_gates()[0]
    assert "COUNCIL" in gate.body
    assert world.calls(Role.COUNCILLOR) == [], "nobody is paid before the human has spoken"
    answer(world, "skip")
    answer(world, "yes")
    assert (world.state.outcome, world.calls(Role.COUNCILLOR)) == ("done", [])
    assert effects_of(world, ef.Commit)[0].override == "you overrode the reviewer"


def test_the_fix_gate_comes_before_halt() -> None:
    world = begin(Story(review=wanted(9)), policy=replace(POLICY, max_iterations=1), attended=True)
    assert (the_gate(world), "HALT" in world.state.open_gates()[0].body) == ("fix", True)
    answer(world, "comment", "once more, with feeling")
    assert len(world.calls()) == 2
    answer(world, "yes")
    assert status(world) is Status.HALTED


def test_auto_answers_what_is_already_open() -> None:
    policy = replace(POLICY, lanes=2)
    world = begin(Story(), ONE, task("1.2"), policy=policy, attended=True)
    first, _second = world.state.open_gates()
    world.append(ev.GateAnswered(gate=first.id, choice="auto", by="you", tree=first.tree))
    world.run()
    assert (world.state.open_gates(), world.state.outcome) == ([], "done")


# ── the plan's: more than a change may add ─────────────────────────────────────────────────────────────────────────


def over(rule: str = "too-many", text: str = "20000 new files, more than 2000 (workspace.max_files): a …") -> Surprise:
    found = Finding(rule=rule, text=text, path=".")
    return {"verdict": Verdict.FAIL, "reverted": (".",), "findings": (found,)}


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_bound_that_is_exceeded_twice_in_a_row_is_the_users(retries: int) -> None:
    world = begin(Story(scope=[over()] * 20), policy=replace(POLICY, scope_retries=retries))
    assert world.calls() == ["haiku", "haiku"], "told once; no rung, no council"
    one = world.state.tasks["1.1"]
    assert one.status is Status.BLOCKED
    assert "2 attempts in a row" in one.reason and "20000 new files" in one.reason
    assert "raise workspace.max_files" in one.action and "devteam retry 1.1" in one.action
    assert facts(world, ev.Decided)[-1].fault is FaultDomain.PLAN


def test_a_bound_exceeded_in_between_is_no_reason_to_stop() -> None:
    outside: Surprise = {"verdict": Verdict.FAIL, "reverted": ("x",)}
    world = begin(Story(scope=[over(), outside, over(), None]))
    assert (world.state.outcome, len(world.calls())) == ("done", 4)


def test_after_a_bound_the_task_opens_again_with_both_attempts() -> None:
    world = begin(Story(scope=[over(), over(), over("too-large", "big has 9 bytes"), None]))
    world.append(*obey(world.state, Retry(task="1.1")).events)
    assert again(world).outcome == "done"
    assert len(world.calls()) == 4
    attended = begin(Story(scope=[over(), over(), over(), None]), attended=True)
    assert the_gate(attended)
    answer(attended, "retry")
    assert len(attended.calls()) == 4, "a retry at the gate forgets the count too"
