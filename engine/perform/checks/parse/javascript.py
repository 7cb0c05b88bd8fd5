"""JSON and text of the JavaScript tools: eslint, jest, tsc."""

from __future__ import annotations

import re

from engine.core.model import Finding
from engine.perform.checks.run.limits import MAX_ITEMS, UnreadableError, dict_of, int_of, list_of, load_json, text_of
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Case, Report


def parse_eslint(data: bytes) -> Report:
    items = load_json(data, "eslint's report")
    if not isinstance(items, list):
        raise UnreadableError("eslint's report is not a list")
    findings = tuple(
        Finding(
            rule=text_of(message.get("ruleId"), 120) or "parse",
            text=text_of(message.get("message")),
            path=text_of(file.get("filePath")),
            line=int_of(message.get("line")),
            severity="error" if message.get("severity") == 2 or message.get("fatal") else "warning",
        )
        for file in map(dict_of, list_of(items))
        for message in map(dict_of, list_of(file.get("messages")))
    )
    return Report(source="json", findings=findings)


JEST = {
    "passed": PASSED,
    "failed": FAILED,
    "pending": SKIPPED,
    "skipped": SKIPPED,
    "todo": SKIPPED,
    "disabled": SKIPPED,
}


def parse_jest(data: bytes) -> Report:
    """`jest --json` (vitest's json reporter writes the same)."""
    report = dict_of(load_json(data, "jest's report"))
    if not isinstance(report.get("testResults"), list):
        raise UnreadableError("jest's report has no testResults")
    cases: dict[str, Case] = {}
    for file in map(dict_of, list_of(report["testResults"])):
        path = text_of(file.get("name"), 500)
        tests = list_of(file.get("assertionResults"))
        if not tests and file.get("status") == "failed":
            cases[path] = Case(id=path, outcome=ERROR, text=text_of(file.get("message"), 300))
        for test in map(dict_of, tests):
            id = f"{path}::{text_of(test.get('fullName'), 500)}"
            messages = list_of(test.get("failureMessages"))
            cases[id] = Case(
                id=id,
                outcome=JEST.get(text_of(test.get("status")), ERROR),
                text=text_of(messages[0] if messages else "", 300),
            )
    problems = () if report.get("success") is not None else ("jest's report does not say whether it succeeded",)
    return Report(source="json", cases=tuple(cases.values()), counts_tests=True, problems=problems)


TSC = re.compile(
    r"^(?P<path>[^\s(][^(\n]*)\((?P<line>\d+),\d+\): (?P<level>error|warning) (?P<rule>TS\d+): (?P<text>.*)$"
)


def parse_tsc(data: bytes) -> Report:
    """tsc has no JSON; `--pretty false` prints one diagnostic a line, in a form kept for editors."""
    found = (TSC.match(line) for line in data.decode("utf-8", "replace").splitlines()[:MAX_ITEMS])
    findings = tuple(
        Finding(
            rule=m["rule"],
            text=text_of(m["text"]),
            path=m["path"],
            line=int(m["line"]),
            severity="error" if m["level"] == "error" else "warning",
        )
        for m in found
        if m
    )
    return Report(source="text", findings=findings)
