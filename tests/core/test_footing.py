"""A run begins only on checks that can judge somebody: everything else stops it before the first call."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core.footing import LOOK, refusal
from engine.core.model import CheckKind, CheckResult, PhaseSpec, Plan, TaskSpec, TestCounts, Verdict
from engine.core.state import State

GREEN = CheckResult(name="pytest", kind=CheckKind.TESTS, verdict=Verdict.PASS, counts=TestCounts(passed=3))
PLAN = Plan(title="t", phases=(PhaseSpec(id="1", title="one", tasks=(TaskSpec(id="1.1", title="x"),)),))


def state(*results: CheckResult, scaffold: bool = False) -> State:
    phases = tuple(replace(phase, scaffold=scaffold) for phase in PLAN.phases)
    return replace(State(), baseline=results, plan=replace(PLAN, phases=phases))


EMPTY = replace(GREEN, verdict=Verdict.NOT_RUN, reason="no test ran", counts=TestCounts())


@pytest.mark.parametrize(
    ("result", "words"),
    [
        pytest.param(GREEN, "", id="green"),
        pytest.param(replace(GREEN, verdict=Verdict.FAIL, failing=("a",)), "", id="red-in-both"),
        pytest.param(replace(GREEN, verdict=Verdict.ERROR, reason="no such tool"), "no such tool", id="error"),
        pytest.param(EMPTY, "no test ran", id="empty"),
        pytest.param(replace(GREEN, verdict=Verdict.NOT_RUN, reason="did not finish"), "did not finish", id="timeout"),
        pytest.param(replace(GREEN, only_in_clone=("a", "b")), "not in a clone: a and 1 more", id="clone"),
        pytest.param(replace(GREEN, verdict=Verdict.ERROR, required=False), "", id="not-required"),
    ],
)  # fmt: skip
def test_what_stops_a_run(result: CheckResult, words: str) -> None:
    said = refusal(state(GREEN, replace(result, name="tests 2")))
    assert (words in said) if words else said == ""
    if words:
        assert said.startswith("environment: tests 2: ")
        assert said.endswith(LOOK)
        hinted = refusal(state(replace(result, hint="pip install pytest")))
        assert hinted.endswith("— pip install pytest"), "the one line that mends it"


def test_a_sprint_that_lays_the_ground_may_begin_without_tests() -> None:
    assert refusal(state(EMPTY, scaffold=True)) == ""
    assert refusal(state(replace(EMPTY, verdict=Verdict.ERROR, reason="x"), scaffold=True)) != ""


def test_so_may_one_whose_configuration_says_that_there_are_no_tests_yet() -> None:
    assert refusal(state(replace(EMPTY, no_tests_yet=True))) == ""
    assert refusal(state(replace(EMPTY, no_tests_yet=True, verdict=Verdict.ERROR, reason="x"))) != ""


LINT = CheckResult(name="ruff", kind=CheckKind.LINT, verdict=Verdict.PASS)


def test_where_no_check_runs_a_test_nobody_is_paid_for_what_cannot_be_proven() -> None:
    assert "nothing could prove task 1.1" in refusal(state(LINT))
    assert refusal(state(LINT, GREEN)) == "" == refusal(state(LINT, scaffold=True))


@pytest.mark.parametrize(
    ("proof", "begins"), [("none (refactoring)", False), ("none (move)", False), ("none (docs)", True)]
)
def test_a_refactoring_that_no_test_holds_is_not_begun(proof: str, begins: bool) -> None:
    """bl: its tests were left out, and a broken indexOf landed as a refactoring."""
    task = replace(PLAN.phases[0].tasks[0], proof=proof)
    plan = replace(PLAN, phases=(replace(PLAN.phases[0], tasks=(task,)),))
    assert (refusal(replace(State(), baseline=(LINT,), plan=plan)) == "") is begins
    assert refusal(replace(State(), baseline=(LINT, GREEN), plan=plan)) == ""


@pytest.mark.parametrize("given", [{"verify": ("sh check.sh",)}, {"proof": "none"}])
def test_a_task_that_says_how_it_is_shown_needs_no_tests(given: dict[str, object]) -> None:
    task = replace(PLAN.phases[0].tasks[0], **given)
    plan = replace(PLAN, phases=(replace(PLAN.phases[0], tasks=(task,)),))
    assert refusal(replace(State(), baseline=(LINT,), plan=plan)) == ""
