"""Checkout against clone: the same checks, the same tests, the same outcomes; what differs, by name."""

from __future__ import annotations

import re

from engine.core.model import CheckKind, Struct, Verdict
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.run.measure import BAD, IDLE, PASSED, Case, Measurement
from engine.perform.checks.run.spec import CheckSpec

ABSENT = "absent"


class Difference(Struct, frozen=True, kw_only=True):
    """A test that passes in the checkout and not in a clone; without an id the check as a whole."""

    check: str
    id: str = ""
    clone: str = ""
    """Its outcome in the clone; absent: it was not even collected."""
    text: str = ""


def works(spec: CheckSpec, found: Measurement) -> str:
    """Empty when the check can judge somebody in this room; else why it cannot."""
    result = check_result(spec, found)
    if spec.kind is not CheckKind.TESTS:
        if result.verdict is Verdict.ERROR or result.verdict is Verdict.NOT_RUN:
            return result.reason
        if result.verdict is Verdict.FAIL and found.report.source == "exit code":
            return "it fails already, and an exit code cannot tell old failures from new ones"
        return ""
    if found.report.counts_tests:
        if result.no_tests_yet:
            return ""
        if result.verdict in (Verdict.ERROR, Verdict.NOT_RUN):
            return result.reason
        if not any(case.outcome == PASSED for case in found.report.cases):
            first = next((case for case in found.report.cases if case.outcome in BAD), None)
            return f"no test passes: {first.id}: {telling(_whole(first))}" if first else "no test passes"
        return ""
    return "" if result.verdict is Verdict.PASS else result.reason


def _whole(case: Case) -> str:
    """unittest tells the kind of error beside its text, pytest within it."""
    plain = case.error in ("", "CollectError") or case.error in case.text
    return case.text if plain else f"{case.error}: {case.text}"


def telling(text: str) -> str:
    """The line of a failure that says most: the error itself, not where it was."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"(?:E\s+)?[\w.]*(?:Error|Exception|Failure)\b", line)]
    return (named or lines[-1:] or [""])[0].removeprefix("E ").strip()[:200]


def collected(found: Measurement) -> tuple[int, int, int]:
    """(passed, bad, idle)."""
    cases = found.report.cases
    bad = sum(1 for case in cases if case.outcome in BAD)
    idle = sum(1 for case in cases if case.outcome in IDLE)
    return len(cases) - bad - idle, bad, idle


def differences(spec: CheckSpec, here: Measurement, there: Measurement) -> tuple[Difference, ...]:
    """What is green in the checkout (`here`) and not in the clone (`there`)."""
    if works(spec, here):
        return ()
    why = works(spec, there)
    if not here.report.counts_tests or not there.report.cases:
        return (Difference(check=spec.name, clone="broken", text=why),) if why else ()
    outcomes = {case.id: case for case in there.report.cases}
    found = []
    for case in here.report.cases:
        if case.outcome != PASSED:
            continue
        other = outcomes.get(case.id)
        if other is None:
            found.append(Difference(check=spec.name, id=case.id, clone=ABSENT, text=_collection(there)))
        elif other.outcome != PASSED:
            found.append(Difference(check=spec.name, id=case.id, clone=other.outcome, text=other.text))
    if not found and why:
        found.append(Difference(check=spec.name, clone="broken", text=why))
    return tuple(found)


def _collection(found: Measurement) -> str:
    """Why a test may be absent: the first file that could not be collected."""
    return next((case.text for case in found.report.cases if case.error == "CollectError"), "")
