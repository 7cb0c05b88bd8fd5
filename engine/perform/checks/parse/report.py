"""From what a process left behind to a Report. A report that is missing, stale or unreadable is a problem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.perform.checks.parse.compiled import parse_go, parse_libtest, parse_rustc
from engine.perform.checks.parse.javascript import parse_eslint, parse_jest, parse_tsc
from engine.perform.checks.parse.junit import RANK, parse_junit
from engine.perform.checks.parse.python_tools import parse_bandit, parse_mypy, parse_pyright, parse_ruff
from engine.perform.checks.parse.sarif import parse_sarif
from engine.perform.checks.parse.tap import parse_tap
from engine.perform.checks.run.limits import UnreadableError, read_bounded
from engine.perform.checks.run.measure import Case, Report

PARSERS: dict[str, Callable[[bytes], Report]] = {
    "junit": parse_junit,
    "sarif": parse_sarif,
    "ruff": parse_ruff,
    "mypy": parse_mypy,
    "pyright": parse_pyright,
    "bandit": parse_bandit,
    "eslint": parse_eslint,
    "jest": parse_jest,
    "tsc": parse_tsc,
    "tap": parse_tap,
    "go": parse_go,
    "rustc": parse_rustc,
    "libtest": parse_libtest,
}

STALE_SLACK = 2.0
"""File systems round times; the folder is new for each run anyway."""


def parse_bytes(parser: str, data: bytes) -> Report:
    """Never raises: what cannot be read is a Report with a problem."""
    try:
        return PARSERS[parser](data)
    except UnreadableError as error:
        return Report(source=parser, problems=(str(error),))


def parse_report(parser: str, path: Path, started: float) -> Report:
    """A report file, or every report of a folder (Maven and Gradle write one a class)."""
    if path.is_dir() and not path.is_symlink():
        parts = [parse_report(parser, file, started) for file in sorted(path.rglob("*.xml"))[:5000]]
        return merge(parts) if parts else Report(source=parser, problems=(f"no report was written to {path.name}",))
    try:
        data = read_bounded(path, not_before=started - STALE_SLACK)
    except UnreadableError as error:
        return Report(source=parser, problems=(str(error),))
    return parse_bytes(parser, data)


def merge(parts: list[Report]) -> Report:
    worst: dict[str, Case] = {}
    for case in (case for part in parts for case in part.cases):
        known = worst.get(case.id)
        if known is None or RANK[case.outcome] > RANK[known.outcome]:
            worst[case.id] = case
    return msgspec.structs.replace(
        parts[0],
        cases=tuple(worst.values()),
        findings=tuple(finding for part in parts for finding in part.findings),
        problems=tuple(problem for part in parts for problem in part.problems),
    )
