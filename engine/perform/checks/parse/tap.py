"""TAP 13 and 14: indented subtests, tape's comments as groups. Ids are the names, with the groups around them."""

from __future__ import annotations

import re

from msgspec.structs import replace

from engine.perform.checks.run.limits import MAX_ITEMS, text_of
from engine.perform.checks.run.measure import BAD, ERROR, FAILED, PASSED, SKIPPED, Case, Report

POINT = re.compile(r"^(?P<indent> *)(?P<not>not )?ok\b *(?P<number>\d*) *-? *(?P<name>.*)$")
DIRECTIVE = re.compile(r"(?<!\\)#\s*(?P<word>skip|todo|time)\b[^#]*$", re.IGNORECASE)
PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<count>\d+)")
SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.*)$")
GROUP = re.compile(r"^# (?!Subtest:)(?P<name>.+)$")
SUMMARY = re.compile(
    r"^(?:tests|pass|fail|ok|skipped?|todo|time|failed|duration_ms|suites|cancelled)\b[ =:]?\s*[\d.]*", re.I
)

CUT_OFF = "CutOff"
"""A test that the stream does not come to the end of."""


def parse_tap(data: bytes) -> Report:
    """A stream without its plan was cut off; one that counts fewer tests than it planned as well."""
    lines = data.decode("utf-8", "replace").splitlines()
    return _tape(lines) if _is_tape(lines) else _nested(lines)


def _is_tape(lines: list[str]) -> bool:
    """tape names its tests by comments and numbers their assertions through."""
    return any(GROUP.match(line) and not SUMMARY.match(line[2:]) for line in lines) and not any(
        SUBTEST.match(line) for line in lines
    )


def _nested(lines: list[str]) -> Report:
    cases: dict[str, Case] = {}
    names: list[str] = []
    problems: list[str] = []
    planned: int | None = None
    top = 0
    block = ""
    for line in lines:
        if block:
            if line.strip() == "...":
                block = ""
            continue
        if re.match(r"^ *---$", line):
            block = line
        elif line.lstrip().startswith("Bail out!"):
            problems.append(text_of(line.strip(), 200))
        elif (plan := PLAN.match(line)) is not None:
            planned = int(plan["count"]) if not plan["indent"] else planned
        elif (subtest := SUBTEST.match(line)) is not None:
            depth = len(subtest["indent"]) // 4
            names = [*names[:depth], text_of(subtest["name"].strip(), 300)]
        elif (point := POINT.match(line)) is not None and len(cases) < MAX_ITEMS:
            depth = len(point["indent"]) // 4
            top += not depth
            name, outcome = _said(point)
            path = [*names[:depth], name]
            id = " > ".join(path)
            while id in cases:
                id += "'"
            cases[id] = Case(id=id, outcome=outcome, text=f"not ok - {name}" if outcome == FAILED else "")
    complete = planned is not None
    if complete and planned != top and not problems:
        problems.append(f"the TAP stream plans {planned} tests and has {top}")
    return Report(
        source="tap", cases=tuple(cases.values()), counts_tests=True, complete=complete, problems=tuple(problems)
    )


def _said(point: re.Match[str]) -> tuple[str, str]:
    raw = point["name"]
    directive = DIRECTIVE.search(raw)
    word = directive["word"].lower() if directive else ""
    name = text_of((raw[: directive.start()] if directive else raw).strip().removesuffix(" {").strip(), 500)
    bad = bool(point["not"]) and word != "todo"
    return name or f"({point['number'] or 'a test'})", FAILED if bad else SKIPPED if word in (
        "skip",
        "todo",
    ) else PASSED


def _tape(lines: list[str]) -> Report:
    """A test is a comment and the points below it: red with the first that is; its assertions are what it reached."""
    cases: dict[str, Case] = {}
    reached: dict[str, list[tuple[str, bool]]] = {}
    current = ""
    planned: int | None = None
    points = 0
    problems: list[str] = []
    block = False
    for line in lines:
        if block:
            block = line.strip() != "..."
            continue
        if re.match(r"^ *---$", line):
            block = True
        elif line.startswith("Bail out!"):
            problems.append(text_of(line, 200))
        elif (plan := PLAN.match(line)) is not None:
            planned = int(plan["count"])
        elif (group := GROUP.match(line)) is not None:
            name = text_of(group["name"].strip(), 500)
            if SUMMARY.match(name) and planned is not None:
                continue
            skipped = re.match(r"(?:SKIP|TODO)\s+(.*)", name)
            current = skipped.group(1) if skipped else name
            while current in cases:
                current += "'"
            cases[current] = Case(id=current, outcome=SKIPPED if skipped else PASSED)
            reached[current] = []
        elif (point := POINT.match(line)) is not None:
            points += 1
            name, outcome = _said(point)
            if current not in cases:
                current = "(top)"
                cases.setdefault(current, Case(id=current, outcome=PASSED))
                reached.setdefault(current, [])
            reached[current].append((name, outcome == PASSED))
            if outcome in BAD and cases[current].outcome not in BAD:
                place = f"{_marks(reached[current])[-1]}:assert "
                cases[current] = Case(id=current, outcome=FAILED, error="failed", text=f"not ok - {name}", place=place)
    if planned is not None and planned != points and not problems:
        problems.append(f"the TAP stream plans {planned} assertions and has {points}")
    if planned is None and current in cases and cases[current].outcome == PASSED:
        # The stream broke off in this one: an exception in its body is nowhere else in the stream.
        cases[current] = Case(id=current, outcome=ERROR, error=CUT_OFF, text="the stream ends within this test")
    found = tuple(
        replace(case, reached=tuple(mark for mark, (_, held) in zip(_marks(told), told, strict=True) if held))
        for case in cases.values()
        if (told := reached[case.id]) is not None
    )
    return Report(source="tap", cases=found, counts_tests=True, complete=planned is not None, problems=tuple(problems))


def _marks(points: list[tuple[str, bool]]) -> tuple[str, ...]:
    """Names of assertions, the second of a name told from the first; a colon would begin something else."""
    seen: dict[str, int] = {}
    marks = []
    for name, _ in points:
        seen[name] = seen.get(name, 0) + 1
        marks.append((f"{name} ({seen[name]})" if seen[name] > 1 else name).replace(":", " "))
    return tuple(marks)
