"""SARIF 2.1: one Finding per result."""

from __future__ import annotations

from engine.core.model import Finding
from engine.core.vocabulary import Severity
from engine.perform.checks.run.limits import UnreadableError, dict_of, int_of, list_of, load_json, text_of
from engine.perform.checks.run.measure import Report

LEVELS: dict[str, Severity] = {"error": "error", "warning": "warning", "note": "note", "none": "note"}


def _critical(properties: dict[str, object]) -> bool:
    try:
        return float(text_of(properties.get("security-severity")) or 0) >= 9.0
    except ValueError:
        return False


def parse_sarif(data: bytes) -> Report:
    log = dict_of(load_json(data, "the SARIF report"))
    if not isinstance(log.get("runs"), list):
        raise UnreadableError("the SARIF report has no runs")
    findings: list[Finding] = []
    problems: list[str] = []
    for run in map(dict_of, list_of(log["runs"])):
        driver = dict_of(dict_of(run.get("tool")).get("driver"))
        rules = {text_of(dict_of(rule).get("id")): dict_of(rule) for rule in list_of(driver.get("rules"))}
        for invocation in map(dict_of, list_of(run.get("invocations"))):
            if invocation.get("executionSuccessful") is False:
                problems.append(f"{text_of(driver.get('name'), 80) or 'the tool'} says it did not run to its end")
        for result in map(dict_of, list_of(run.get("results"))):
            if result.get("suppressions"):
                continue
            rule_id = text_of(result.get("ruleId"), 200)
            rule = rules.get(rule_id, {})
            level = text_of(result.get("level") or dict_of(rule.get("defaultConfiguration")).get("level") or "warning")
            place = dict_of(dict_of((list_of(result.get("locations")) or [{}])[0]).get("physicalLocation"))
            critical = _critical(dict_of(rule.get("properties"))) or _critical(dict_of(result.get("properties")))
            findings.append(
                Finding(
                    rule=rule_id,
                    text=text_of(dict_of(result.get("message")).get("text")),
                    path=text_of(dict_of(place.get("artifactLocation")).get("uri")).removeprefix("file://"),
                    line=int_of(dict_of(place.get("region")).get("startLine")),
                    severity="critical" if critical else LEVELS.get(level, "warning"),
                )
            )
    return Report(source="sarif", findings=tuple(findings), problems=tuple(problems))
