"""From measurements to a CheckResult. Pure and closed: what is not a proven PASS is FAIL, ERROR or NOT_RUN."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import assert_never, get_args

from msgspec.structs import replace

from engine.core.clean import clean_line
from engine.core.model import CheckKind, CheckResult, Finding, Verdict
from engine.perform.checks.proof.attribute import Attribution, attribute, fingerprint, new_findings
from engine.perform.checks.run.measure import BAD, IDLE, Case, Measurement
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.run.witness import MISSING
from engine.perform.process.spawning import Ending

FAILING = ("error", "critical")
NO_TESTS = (0, 5)
"""Exit codes of a runner that found nothing to run; 5 is pytest's and unittest's own for it."""
COMPLAINT = re.compile(r"(?i)\b(?:error|fail(?:ed|ure)?|not ok|fatal|does not|cannot)\b")


def usable(before: Measurement | None) -> Measurement | None:
    """A baseline that itself could not be measured says nothing about anybody."""
    if before is None or before.ended != "exited" or before.report.problems or not before.report.complete:
        return None
    return before


def check_result(
    spec: CheckSpec,
    after: Measurement,
    before: Measurement | None = None,
    *,
    flaky: frozenset[str] = frozenset(),
    renames: Mapping[str, str] | None = None,
    files: frozenset[str] | None = None,
    critical_rules: tuple[str, ...] = (),
) -> CheckResult:
    """The one way a verdict comes about."""
    blank = CheckResult(
        name=spec.name,
        kind=spec.kind,
        verdict=Verdict.ERROR,
        reason="nobody looked",
        required=spec.required,
        command=shlex.join(spec.command),
        seconds=after.seconds,
        exit_code=after.exit_code,
        output=after.output,
        source=after.report.source,
        coverage=after.coverage,
    )
    base = usable(before)
    stopped = not_measured(spec, after, base)
    if stopped is not None:
        verdict, reason = stopped
        counts = attribute((), after.report.cases).counts() if after.report.cases else None
        missing = tool_missing(spec, after) and before is not None and tool_missing(spec, before)
        return replace(blank, verdict=verdict, reason=reason, counts=counts, missing=missing)
    if after.report.counts_tests:
        return _tests(spec, after, base, blank, flaky, renames)
    if after.report.source == "exit code":
        return _exit_only(spec, after, base, blank)
    return _findings(spec, after, base, blank, files, critical_rules)


def not_measured(spec: CheckSpec, after: Measurement, base: Measurement | None = None) -> tuple[Verdict, str] | None:
    """Why there is nothing to judge; None when there is."""
    cases, code = after.report.cases, after.exit_code
    program = after.argv[0] if after.argv else spec.name
    remedy = f"; type: {spec.install}" if spec.install else ""
    if after.ended not in get_args(Ending):  # as an older or newer version wrote it
        return Verdict.ERROR, f"ended by {after.ended}{_so_far(cases)}"
    match after.ended:
        case "exited":
            pass
        case "not_started":
            return Verdict.ERROR, f"{program} could not start: {after.error or 'no reason given'}{remedy}"
        case "timeout" | "idle":
            return Verdict.NOT_RUN, f"did not finish within {spec.timeout:g} s{_so_far(cases)}"
        case "cancelled":
            return Verdict.NOT_RUN, f"was stopped{_so_far(cases)}"
        case "flood" | "stopped":
            return Verdict.ERROR, f"ended by {after.ended}{_so_far(cases)}"
        case _:
            assert_never(after.ended)
    if code is None:
        return Verdict.ERROR, "ended without an exit code"
    if code < 0:
        return Verdict.ERROR, f"was ended by signal {-code}{_so_far(cases)}"
    if tool_missing(spec, after):
        said = after.output.rpartition("\n")[2][:300]
        return (
            Verdict.ERROR,
            f"the tool is missing: {said or f'exit code {code}'}{remedy if remedy not in said else ''}",
        )
    known = base.report.tampered if base else ()
    meddled = [what for what in after.report.tampered if what not in known]
    if meddled:
        return Verdict.FAIL, f"the test runner was changed while it ran: {meddled[0]}"
    if after.report.problems:
        return Verdict.ERROR, after.report.problems[0]
    if not after.report.complete:
        return Verdict.ERROR, f"ended before its report was complete, exit code {code}{_so_far(cases)}"
    if after.report.foreign:
        names = ", ".join(after.report.foreign[:3])
        return Verdict.ERROR, f"the tests loaded {names} from the user's checkout, not from the change"
    return None


def found_none(run: Measurement) -> bool:
    """The runner did its work and met no test: neither a skipped one nor a file that it could not load."""
    whole = usable(run) is not None and run.report.counts_tests
    return whole and not run.report.cases and run.exit_code in NO_TESTS


def tool_missing(spec: CheckSpec, found: Measurement) -> bool:
    """The tool could not be started, or says that a part of it is not installed."""
    if found.ended == "not_started":
        return True
    nothing = not found.report.cases and not found.report.findings
    gone = (bool(spec.runner) and found.exit_code == MISSING) or (found.exit_code in (126, 127) and nothing)
    return found.ended == "exited" and gone


def _so_far(cases: tuple[Case, ...]) -> str:
    if not cases:
        return ""
    bad = sum(1 for case in cases if case.outcome in BAD)
    idle = sum(1 for case in cases if case.outcome in IDLE)
    return f"; until then {len(cases) - bad - idle} passed and {bad} failed"


def _tests(
    spec: CheckSpec,
    after: Measurement,
    base: Measurement | None,
    blank: CheckResult,
    flaky: frozenset[str],
    renames: Mapping[str, str] | None,
) -> CheckResult:
    cases = after.report.cases
    if not any(case.outcome not in IDLE for case in cases):
        idle = f"; {len(cases)} were skipped" if cases else ""
        yet = spec.starts_empty and found_none(after)
        reason = "there are no tests yet" if yet else f"no test ran{idle}"
        counts = attribute((), cases).counts()
        return replace(blank, verdict=Verdict.NOT_RUN, reason=reason, counts=counts, no_tests_yet=yet)
    fates = attribute(base.report.cases if base else (), cases, flaky, renames)
    raw_bad = [case.id for case in cases if case.outcome in BAD]
    failing = tuple(raw_bad) if spec.strict else fates.broken_now
    blank = replace(blank, counts=fates.counts(), failing=failing, errors=len(failing))
    if failing:
        return replace(blank, verdict=Verdict.FAIL, reason=_which(failing, fates, spec.strict))
    if after.exit_code == 0 and raw_bad:
        return replace(blank, verdict=Verdict.FAIL, reason=f"the exit code is 0 though {raw_bad[0]} failed")
    if after.exit_code != 0 and not raw_bad:
        as_before = base is not None and base.exit_code == after.exit_code and not spec.strict
        as_before = as_before and not any(case.outcome in BAD for case in (base.report.cases if base else ()))
        if not as_before:
            return replace(
                blank, verdict=Verdict.FAIL, reason=f"the exit code is {after.exit_code} though no test failed"
            )
        return replace(
            blank, verdict=Verdict.PASS, reason=f"{_well(fates)}; the exit code {after.exit_code} is that of the base"
        )
    return replace(blank, verdict=Verdict.PASS, reason=_well(fates))


def _which(failing: tuple[str, ...], fates: Attribution, strict: bool) -> str:
    more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
    before = f"; {len(fates.broken_before)} were broken before" if fates.broken_before and not strict else ""
    return f"{failing[0]}{more} failed{before}"


def _well(fates: Attribution) -> str:
    counts = fates.counts()
    parts = [f"{counts.passed} of {counts.total} passed"]
    for number, words in (
        (counts.fixed, "fixed"),
        (counts.new, "new"),
        (counts.broken_before, "were broken before"),
        (counts.flaky, "flaky, counted neither way"),
        (counts.skipped, "skipped"),
    ):
        if number:
            parts.append(f"{number} {words}")
    return "; ".join(parts)


def _findings(
    spec: CheckSpec,
    after: Measurement,
    base: Measurement | None,
    blank: CheckResult,
    files: frozenset[str] | None,
    critical_rules: tuple[str, ...],
) -> CheckResult:
    found = after.report.findings
    code = after.exit_code
    if code not in spec.ok_exits and code not in spec.finding_exits:
        return replace(
            blank, verdict=Verdict.ERROR, reason=f"ended with exit code {code}, which is not one for findings"
        )
    fresh = list(found) if base is None or spec.strict else new_findings(base.report.findings, found, files)
    fresh = [_graded(spec, finding, critical_rules) for finding in fresh]
    if base is not None and spec.kind is CheckKind.LINT and not spec.strict:
        fresh = [_tolerated(finding, base.report.findings) for finding in fresh]
    bad = [finding for finding in fresh if finding.severity in FAILING]
    warned = [finding for finding in fresh if finding.severity == "warning"]
    blank = replace(
        blank,
        findings=tuple(replace(f, severity="note") if f.severity == "warning" else f for f in fresh[:200]),
        failing=tuple(fingerprint(finding) for finding in bad),
        errors=len(bad),
        warnings=len(warned),
    )
    if bad:
        first = bad[0]
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        return replace(blank, verdict=Verdict.FAIL, reason=f"{first.path}:{first.line} {first.rule} {first.text}{more}")
    if code not in spec.ok_exits:
        if not found:
            return replace(blank, verdict=Verdict.ERROR, reason=f"the exit code is {code} but the report names nothing")
        if base is None or base.exit_code in spec.ok_exits:
            return replace(blank, verdict=Verdict.FAIL, reason=f"the exit code is {code}; on the base it was 0")
    old = len(found) - len(fresh)
    words = [f"{old} were there before"] if old else ["nothing found"]
    if warned:
        words.append(f"{len(warned)} new warnings")
    return replace(blank, verdict=Verdict.PASS, reason="; ".join(words))


def _tolerated(finding: Finding, before: tuple[Finding, ...]) -> Finding:
    """A project whose other files have the very same finding does not hold a file to it: said, not refused."""
    alike = {one.path for one in before if (one.rule, one.text) == (finding.rule, finding.text)}
    return replace(finding, severity="warning") if alike and finding.path not in alike else finding


def _graded(spec: CheckSpec, finding: Finding, critical_rules: tuple[str, ...]) -> Finding:
    """Only a security check can call for the halt rule."""
    if spec.kind is CheckKind.SECURITY and finding.rule in critical_rules:
        return replace(finding, severity="critical")
    if spec.kind is not CheckKind.SECURITY and finding.severity == "critical":
        return replace(finding, severity="error")
    return finding


def _exit_only(spec: CheckSpec, after: Measurement, base: Measurement | None, blank: CheckResult) -> CheckResult:
    if after.exit_code in spec.ok_exits:
        return replace(blank, verdict=Verdict.PASS, reason=f"exit code {after.exit_code}; it offers no report")
    reason = f"exit code {after.exit_code}; it offers no report" + _last_complaint(after.output)
    if base is not None and base.exit_code not in spec.ok_exits:
        reason += ". It failed on the base too, and an exit code cannot tell the two apart: "
        reason += "give it a report or make it not required"
    return replace(blank, verdict=Verdict.FAIL, reason=reason, failing=(f"exit {after.exit_code}",), errors=1)


def _last_complaint(output: str) -> str:
    """The last line that speaks of an error: all that such a check says of itself."""
    lines = [clean_line(line, 160) for line in output.splitlines() if COMPLAINT.search(line)]
    return f": {lines[-1].strip()}" if lines else ""
