"""The final review: due when all is complete, opens tasks again a bounded number of times, then it is the human's."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer
from engine.core.fold import apply
from engine.core.model import Criterion, Issue, ResultKind, Role, TaskSpec
from engine.core.orders import obey
from engine.core.policy import GatePolicy, Policy, RetryPolicy
from engine.core.sprint_review_state import TaskCriterion, TaskIssue
from engine.core.state import State, Status
from tests.core.world import World, happy, ok, outcome, plan_of
from tui.cli.event_text import event_line

ONE, TWO, THREE = (TaskSpec(id=f"1.{n}", title=f"Do {n}", accept=(f"it shows {n}",)) for n in (1, 2, 3))
AUTO = Policy(gates=GatePolicy(fix="auto", task="auto"), retry=RetryPolicy(delay_seconds=0.0))


class Judge:
    """Objects `times` often to what it is told to; everything else goes well."""

    def __init__(self, times: int, *issues: TaskIssue, unmet: str = "", kind: ResultKind = ResultKind.OK) -> None:
        self.times, self.issues, self.unmet, self.kind = times, issues, unmet, kind
        self.calls: list[ef.CallAgent] = []

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        match effect:
            case ef.CallAgent(role=Role.SPRINT_REVIEWER):
                self.calls.append(effect)
                if self.kind is not ResultKind.OK:
                    return [outcome(effect, replace(ok(), kind=self.kind))]
                if len(self.calls) > self.times:
                    return happy(world, effect)
                met = tuple(
                    TaskCriterion(task=task.id, criterion=Criterion(text="it shows", met=task.id != self.unmet))
                    for task in world.state.tasks.values()
                )
                said = ev.SprintReviewed(
                    id=effect.id, head=effect.tree, approved=False, issues=self.issues, criteria=met, summary="no"
                )
                return [outcome(effect, ok()), said]
            case _:
                return happy(world, effect)


def objection(task: str = "1.2", path: str = "") -> TaskIssue:
    return TaskIssue(task=task, issue=Issue(text="made twice", fix="use the first", path=path))


def run(judge: Judge, *tasks: TaskSpec, attended: bool = False, policy: Policy = AUTO, waits: bool = False) -> World:
    world = World(judge).begin(plan_of(*(tasks or (ONE, TWO))), policy, attended=attended, waits=waits)
    world.run()
    return world


def reopened(world: World) -> list[tuple[str, ...]]:
    return [one.event.tasks for one in world.log if isinstance(one.event, ev.TasksReopened)]


def implemented(world: World, task: str) -> int:
    calls = [one for one in world.started if isinstance(one, ef.CallAgent) and one.role is Role.IMPLEMENTER]
    return sum(one.task == task for one in calls)


def test_the_whole_is_judged_once_after_the_final_checks() -> None:
    judge = Judge(0)
    world = run(judge)
    assert len(judge.calls) == 1 and judge.calls[0].read_only and judge.calls[0].tree == world.state.head
    finals = [one.id for one in world.started if isinstance(one, ef.RunChecks) and one.purpose == "final"]
    assert finals and finals[0] < judge.calls[0].id
    assert world.state.outcome == "done"
    world.begin(plan_of(ONE, TWO), AUTO).run()
    assert len(judge.calls) == 1 and world.state.outcome == "done", "the same commit is not judged twice"


@pytest.mark.parametrize(
    ("tasks", "policy"),
    [
        pytest.param((ONE,), AUTO, id="one task: its own review saw the whole"),
        pytest.param((ONE, TaskSpec(id="1.2", title="no criteria")), AUTO, id="criteria of one task"),
        pytest.param((ONE, TWO), Policy(final_review=False, gates=AUTO.gates), id="switched off"),
        pytest.param((ONE, TWO), Policy(review=False, gates=AUTO.gates), id="no reviews at all"),
    ],
)
def test_not_due(tasks: tuple[TaskSpec, ...], policy: Policy) -> None:
    judge = Judge(9)
    assert run(judge, *tasks, policy=policy).state.outcome == "done" and not judge.calls


@pytest.mark.parametrize(
    ("judge", "names"),
    [
        pytest.param(Judge(1, objection("1.2")), ("1.2",), id="named"),
        pytest.param(Judge(1, objection("", path="a.py")), ("1.2",), id="by its file: who touched it last"),
        pytest.param(Judge(1, unmet="1.1"), ("1.1",), id="an unmet criterion"),
        pytest.param(Judge(1, objection("1.2"), unmet="1.1"), ("1.1", "1.2"), id="both"),
    ],
)
def test_the_tasks_concerned_are_opened_again_and_hear_why(judge: Judge, names: tuple[str, ...]) -> None:
    world = run(judge)
    assert reopened(world) == [names] and world.state.outcome == "done"
    assert [implemented(world, name) for name in ("1.1", "1.2")] == [1 + (n in names) for n in ("1.1", "1.2")]
    assert len(judge.calls) == 2 and judge.calls[0].tree != judge.calls[1].tree, "the mended whole is judged anew"
    at = next(index for index, one in enumerate(world.log) if isinstance(one.event, ev.TasksReopened))
    state = State()
    for one in world.log[: at + 1]:
        state = apply(state, one)
    told = state.tasks[names[0]].feedback
    assert told is not None and told.review is not None and not told.review.approved
    assert state.tasks[names[0]].status is Status.PENDING and state.final is None


def test_two_rounds_by_itself_then_a_human() -> None:
    world = run(Judge(99, objection()))
    assert reopened(world) == [("1.2",), ("1.2",)]
    assert world.state.outcome == "blocked"
    assert "the final review wants changes: made twice" in world.state.outcome_reason
    assert "devteam retry 1.2" in world.state.outcome_reason
    calls = world.state.calls
    world.begin(plan_of(ONE, TWO), AUTO).run()
    assert world.state.calls == calls and world.state.outcome == "blocked", "nobody is paid to hear it again"


def test_an_objection_to_nothing_in_particular_is_the_humans() -> None:
    world = run(Judge(99, objection("9.9")))
    assert not reopened(world) and world.state.outcome == "blocked"


@pytest.mark.parametrize("choice", ["yes", "comment", "skip"])
def test_the_gate(choice: str) -> None:
    gated = Policy(gates=GatePolicy(fix="gated", task="auto"))
    world = run(Judge(1, objection()), attended=True, policy=gated)
    (gate,) = world.state.open_gates()
    assert gate.kind == "sprint" and "ISSUE in 1.2: made twice\n  FIX: use the first" in gate.body
    assert world.state.outcome == "blocked" and f"devteam answer {gate.id}" in world.state.outcome_reason
    answered = obey(world.state, Answer(gate=gate.id, choice=choice, text="my way" * (choice == "comment"), by="me"))
    assert answered.ok, answered.detail
    world.append(*answered.events)
    world.begin(plan_of(ONE, TWO), gated, attended=True, waits=False).run()
    assert world.state.outcome == "done"
    if choice == "skip":
        assert not reopened(world) and world.state.sprint_review.overridden == "me took the sprint as it is"
    else:
        assert reopened(world) == [("1.2",)]
        assert world.state.tasks["1.2"].comments == (("my way",) if choice == "comment" else ())


def test_a_question_at_the_gate_decides_nothing() -> None:
    gated = Policy(gates=GatePolicy(fix="gated", task="auto"))
    world = run(Judge(1, objection()), attended=True, policy=gated)
    world.append(*obey(world.state, Answer(gate="G1", choice="ask", text="why?")).events)
    world.begin(plan_of(ONE, TWO), gated, attended=True, waits=False).run()
    (gate,) = world.state.open_gates()
    assert gate.questions == (("why?", "because"),) and not reopened(world)


@pytest.mark.parametrize("kind", [ResultKind.CRASH, ResultKind.NO_RESULT, ResultKind.AUTH, ResultKind.TIMEOUT])
def test_a_judge_without_an_answer_costs_no_task_anything(kind: ResultKind) -> None:
    judge = Judge(0, kind=kind)
    world = run(judge)
    assert world.state.outcome == "blocked" and "no final review" in world.state.outcome_reason
    assert 1 <= len(judge.calls) <= 3 and not reopened(world)
    assert all(task.status is Status.COMPLETE for task in world.state.tasks.values())
    judge.kind = ResultKind.OK
    world.begin(plan_of(ONE, TWO), AUTO).run()
    assert world.state.outcome == "done", "the next run asks again"


def test_a_blocked_sprint_is_not_reviewed() -> None:
    judge = Judge(0)

    def script(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        if isinstance(effect, ef.CallAgent) and effect.task == "1.3" and effect.role is Role.IMPLEMENTER:
            return [outcome(effect, ok(claim="blocked", claim_text="needs a key"))]
        return judge(world, effect)

    world = World(script).begin(plan_of(ONE, TWO, THREE), AUTO, attended=False, waits=False)
    world.run()
    assert world.state.outcome == "blocked" and not judge.calls


def test_the_old_tick_of_a_task_that_was_opened_again_is_no_word_of_the_user() -> None:
    """plan.md may still say [x] when the engine was killed between opening the task again and marking it so."""
    world = World(Judge(1, objection())).begin(plan_of(ONE, TWO), AUTO)
    while not reopened(world):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    stale = plan_of(replace(ONE, done=True), replace(TWO, done=True))
    world.append(ev.PlanChanged(plan=stale, summary="ticks"))
    assert world.state.tasks["1.2"].status is Status.PENDING and not world.state.tasks["1.2"].spec.done
    world.run()
    assert implemented(world, "1.2") == 2 and world.state.outcome == "done"


def test_an_approval_is_of_one_commit_alone() -> None:
    judge = Judge(0)
    world = run(judge)
    world.append(ev.RetryRequested(task="1.1", text="smaller, please", by="you"))
    world.begin(plan_of(ONE, TWO), AUTO).run()
    assert [call.tree for call in judge.calls][-1] == world.state.head and len(judge.calls) == 2


def test_the_log_says_what_the_final_review_wants_and_opens_again() -> None:
    world = run(Judge(1, objection(), unmet="1.1"))
    lines = [event_line(one) for one in world.log]
    assert any(line.endswith("final review: changes wanted: 1.2 made twice no") for line in lines)
    assert any("opened again by the final review: 1.1, 1.2" in line for line in lines)
    assert any("sprint sprint-reviewer at opus" in line for line in lines)


def test_where_the_review_names_no_task_the_human_does() -> None:
    gated = Policy(gates=GatePolicy(fix="gated", task="auto"))
    world = run(Judge(1, objection("9.9")), attended=True, policy=gated)
    for words in ("somewhere", "see 1.1, please"):
        (gate,) = world.state.open_gates()
        assert "yes" not in gate.choices
        world.append(*obey(world.state, Answer(gate=gate.id, choice="comment", text=words)).events)
        world.begin(plan_of(ONE, TWO), gated, attended=True, waits=False).run()
    assert reopened(world) == [("1.1",)] and world.state.outcome == "done"
    assert world.state.tasks["1.1"].comments == ("see 1.1, please",)
