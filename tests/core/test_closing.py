"""How runs end: each outcome, its words, its exit code."""

from __future__ import annotations

import pytest

from engine.core.closing import EXIT_CODES, outcome_of, task_end
from engine.core.model import Decision, TaskSpec, Verdict
from engine.core.state import State, Status, TaskState
from engine.core.vocabulary import Outcome
from tests.core.parts import a_state, a_task


def ended(*statuses: Status, **fields: object) -> State:
    return a_state(*(a_task(f"1.{index}", status=status) for index, status in enumerate(statuses, 1)), **fields)


DONE, BLOCKED, HALTED = Status.COMPLETE, Status.BLOCKED, Status.HALTED
SKIPPED, POOR = Status.SKIPPED, Status.BUDGET_EXHAUSTED


@pytest.mark.parametrize(
    ("state", "outcome", "code", "words"),
    [
        pytest.param(ended(DONE, DONE), "done", 0, "All tasks complete. 2 tasks implemented.", id="done"),
        pytest.param(ended(DONE, SKIPPED), "done", 0, "1 task implemented, 1 skipped.", id="done but for a skip"),
        pytest.param(ended(DONE, BLOCKED), "blocked", 3, "1 of 2 tasks complete; blocked: 1.2", id="blocked"),
        pytest.param(ended(POOR, BLOCKED), "limit", 2, "out of budget: 1.1", id="out of budget"),
        pytest.param(
            ended(HALTED, POOR, BLOCKED),
            "failed",
            1,
            "halted: 1.1; out of budget: 1.2; blocked: 1.3",
            id="each is named",
        ),
        pytest.param(ended(DONE, final=Verdict.PASS), "done", 0, "complete", id="proven"),
        pytest.param(ended(DONE, final=Verdict.FAIL, final_reason="1 red"), "failed", 1, "branch: 1 red", id="not"),
        pytest.param(ended(DONE, final=Verdict.ERROR), "failed", 1, "final checks", id="could not be proven"),
        pytest.param(ended(DONE, final=Verdict.NOT_RUN), "failed", 1, "final checks", id="was not proven"),
        pytest.param(ended(), "failed", 1, "the plan has no task", id="nothing is not done"),
    ],
)
def test_outcome(state: State, outcome: str, code: int, words: str) -> None:
    named, said = outcome_of(state)
    assert (named, EXIT_CODES[named]) == (outcome, code)
    assert words in said


def test_every_outcome_has_an_exit_code() -> None:
    assert set(Outcome) == set(EXIT_CODES)
    assert EXIT_CODES[Outcome.STOPPED] == EXIT_CODES[Outcome.INTERRUPTED] == 130
    assert [name for name, code in EXIT_CODES.items() if code == 0] == ["done"]


@pytest.mark.parametrize(
    ("task", "decision", "action"),
    [
        pytest.param(a_task(decision=Decision.COMPLETE, reason="3 of 3"), "COMPLETE", "", id="complete"),
        pytest.param(a_task(decision=Decision.HALT), "HALT", "devteam retry 1.1", id="halt"),
        pytest.param(a_task(decision=Decision.SKIPPED), "SKIPPED", "", id="skipped"),
        pytest.param(a_task(decision=Decision.BUDGET_EXHAUSTED), "BUDGET_EXHAUSTED", "raise [budget]", id="budget"),
        pytest.param(a_task(decision=Decision.BLOCKED), "BLOCKED", "devteam report --task 1.1", id="blocked"),
        pytest.param(a_task(decision=Decision.ITERATE, blocker="no git"), "BLOCKED", "devteam", id="a blocker"),
        pytest.param(a_task(decision=None), "BLOCKED", "devteam", id="no decision is no completion"),
        pytest.param(a_task(decision=Decision.ITERATE), "BLOCKED", "devteam", id="nor is an unfinished one"),
        pytest.param(a_task(decision=Decision.BLOCKED, action="log in"), "BLOCKED", "log in", id="its own cure"),
    ],
)
def test_task_end_names_what_to_do(task: TaskState, decision: str, action: str) -> None:
    event = task_end(task)
    assert event.decision is Decision(decision)
    assert action in event.action
    assert bool(event.action) is bool(action)


def test_what_was_ticked_off_beforehand_is_not_called_implemented() -> None:
    ticked = a_task("1.1", status=DONE, spec=TaskSpec(id="1.1", title="One", done=True))
    assert outcome_of(a_state(ticked))[1] == "Nothing to do: 1 task ticked off in the plan beforehand."
    both = a_state(ticked, a_task("1.2", status=DONE))
    assert outcome_of(both)[1] == "All tasks complete. 1 task implemented, 1 ticked off in the plan beforehand."
