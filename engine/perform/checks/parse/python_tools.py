"""JSON of the Python tools: ruff, mypy, pyright, bandit."""

from __future__ import annotations

from engine.core.model import Finding
from engine.core.vocabulary import Severity
from engine.perform.checks.run.limits import UnreadableError, dict_of, int_of, json_lines, list_of, load_json, text_of
from engine.perform.checks.run.measure import Report

PYRIGHT: dict[str, Severity] = {"error": "error", "warning": "warning"}


def parse_ruff(data: bytes) -> Report:
    items = load_json(data, "ruff's report")
    if not isinstance(items, list):
        raise UnreadableError("ruff's report is not a list")
    findings = tuple(
        Finding(
            rule=text_of(item.get("code"), 80) or "syntax",
            text=text_of(item.get("message")),
            path=text_of(item.get("filename")),
            line=int_of(dict_of(item.get("location")).get("row")),
        )
        for item in map(dict_of, list_of(items))
    )
    return Report(source="json", findings=findings)


def parse_mypy(data: bytes) -> Report:
    """`mypy --output json`: one object a line; a note is not an error."""
    findings = tuple(
        Finding(
            rule=text_of(item.get("code"), 80) or "mypy",
            text=text_of(item.get("message")),
            path=text_of(item.get("file")),
            line=int_of(item.get("line")),
            severity="error" if item.get("severity") == "error" else "note",
        )
        for item in json_lines(data, "mypy's report")
        if "message" in item and "file" in item
    )
    return Report(source="json", findings=findings)


def parse_pyright(data: bytes) -> Report:
    report = dict_of(load_json(data[data.find(b"{") :], "pyright's report"))
    if "generalDiagnostics" not in report:
        raise UnreadableError("pyright's report has no diagnostics")
    findings = tuple(
        Finding(
            rule=text_of(item.get("rule"), 80) or "pyright",
            text=text_of(item.get("message")),
            path=text_of(item.get("file")),
            line=int_of(dict_of(dict_of(item.get("range")).get("start")).get("line")) + 1,
            severity=PYRIGHT.get(text_of(item.get("severity")), "note"),
        )
        for item in map(dict_of, list_of(report["generalDiagnostics"]))
    )
    return Report(source="json", findings=findings, version=text_of(report.get("version"), 40))


def parse_bandit(data: bytes) -> Report:
    """High severity with high confidence is security-critical: it triggers the halt rule."""
    report = dict_of(load_json(data, "bandit's report"))
    if not isinstance(report.get("results"), list):
        raise UnreadableError("bandit's report has no results")
    findings = []
    for item in map(dict_of, list_of(report["results"])):
        severity, sure = text_of(item.get("issue_severity")), text_of(item.get("issue_confidence"))
        critical = severity == "HIGH" and sure == "HIGH"
        findings.append(
            Finding(
                rule=text_of(item.get("test_id"), 80),
                text=text_of(item.get("issue_text")),
                path=text_of(item.get("filename")).removeprefix("./"),
                line=int_of(item.get("line_number")),
                severity="critical" if critical else "error" if severity in ("HIGH", "MEDIUM") else "warning",
            )
        )
    problems = tuple(
        f"bandit could not read {text_of(dict_of(e).get('filename'), 200)}" for e in list_of(report.get("errors"))
    )
    return Report(source="json", findings=tuple(findings), problems=problems)
