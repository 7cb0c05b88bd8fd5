"""Reports of the compiled ecosystems: `go test -json`, rustc and clippy JSON, libtest's lines."""

from __future__ import annotations

import re

from engine.core.model import Finding
from engine.perform.checks.run.limits import MAX_ITEMS, dict_of, int_of, json_lines, list_of, text_of
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Case, Report

GO = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}


def parse_go(data: bytes) -> Report:
    """Package-level failures without a failing test in them (a build that breaks) become a case of their own."""
    cases: dict[str, Case] = {}
    packages: dict[str, str] = {}
    for item in json_lines(data, "go's report"):
        action, package, test = (
            text_of(item.get("Action")),
            text_of(item.get("Package"), 300),
            text_of(item.get("Test"), 300),
        )
        if action not in GO:
            if test:
                cases.setdefault(
                    f"{package}::{test}", Case(id=f"{package}::{test}", outcome=ERROR, text="did not finish")
                )
            continue
        if test:
            cases[f"{package}::{test}"] = Case(id=f"{package}::{test}", outcome=GO[action])
        else:
            packages[package] = GO[action]
    for package, outcome in packages.items():
        inside = [case for id, case in cases.items() if id.startswith(f"{package}::")]
        if outcome == FAILED and not any(case.outcome in (FAILED, ERROR) for case in inside):
            cases[package] = Case(
                id=package, outcome=ERROR, text="the package does not build or its test program broke"
            )
    return Report(source="json", cases=tuple(cases.values()), counts_tests=True)


def parse_rustc(data: bytes) -> Report:
    """`cargo … --message-format=json`."""
    findings: list[Finding] = []
    complete = False
    for item in json_lines(data, "cargo's report"):
        if item.get("reason") == "build-finished":
            complete = True
        if item.get("reason") != "compiler-message":
            continue
        message = dict_of(item.get("message"))
        spans = [dict_of(span) for span in list_of(message.get("spans"))]
        primary = next((span for span in spans if span.get("is_primary")), spans[0] if spans else {})
        level = text_of(message.get("level"))
        if not spans and level != "error":
            continue  # "3 warnings emitted"
        findings.append(
            Finding(
                rule=text_of(dict_of(message.get("code")).get("code"), 120) or level,
                text=text_of(message.get("message")),
                path=text_of(primary.get("file_name")),
                line=int_of(primary.get("line_start")),
                severity="error" if level.startswith("error") else "warning",
            )
        )
    return Report(source="json", findings=tuple(findings), complete=complete)


LIBTEST = re.compile(r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)\b")
RUNNING = re.compile(r"^\s*(?:Running .*\((?P<file>\S+)\)|Doc-tests (?P<what>\S+))")
SUMMARY = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored")
RUST = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}


def parse_libtest(data: bytes) -> Report:
    """Stable Rust offers no report file, so the lines libtest prints are checked against its own totals."""
    cases: dict[str, Case] = {}
    seen = {"ok": 0, "FAILED": 0, "ignored": 0}
    claimed = [0, 0, 0]
    target = ""
    for line in data.decode("utf-8", "replace").splitlines()[:MAX_ITEMS]:
        if (match := RUNNING.match(line)) is not None:
            target = re.sub(r"-[0-9a-f]{16}$", "", (match["file"] or match["what"]).rpartition("/")[2])
        elif (match := LIBTEST.match(line)) is not None:
            id = f"{target}::{match['name']}" if target else match["name"]
            while id in cases:
                id += "'"
            cases[id] = Case(id=id, outcome=RUST[match["word"]])
            seen[match["word"]] += 1
        elif (match := SUMMARY.match(line)) is not None:
            claimed = [have + int(more) for have, more in zip(claimed, match.groups(), strict=True)]
    problems = [] if list(seen.values()) == claimed else ["libtest's lines and its totals do not agree"]
    return Report(source="text", cases=tuple(cases.values()), counts_tests=True, problems=tuple(problems))
