"""What a sprint adds to the statistics, how long its tasks were worked on, and how it stands in a word."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.model import CheckKind, CheckResult, Role, TestCounts, Verdict
from engine.core.state import Status
from engine.core.statistics import of_sprint, together
from engine.core.status_words import of_sprint as standing
from engine.core.vocabulary import Outcome
from engine.other_sprints import past_tasks
from tests.core.parts import a_state, a_task
from tests.core.story import Story, again, answer, begin, reds, task
from tests.core.world import World, happy, plan_of


def test_what_the_events_add_up_to() -> None:
    world = begin(Story(checks=[*reds(2), None]), task("1.1"), task("1.2"))
    one = of_sprint(world.log)
    figures = one.figures
    assert (figures.tasks, figures.complete, figures.first_pass, figures.iterations) == (2, 2, 1, 4)
    assert (figures.claims, figures.contradicted) == (4, 2)
    assert figures.resolved_by == {"haiku": 1, "sonnet": 1}
    assert (figures.forecast_tasks, figures.forecast_spent) == (2, pytest.approx(figures.usd_complete))
    assert one.sprint == "001-demo" and one.at == world.state.now
    both = together([figures, figures])
    assert (both.complete, both.resolved_by) == (4, {"haiku": 2, "sonnet": 2})


def test_only_what_was_forecast_and_done_is_compared() -> None:
    """Three tasks forecast and one done: the forecast of the other two says nothing."""
    done, left = task("1.1"), task("1.2", "9.9")
    figures = of_sprint(begin(Story(), done, left).log).figures
    alone = of_sprint(begin(Story(), done).log).figures
    assert (figures.complete, figures.forecast_usd) == (1, alone.forecast_usd)


def test_time_at_a_gate_or_between_runs_is_not_time_worked() -> None:
    world = begin(Story(), attended=True)
    before = world.state.tasks["1.1"].worked_seconds
    assert before > 0
    world.at += 86_400.0
    answer(world, "yes")
    took = world.state.tasks["1.1"].worked_seconds
    assert before < took < before + 100
    assert of_sprint(world.log).figures.seconds_complete == took


def test_a_call_whose_end_nobody_saw_counts_for_nothing() -> None:
    world = World(happy).begin(plan_of(task("1.1")))
    while not any(call.role is Role.IMPLEMENTER for call in world.state.calls_in_flight()):
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    before = world.state.tasks["1.1"].worked_seconds
    world.at += 50_000.0
    world.append(*(ev.EffectInterrupted(id=name, reason="killed") for name in world.state.inflight))
    assert world.state.tasks["1.1"].worked_seconds == before
    again(world)
    assert before < world.state.tasks["1.1"].worked_seconds < before + 100


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        pytest.param({"running": True}, "running", id="running"),
        pytest.param({"outcome": Outcome.DONE}, "planned", id="a plan that nobody has worked on is not done"),
        pytest.param({"outcome": Outcome.BLOCKED}, "blocked", id="blocked"),
        pytest.param({}, "", id="not begun"),
        pytest.param({"iterations": 2}, "open", id="opened again after its end"),
    ],
)
def test_how_a_sprint_stands(fields: dict[str, object], word: str) -> None:
    assert standing(a_state(a_task(status=Status.PENDING), **{"running": False, **fields})) == word


def test_done_and_a_prd_alone() -> None:
    assert standing(a_state(a_task(status=Status.COMPLETE), running=False, outcome=Outcome.DONE)) == "done"
    assert standing(a_state(running=False, outcome=Outcome.DONE, plan=None)) == "prd"


def test_what_a_task_teaches_a_forecast() -> None:
    """Check durations and flaky tests of a finished task, from the results that judged it."""
    judged = CheckResult(
        name="tests", kind=CheckKind.TESTS, verdict=Verdict.PASS, seconds=12.5, counts=TestCounts(total=4, flaky=1)
    )
    world = begin(Story())
    task = replace(world.state.tasks["1.1"], checks=(judged, replace(judged, name="types", counts=None, seconds=2.5)))
    ((_at, past),) = past_tasks(replace(world.state, tasks={"1.1": task}))
    assert (past.check_seconds, past.flaky) == (15.0, 1)
