"""Evidence → verdict: one way to pass, every doubt lands on the other side."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, CheckResult, Criterion, Finding, Issue, Review, TaskSpec, Verdict
from engine.core.state import TaskState
from engine.core.verdict import counts, critical, failing_set, of_checks, of_task
from tests.core.parts import a_task
from tests.core.world import failing, passing

SPEC = TaskSpec(id="1.1", title="A", accept=("fast", "small"))
MET = tuple(Criterion(text=text, met=True) for text in SPEC.accept)
APPROVED = Review(approved=True, criteria=MET)
DONE = a_task(spec=SPEC, scope_verdict=Verdict.PASS, checks=(passing(),), review=APPROVED)


def check(verdict: str, *, required: bool = True, reason: str = "") -> CheckResult:
    return CheckResult(name="lint", kind=CheckKind.LINT, verdict=Verdict(verdict), required=required, reason=reason)


def finding(severity: str) -> Finding:
    return Finding(rule="R1", text=f"a {severity} thing", severity=severity)


@pytest.mark.parametrize(
    ("results", "findings", "verdict", "words"),
    [
        pytest.param([check("PASS")], [], "PASS", "1 of 1 checks pass", id="all pass"),
        pytest.param([], [], "NOT_RUN", "no check was run", id="no checks"),
        pytest.param([check("PASS", required=False)], [], "NOT_RUN", "no check", id="only optional checks"),
        pytest.param([check("PASS"), check("FAIL", reason="E501")], [], "FAIL", "lint: E501", id="one fails"),
        pytest.param([check("PASS"), check("ERROR")], [], "ERROR", "lint: ERROR", id="one could not tell"),
        pytest.param([check("PASS"), check("NOT_RUN")], [], "NOT_RUN", "lint: NOT_RUN", id="one was not run"),
        pytest.param([check("FAIL"), check("ERROR")], [], "ERROR", "lint: ERROR", id="an error speaks first"),
        pytest.param([check("PASS"), check("FAIL", required=False)], [], "PASS", "1 of 1", id="an optional one fails"),
        pytest.param([check("PASS")], [finding("note")], "PASS", "pass", id="a note"),
        pytest.param([check("PASS")], [finding("error")], "FAIL", "a error thing", id="an integrity finding"),
        pytest.param([check("PASS")], [finding("human")], "FAIL", "a human thing", id="one for the human"),
        pytest.param([check("PASS")], [finding("critical")], "FAIL", "a critical thing", id="a critical one"),
        pytest.param([check("PASS")], [finding("warning")], "FAIL", "a warning thing", id="a warning left over"),
    ],
)
def test_of_checks(results: list[CheckResult], findings: list[Finding], verdict: str, words: str) -> None:
    found, said = of_checks(results, findings)
    assert found is Verdict(verdict)
    assert words in said


def reviewed(**fields: object) -> Review:
    return replace(APPROVED, **fields)


@pytest.mark.parametrize(
    ("change", "verdict", "words"),
    [
        pytest.param({}, "PASS", "review approved", id="all of it"),
        pytest.param({"error": "claude: crash"}, "FAIL", "claude: crash", id="the attempt failed"),
        pytest.param({"scope_verdict": None}, "NOT_RUN", "scope: not checked", id="scope not checked"),
        pytest.param({"scope_verdict": Verdict.ERROR}, "ERROR", "scope: ERROR", id="scope could not be told"),
        pytest.param(
            {"scope_verdict": Verdict.FAIL, "reverted": ("x.py",)}, "FAIL", "1 out-of-scope path(s)", id="out of scope"
        ),
        pytest.param(
            {
                "scope_verdict": Verdict.FAIL,
                "reverted": ("x.py",),
                "scope_findings": (Finding(rule="secret", text="x.py line 3 holds a secret of yours", path="x.py"),),
            },
            "FAIL",
            "1 path(s) put back: x.py line 3 holds a secret of yours",
            id="a secret",
        ),
        pytest.param({"checks": ()}, "NOT_RUN", "no check was run", id="no checks"),
        pytest.param({"checks": (failing("a"),)}, "FAIL", "1 failing: a", id="a failing test"),
        pytest.param({"review": None}, "NOT_RUN", "the review has not been made", id="no review"),
        pytest.param({"review": reviewed(approved=False)}, "FAIL", "no issue named", id="not approved, no issue"),
        pytest.param(
            {"review": reviewed(approved=False, issues=(Issue(text="slow"),))}, "FAIL", "slow", id="not approved"
        ),
        pytest.param(
            {"review": reviewed(criteria=MET[:1])}, "FAIL", "left 1 of 2 criteria unanswered", id="unanswered"
        ),
        pytest.param({"review": reviewed(criteria=())}, "FAIL", "left 2 of 2", id="none answered"),
        pytest.param(
            {"review": reviewed(criteria=(MET[0], Criterion(text="small", met=False)))},
            "FAIL",
            "1 of 2 criteria unmet: small",
            id="approved but unmet",
        ),
        pytest.param(
            {"review": reviewed(issues=(Issue(text="injection", critical=True),))},
            "FAIL",
            "security-critical: injection",
            id="approved with a critical issue",
        ),
        pytest.param(
            {"checks": (passing(), replace(check("PASS", required=False), findings=(finding("critical"),)))},
            "FAIL",
            "security-critical",
            id="a critical finding in an optional check",
        ),
        pytest.param({"findings": (finding("critical"),)}, "FAIL", "a critical thing", id="a critical finding"),
        pytest.param({"overridden": True, "review": reviewed(approved=False)}, "PASS", "checks", id="overridden"),
        pytest.param({"overridden": True, "checks": (failing("a"),)}, "FAIL", "a", id="checks cannot be overridden"),
    ],
)
def test_of_task(change: dict[str, object], verdict: str, words: str) -> None:
    found, said = of_task(replace(DONE, **change), True)
    assert found is Verdict(verdict)
    assert words in said


def test_without_a_reviewer_the_checks_decide() -> None:
    assert of_task(replace(DONE, review=None), False)[0] is Verdict.PASS
    assert of_task(replace(DONE, review=None, checks=()), False)[0] is Verdict.NOT_RUN


@pytest.mark.parametrize(
    ("task", "text"),
    [
        pytest.param(DONE, None, id="none"),
        pytest.param(replace(DONE, findings=(finding("error"),)), None, id="an error is not critical"),
        pytest.param(replace(DONE, findings=(finding("critical"),)), "a critical thing", id="of the change"),
        pytest.param(replace(DONE, review=reviewed(issues=(Issue(text="x", critical=True),))), "x", id="of the review"),
    ],
)
def test_critical(task: TaskState, text: str | None) -> None:
    found = critical(task)
    assert (found.text if found else None) == text


def test_counts_and_failing_set() -> None:
    results = (failing("b", "a", passed=2), passing(count=3), check("PASS"))
    assert counts(results) == (5, 7)
    assert failing_set(a_task(checks=results)) == ("tests:a", "tests:b")
