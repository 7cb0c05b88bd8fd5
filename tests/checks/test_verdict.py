"""Verdicts: a table of every way a check can end, and the property that doubt is never a PASS."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core.model import CheckKind, Finding, Verdict
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.run.measure import BAD, IDLE, Case, Measurement, Report
from engine.perform.checks.run.spec import CheckSpec
from tests.depth import examples

SPEC = CheckSpec(
    name="tests",
    kind=CheckKind.TESTS,
    command=("pytest",),
    runner="pytest",
    parser="junit",
    install="pip install pytest",
)
LINT = CheckSpec(name="lint", kind=CheckKind.LINT, command=("ruff",), parser="ruff")
PLAIN = CheckSpec(name="own", kind=CheckKind.OWN, command=("sh", "-c", "x"))
STRICT = CheckSpec(
    name="own", kind=CheckKind.OWN, command=("pytest", "t"), runner="pytest", parser="junit", strict=True
)


def suite(*cases: str, exit: int | None = 0, ended: str = "exited", **report) -> Measurement:
    """`a+` passed, `a-` failed, `a!` error, `a~` skipped."""
    words = {"+": "passed", "-": "failed", "!": "error", "~": "skipped"}
    found = tuple(Case(id=c[:-1], outcome=words[c[-1]]) for c in cases)
    return Measurement(
        check="tests",
        kind=CheckKind.TESTS,
        argv=("pytest",),
        ended=ended,
        exit_code=exit,
        report=Report(source="junit", cases=found, counts_tests=True, **report),
    )


def lint(*rules: str, exit: int = 0, severity: str = "error", path: str = "a.py", **report) -> Measurement:
    found = tuple(Finding(rule=rule, text="t", path=path, line=1, severity=severity) for rule in rules)
    return Measurement(
        check="lint", kind=CheckKind.LINT, argv=("ruff",), ended="exited", exit_code=exit,
        report=Report(source="json", findings=found, **report),
    )  # fmt: skip


def plain(exit: int | None, ended: str = "exited") -> Measurement:
    return Measurement(check="own", kind=CheckKind.OWN, argv=("sh",), ended=ended, exit_code=exit)


TABLE = [
    pytest.param(SPEC, suite("a+", "b+"), None, Verdict.PASS, "2 of 2 passed", id="all-pass"),
    pytest.param(SPEC, suite("a+", "b-", exit=1), None, Verdict.FAIL, "b failed", id="one-fails"),
    pytest.param(SPEC, suite("a+", "b-", exit=1), suite("a+", "b+"), Verdict.FAIL, "b failed", id="broken-now"),
    pytest.param(
        SPEC,
        suite("a+", "b-", exit=1),
        suite("a+", "b-", exit=1),
        Verdict.PASS,
        "1 were broken before",
        id="broken-before",
    ),
    pytest.param(SPEC, suite("a+", "b+"), suite("a+", "b-", exit=1), Verdict.PASS, "1 fixed", id="fixed"),
    pytest.param(SPEC, suite("a+", "c-", exit=1), suite("a+"), Verdict.FAIL, "c failed", id="new-test-fails"),
    pytest.param(SPEC, suite(exit=5), None, Verdict.NOT_RUN, "no test ran", id="zero-tests"),
    pytest.param(SPEC, suite(exit=0), suite("a+"), Verdict.NOT_RUN, "no test ran", id="zero-tests-exit-0"),
    pytest.param(SPEC, suite("a~", "b~"), None, Verdict.NOT_RUN, "2 were skipped", id="all-skipped"),
    pytest.param(
        SPEC,
        suite("a+", "b-", exit=0),
        suite("a+", "b-", exit=1),
        Verdict.FAIL,
        "exit code is 0",
        id="exit-0-with-failures",
    ),
    pytest.param(SPEC, suite("a+", exit=3), suite("a+"), Verdict.FAIL, "exit code is 3", id="exit-3-all-pass"),
    pytest.param(
        SPEC, suite("a+", exit=1), suite("a+", exit=1), Verdict.PASS, "that of the base", id="exit-1-as-before"
    ),
    pytest.param(
        SPEC,
        suite("a+", exit=None, ended="timeout"),
        None,
        Verdict.NOT_RUN,
        "until then 1 passed",
        id="timeout-partial",
    ),
    pytest.param(SPEC, suite("a+", exit=0, ended="idle"), None, Verdict.NOT_RUN, "did not finish", id="idle"),
    pytest.param(SPEC, suite("a+", exit=0, ended="flood"), None, Verdict.ERROR, "flood", id="flood"),
    pytest.param(SPEC, suite("a+", exit=0, ended="cancelled"), None, Verdict.NOT_RUN, "stopped", id="cancelled"),
    pytest.param(SPEC, suite("a+", exit=0, ended="vanished"), None, Verdict.ERROR, "vanished", id="unknown-ending"),
    pytest.param(
        SPEC, suite(exit=None, ended="not_started"), None, Verdict.ERROR, "pip install pytest", id="not-started"
    ),
    pytest.param(SPEC, suite(exit=97), None, Verdict.ERROR, "pip install pytest", id="runner-missing"),
    pytest.param(SPEC, suite("a+", exit=-9), None, Verdict.ERROR, "signal 9", id="killed"),
    pytest.param(SPEC, suite("a+", exit=None), None, Verdict.ERROR, "without an exit code", id="no-exit-code"),
    pytest.param(
        SPEC,
        suite("a+", problems=("the report was not written",)),
        None,
        Verdict.ERROR,
        "not written",
        id="report-missing",
    ),
    pytest.param(SPEC, suite("a+", complete=False), None, Verdict.ERROR, "before its report", id="cut-off"),
    pytest.param(SPEC, suite("a+", foreign=("shop",)), None, Verdict.ERROR, "user's checkout", id="foreign-code"),
    pytest.param(SPEC, suite("a+", tampered=("x",)), None, Verdict.FAIL, "changed while it ran", id="tampered"),
    pytest.param(
        SPEC,
        suite("a+", tampered=("x",)),
        suite("a+", tampered=("x",)),
        Verdict.PASS,
        "passed",
        id="tampered-by-the-base-itself",
    ),
    pytest.param(
        SPEC,
        suite("a-", exit=1),
        suite("a-", exit=1, problems=("bad",)),
        Verdict.FAIL,
        "a failed",
        id="unusable-baseline-excuses-nothing",
    ),
    pytest.param(
        STRICT, suite("a-", exit=1), suite("a-", exit=1), Verdict.FAIL, "a failed", id="strict-takes-no-excuse"
    ),
    pytest.param(LINT, lint(), None, Verdict.PASS, "nothing found", id="lint-clean"),
    pytest.param(LINT, lint("E1", exit=1), None, Verdict.FAIL, "E1", id="lint-finding"),
    pytest.param(
        LINT, lint("E1", exit=1), lint("E1", exit=1), Verdict.PASS, "1 were there before", id="lint-as-before"
    ),
    pytest.param(
        LINT, lint("E1", "E1", exit=1), lint("E1", exit=1), Verdict.FAIL, "E1", id="lint-one-more-of-the-same"
    ),
    pytest.param(
        LINT,
        lint("E1", exit=1, path="new.py"),
        lint("E1", exit=1),
        Verdict.PASS,
        "1 new warnings",
        id="lint-what-other-files-have",
    ),
    pytest.param(
        LINT, lint("E2", exit=1, path="new.py"), lint("E1", exit=1), Verdict.FAIL, "E2", id="lint-what-no-file-has"
    ),
    pytest.param(LINT, lint("E1", exit=0), None, Verdict.FAIL, "E1", id="lint-exit-0-with-findings"),
    pytest.param(LINT, lint(exit=1), None, Verdict.ERROR, "names nothing", id="lint-exit-1-nothing-named"),
    pytest.param(LINT, lint(exit=2), None, Verdict.ERROR, "exit code 2", id="lint-broke"),
    pytest.param(LINT, lint("W1", exit=0, severity="warning"), None, Verdict.PASS, "1 new warnings", id="lint-warning"),
    pytest.param(
        LINT,
        lint("W1", exit=1, severity="warning"),
        lint(),
        Verdict.FAIL,
        "on the base it was 0",
        id="lint-warning-that-fails",
    ),
    pytest.param(LINT, lint(problems=("not JSON",)), None, Verdict.ERROR, "not JSON", id="lint-unreadable"),
    pytest.param(PLAIN, plain(0), None, Verdict.PASS, "offers no report", id="exit-only-pass-is-said"),
    pytest.param(
        PLAIN,
        replace(plain(1), output="all\nERROR: lines (98%) \x1b[2Jdo not reach 100%\nbye\n"),
        None,
        Verdict.FAIL,
        "offers no report: ERROR: lines (98%) do not reach 100%",
        id="exit-only-last-complaint",
    ),
    pytest.param(PLAIN, plain(1), None, Verdict.FAIL, "exit code 1", id="exit-only-fail"),
    pytest.param(PLAIN, plain(1), plain(1), Verdict.FAIL, "failed on the base too", id="exit-only-cannot-tell"),
    pytest.param(PLAIN, plain(127), None, Verdict.ERROR, "missing", id="command-not-found"),
    pytest.param(PLAIN, plain(None, "timeout"), None, Verdict.NOT_RUN, "did not finish", id="exit-only-timeout"),
]


@pytest.mark.parametrize(("spec", "after", "before", "verdict", "words"), TABLE)
def test_table(spec, after, before, verdict, words):
    result = check_result(spec, after, before)
    assert (result.verdict, words in result.reason) == (verdict, True), result.reason


def test_only_what_the_change_broke_is_named():
    result = check_result(SPEC, suite("a-", "b-", "c+", exit=1), suite("a-", "b+", "c+", exit=1))
    assert result.failing == ("b",)
    assert result.counts.broken_before == 1


def test_flaky_counts_neither_way():
    result = check_result(SPEC, suite("a+", "b-", exit=1), suite("a+", "b+"), flaky=frozenset({"b"}))
    assert result.verdict is Verdict.PASS
    assert (result.counts.passed, result.counts.failed, result.counts.flaky) == (1, 0, 1)
    strict = check_result(STRICT, suite("b-", exit=1), suite("b+"), flaky=frozenset({"b"}))
    assert strict.verdict is Verdict.FAIL


def test_only_security_checks_are_critical():
    found = lint("S1", exit=1, severity="critical")
    assert check_result(LINT, found).findings[0].severity == "error"
    security = CheckSpec(name="s", kind=CheckKind.SECURITY, command=("bandit",), parser="bandit")
    assert check_result(security, found).findings[0].severity == "critical"
    named = check_result(security, lint("S2", exit=1), critical_rules=("S2",))
    assert named.findings[0].severity == "critical"
    assert check_result(security, found, found).findings == ()


cases = st.lists(
    st.builds(Case, id=st.sampled_from("abcd"), outcome=st.sampled_from(["passed", "failed", "error", "skipped", "xfailed"])),
    max_size=4, unique_by=lambda case: case.id,
)  # fmt: skip
measurements = st.builds(
    Measurement,
    check=st.just("tests"),
    kind=st.just(CheckKind.TESTS),
    argv=st.just(("pytest",)),
    ended=st.sampled_from(["exited"] * 5 + ["timeout", "idle", "flood", "cancelled", "not_started", "?"]),
    exit_code=st.sampled_from([0, 0, 0, 1, 1, 2, 5, 97, 127, -9, None]),
    report=st.builds(
        Report,
        source=st.sampled_from(["junit", "json", "exit code"]),
        cases=cases.map(tuple),
        problems=st.sampled_from([(), (), (), ("x",)]),
        tampered=st.sampled_from([(), (), (), ("x",)]),
        foreign=st.sampled_from([(), (), (), ("m",)]),
        counts_tests=st.booleans(),
        complete=st.sampled_from([True, True, True, False]),
    ),
)


@settings(max_examples=examples(400), deadline=None)
@given(measurements, st.none() | measurements, st.booleans())
def test_a_pass_is_proven(after, before, strict):
    """Whatever is measured: a PASS has an end, a whole report, a test that ran, and nothing that broke."""
    spec = STRICT if strict else SPEC
    result = check_result(spec, after, before)
    if result.verdict is not Verdict.PASS:
        return
    assert after.ended == "exited"
    assert after.exit_code is not None and after.exit_code >= 0
    assert after.report.problems == () and after.report.complete and after.report.foreign == ()
    if after.report.counts_tests:
        assert any(case.outcome not in IDLE for case in after.report.cases)
        was = {case.id: case.outcome for case in before.report.cases} if before else {}
        for case in after.report.cases:
            if case.outcome in BAD:
                assert not strict and was.get(case.id) in BAD
        assert after.exit_code == 0 or not strict or any(case.outcome in BAD for case in after.report.cases)


@pytest.mark.parametrize(
    ("spec", "after", "before", "missing"),
    [
        pytest.param(LINT, plain(None, "not_started"), plain(None, "not_started"), True, id="never started"),
        pytest.param(PLAIN, plain(127), plain(127), True, id="not found, as on the base"),
        pytest.param(SPEC, suite(exit=97), suite(exit=97), True, id="the runner's own part is not installed"),
        pytest.param(PLAIN, plain(127), plain(0), False, id="it was there on the base: the change is to blame"),
        pytest.param(PLAIN, plain(127), None, False, id="nothing known of the base"),
        pytest.param(PLAIN, plain(2), plain(2), False, id="it runs, and fails"),
        pytest.param(SPEC, suite("a+", exit=127), suite(exit=97), False, id="it ran tests"),
    ],
)
def test_a_tool_that_is_not_there_is_nobodys_change(spec, after, before, missing):
    result = check_result(spec, after, before)
    assert result.verdict is not Verdict.PASS
    assert result.missing is missing
