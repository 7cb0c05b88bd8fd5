"""JUnit XML: junitparser over defusedxml, one Case per test."""

from __future__ import annotations

import io
from typing import Any

from engine.perform.checks.run.limits import MAX_DEPTH, MAX_ITEMS, UnreadableError, text_of
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, XFAILED, Case, Report

RANK = {PASSED: 0, XFAILED: 1, SKIPPED: 2, FAILED: 3, ERROR: 4}


def xml_root(data: bytes) -> Any:
    """An element tree without entities, DTDs or bottomless nesting."""
    from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, iterparse  # type: ignore[import-untyped]

    depth = count = 0
    root: Any = None
    try:
        for event, element in iterparse(io.BytesIO(data), events=("start", "end"), forbid_dtd=True):
            if event == "start":
                root = element if root is None else root
                depth, count = depth + 1, count + 1
                if depth > MAX_DEPTH or count > MAX_ITEMS * 2:
                    raise UnreadableError("the JUnit report is nested too deep or has too many elements")
            else:
                depth -= 1
    except ParseError as error:
        raise UnreadableError(f"the JUnit report is not XML: {error}") from None
    except (DefusedXmlException, ValueError) as error:
        raise UnreadableError(f"the JUnit report holds forbidden XML: {str(error)[:200]}") from None
    if root is None:
        raise UnreadableError("the JUnit report is empty")
    return root


def _outcome(case: Any, parts: dict[str, type]) -> tuple[str, str, str]:
    outcome, error, text = PASSED, "", ""
    for part in case.result:
        kind = next((name for name, cls in parts.items() if isinstance(part, cls)), ERROR)
        if kind == SKIPPED and "xfail" in (part.type or ""):
            kind = XFAILED
        if RANK[kind] > RANK[outcome]:
            outcome, error = kind, text_of(part.type, 200)
            text = text_of(part.message or (part.text or "").strip().rpartition("\n")[2])
    return outcome, error, text


def parse_junit(data: bytes) -> Report:
    """Every test of the report; a test named twice keeps its worst outcome. Totals that lie are a problem."""
    from junitparser import Error, Failure, JUnitXmlError, Skipped, TestCase

    root = xml_root(data)
    if root.tag not in ("testsuites", "testsuite"):
        raise UnreadableError(f"the JUnit report begins with <{root.tag[:40]}>")
    worst: dict[str, Case] = {}
    claimed = 0
    parts: dict[str, type] = {SKIPPED: Skipped, FAILED: Failure, ERROR: Error}
    try:
        # node's reporter puts tests beside suites and suites inside suites: every test counts, wherever it stands
        for element in root.iter("testcase"):
            case = TestCase.fromelem(element)  # type: ignore[no-untyped-call]
            outcome, error, text = _outcome(case, parts)
            name, classname = text_of(case.name, 1000), text_of(case.classname, 1000)
            id = f"{classname}::{name}" if classname and classname != "test" else name
            known = worst.get(id)
            if known is None or RANK[outcome] > RANK[known.outcome]:
                worst[id] = Case(id=id, outcome=outcome, error=error, text=text)
        for suite in root.iter("testsuite"):
            if suite.find("testsuite") is None:
                claimed += int(suite.get("failures") or 0) + int(suite.get("errors") or 0)
    except (JUnitXmlError, ValueError, TypeError, AttributeError) as error_:
        raise UnreadableError(f"the JUnit report does not follow the format: {str(error_)[:200]}") from None
    bad = sum(1 for case in worst.values() if case.outcome in (FAILED, ERROR))
    problems = () if claimed == 0 or bad else (f"the JUnit report counts {claimed} failures but names none",)
    return Report(source="junit", cases=tuple(worst.values()), problems=problems, counts_tests=True)
