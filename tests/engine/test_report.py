"""The reports in the very layout of the seeds."""

from __future__ import annotations

import re

import msgspec
import pytest

from engine import report, views
from engine.closing_summary import summary
from engine.core.model import CheckKind, CheckResult, FileChange, TestCounts, Verdict
from engine.core.state import Breaker, State
from engine.core.vocabulary import Outcome
from engine.service.local import open_desk
from tests.cli.ground import Ground, Told

RULE = "═" * 63

ITERATION = f"""{RULE}
 TASK LOOP - Iteration 1/10
{RULE}

[Task] 1.2: Write two
[Model] small (complexity: 2/14)

[Implementation]
  Agent: scripted
  Status: completed
  Files: 1 modified

[Quality Gates]
  Tests:     NOT_RUN
  Types:     NOT_RUN
  Lint:      FAIL
  Security:  NOT_RUN

[Requirements]
  Status: NOT_RUN
  Criteria: 0/0

[Decision]
  ESCALATE
  Reason: 1 consecutive failure; shape: exit code 1; it offers no report

{RULE}"""

COMPLETION = f"""{RULE}
 TASK LOOP - COMPLETE
{RULE}

Task: 1.2 Write two
Status: COMPLETE
Iterations: 2
Final Model: big

[Quality Summary]
  All tests passing: not checked
  Type errors: not checked
  Lint errors: 0
  Security issues: not checked

[Requirements]
  All criteria met: YES (1/1)
  Proof: HARMLESS nothing broke; the plan says that there is nothing to show

[Model Usage]
  Small: 1 call
  Big:   2 calls

[Escalations]
  small → big (iteration 2): 1 consecutive failure; shape: exit code 1; it offers no report

[Cost]
  $0.03

{RULE}"""

SHORT = "═" * 43
BANNER = f"""{SHORT}
AUTONOMOUS MODE - Iteration 3
{SHORT}
Sprints: 1/1
Current: 001-count-things - ~
Failures: 0/5
Status: COMPLETE
{SHORT}"""

SUMMARY = """Sprint 001-count-things successfully completed in 3 iterations!

Evidence: 4 checks: 4 PASS, 0 FAIL, 0 ERROR, 0 NOT_RUN

Final Validation:
– No tests were run
– No build check
✓ All 2 tasks complete and committed on devteam/001-count-things
✓ All checks on the finished branch: PASS
✓ All 2 acceptance criteria met

Files Modified:
- 2 files created
- 0 files modified
- 0 files deleted
- 0 tests added

Cost: $0.09 in 5 agent calls, 1 escalation, 0 council sessions

Plan kept at: .devteam/sprints/001-count-things/plan.md
To take it over: devteam land   (look at it first: devteam report --html > report.html)"""


@pytest.fixture
def state(finished: tuple[Ground, Told, str]) -> State:
    ground, _, _ = finished
    return open_desk(ground.folder, ground.environment(), ground.home).state()


def test_the_iteration_and_completion_reports(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    told = ground.run("report", "--task", "1.2", "--json")
    reports = [line["report"] for line in told.lines()]
    assert reports[0] == ITERATION
    assert reports[-1] == COMPLETION
    assert len(reports) == 3
    assert "Lint:      PASS" in reports[1]


def test_the_banner_and_the_summary(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    reports = [line["report"] for line in ground.run("report", "--json").lines()]
    assert reports[0] == BANNER
    assert reports[-1] == SUMMARY


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        pytest.param({"running": True, "outcome": None}, "CONTINUING", id="running"),
        pytest.param({"outcome": Outcome.DONE}, "COMPLETE", id="done"),
        pytest.param({"outcome": Outcome.LIMIT}, "LIMIT", id="out of budget"),
        pytest.param({"outcome": None}, "IDLE", id="not started"),
        pytest.param(
            {"running": True, "breakers": {"x": Breaker(failures=5, opened_at=9.0)}},
            "CIRCUIT_BREAKER",
            id="breaker",
        ),
    ],
)
def test_the_banners_status(state: State, changes: dict[str, object], word: str) -> None:
    text = report.banner(msgspec.structs.replace(state, **changes))
    assert f"\nStatus: {word}\n" in text


def test_nothing_unproven_reads_as_proven(state: State) -> None:
    """A summary of a branch whose final checks did not pass has no tick before them."""
    text = summary(msgspec.structs.replace(state, final=Verdict.ERROR, outcome=Outcome.FAILED, outcome_reason="why"))
    assert "✗ All checks on the finished branch: ERROR" in text
    assert "ended: failed. why" in text
    assert "successfully" not in text


def test_hostile_words_do_not_reach_the_reports(state: State) -> None:
    """Titles and reasons come from plans and agents: no escape sequence passes into a report or a view."""
    task = state.tasks["1.2"]
    evil = "\x1b[31mred\x1b]0;title\x07\u202e"
    bad = msgspec.structs.replace(task, reason=evil, action=evil, spec=msgspec.structs.replace(task.spec, title=evil))
    told = msgspec.structs.replace(state, tasks={**state.tasks, "1.2": bad}, health_reason=evil, outcome_reason=evil)
    texts = (
        report.completion(told, bad), report.iteration(told, bad), summary(told), views.progress(told),
        views.loop_state(told), views.context(told), views.learning(bad), views.closing_report(told),
    )  # fmt: skip
    for text in texts:
        assert not re.search("[\x1b\x07\u202e]", text)


def test_criteria_that_nobody_judged_are_neither_met_nor_unmet(state: State) -> None:
    unread = msgspec.structs.replace(state.tasks["1.1"], review=None)
    policy = msgspec.structs.replace(state.policy, review=False)
    told = msgspec.structs.replace(state, policy=policy, tasks={"1.1": unread})
    assert "– 1 acceptance criterion: judged by nobody, the review is off" in summary(told)
    assert "All criteria met: not judged (0/1)" in report.completion(told, unread)


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        pytest.param("modified", "modified", "0 files created\n- 1 file modified\n- 0 files deleted", id="twice"),
        pytest.param("added", "modified", "1 file created\n- 0 files modified\n- 0 files deleted", id="made, changed"),
        pytest.param("added", "deleted", "0 files created\n- 0 files modified\n- 0 files deleted", id="come and gone"),
        pytest.param("modified", "deleted", "0 files created\n- 0 files modified\n- 1 file deleted", id="gone"),
    ],
)
def test_a_file_that_two_tasks_changed_is_one_file(state: State, first: str, then: str, words: str) -> None:
    tasks = {
        name: msgspec.structs.replace(state.tasks[name], ended_at=at, changes=(FileChange(path="a.py", change=change),))
        for name, at, change in (("1.2", 2.0, then), ("1.1", 1.0, first))
    }
    assert words in summary(msgspec.structs.replace(state, tasks=tasks))


@pytest.mark.parametrize(
    ("verdict", "passed", "line"),
    [
        pytest.param(Verdict.PASS, 3, "✓ All tests passing: 3/3", id="all"),
        pytest.param(Verdict.PASS, 1, "✓ No test broken: 1/3 pass, as before the sprint", id="broken before"),
        pytest.param(Verdict.FAIL, 1, "✗ All tests passing: 1/3", id="failing"),
    ],
)
def test_tests_that_do_not_pass_are_not_called_passing(state: State, verdict: Verdict, passed: int, line: str) -> None:
    counts = TestCounts(total=3, passed=passed, failed=3 - passed)
    check = CheckResult(name="tests", kind=CheckKind.TESTS, verdict=verdict, counts=counts)
    task = msgspec.structs.replace(state.tasks["1.2"], checks=(check,))
    assert line in summary(msgspec.structs.replace(state, tasks={"1.2": task}))
