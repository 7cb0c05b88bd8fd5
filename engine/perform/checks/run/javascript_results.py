"""What jest, vitest and mocha report, read with care: outcomes, ids by file and title, canaries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.limits import (
    UnreadableError,
    dict_of,
    json_lines,
    list_of,
    load_json,
    read_bounded,
    text_of,
)
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Canaries, Case, Report
from engine.perform.checks.run.node_runner import COLLECT
from engine.perform.checks.run.runner import RunRequest
from engine.perform.process.spawning import Finished

STATUS = {
    "passed": PASSED,
    "failed": FAILED,
    "pending": SKIPPED,
    "skipped": SKIPPED,
    "todo": SKIPPED,
    "disabled": SKIPPED,
}
WHOLE = CommandRunner()


def read_jest(
    path: Path | None, request: RunRequest, name: str, finished: Finished, stdout: bytes
) -> tuple[Report, int]:
    """jest's JSON (vitest writes the same), and how many files ran a test."""
    try:
        data = dict_of(load_json(read_bounded(path or request.reports), f"{name}'s report"))
    except UnreadableError:
        return unstarted(name, request, stdout, finished), 0
    roots = roots_of(request)
    cases: dict[str, Case] = {}
    loaded = 0
    for file in map(dict_of, list_of(data.get("testResults"))):
        where = relative(text_of(file.get("name"), 1000), roots)
        if request.files is not None and where not in request.files:
            continue
        tests = [dict_of(test) for test in list_of(file.get("assertionResults"))]
        if not tests and file.get("status") == "failed":
            text = _last_line(text_of(file.get("message"), 3000))
            cases[where] = Case(id=where, outcome=ERROR, error=COLLECT, text=text, path=where)
            continue
        loaded += any(STATUS.get(text_of(test.get("status"))) != SKIPPED for test in tests)  # else no hook is called
        for test in tests:
            names = [text_of(n, 300) for n in (*list_of(test.get("ancestorTitles")), test.get("title")) if n]
            id = f"{where}::{' > '.join(names)}"
            while id in cases:
                id += "'"
            messages = [text_of(message, 3000) for message in list_of(test.get("failureMessages"))]
            outcome = STATUS.get(text_of(test.get("status")), ERROR)
            cases[id] = Case(
                id=id,
                outcome=outcome,
                error=messages[0].partition(":")[0][:100] if messages else "",
                text=messages[0][:600] if messages else "",
                path=where,
                place=line_in(where, messages[0]) if messages else "",
            )
    problems = () if isinstance(data.get("testResults"), list) else (f"{name}'s report has no results",)
    return Report(source=name, cases=tuple(cases.values()), counts_tests=True, problems=problems), loaded


def unstarted(name: str, request: RunRequest, stdout: bytes, finished: Finished) -> Report:
    """No report: with single files asked for, those could not be run; else nothing is known."""
    said = _last_line((finished.stderr or stdout).decode("utf-8", "replace"))
    if request.files is None:
        return Report(source=name, counts_tests=True, problems=(f"{name} gave no report: {said}",))
    cases = tuple(Case(id=file, outcome=ERROR, error=COLLECT, text=said, path=file) for file in request.files)
    return Report(source=name, cases=cases, counts_tests=True)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"(?:\w+: )?\w*Error\b|Cannot find|● ", line)]
    return (named or lines or [""])[0 if named else -1][:600]


def roots_of(request: RunRequest) -> tuple[str, ...]:
    """Where the room may seem to lie: its folder, or the checkout that the sandbox mounts it at."""
    inside = request.spec.folder if hasattr(request.spec, "folder") else ""
    both = (str(request.room), str(request.room.resolve()), str(request.checkout / inside), str(request.checkout))
    return tuple(dict.fromkeys(path.rstrip("/") for path in both))


def relative(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def line_in(path: str, stack: str) -> str:
    match = re.search(rf"{re.escape(path)}:(\d+)(?::\d+)?", stack) if path else None
    return f"{match.group(1)}:" if match else ""


def birds(path: Path, wanted: int) -> Canaries:
    """What the canaries wrote; at least one account for every file that was loaded."""
    try:
        rows = json_lines(read_bounded(path), "the canaries' account")
    except UnreadableError:
        rows = []
    bodies: list[dict[str, Any]] = [dict_of(row.get("body")) if "body" in row else row for row in rows]
    missing = max(0, wanted - len(bodies))
    planted = sum(int(body.get("planted") or 0) for body in bodies) + missing
    failed = sum(int(body.get("failed") or 0) for body in bodies)
    passed = tuple(text_of(name, 60) for body in bodies for name in list_of(body.get("passed")))
    return Canaries(planted=planted, failed=failed, passed=passed)
