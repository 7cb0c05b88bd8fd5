"""What every test file of jest and vitest loads first, and what it told: canaries, assertions, the boundary."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from msgspec.structs import replace

from engine.perform.checks.run.limits import UnreadableError, dict_of, json_lines, list_of, read_bounded, text_of
from engine.perform.checks.run.measure import BAD, Canaries, Case, Report
from engine.perform.checks.run.node_boundary import client_parts, orders, with_crossing
from engine.perform.checks.run.runner import RunRequest
from engine.perform.checks.run.witness import script

OUT = "birds"
VITEST_SETUP = "setup.mjs"


def jest_setup(request: RunRequest) -> str:
    return _composed(request, "jest_setup")


def vitest_config(request: RunRequest, own: str) -> str:
    """Settings for the command line: those of the file `own`, if there is one, and the set-up, which it writes.

    Only there is known where vitest itself lies: the set-up and the tests must have the same one.
    """
    told = {"config": own, "setup": str(request.reports / VITEST_SETUP), "text": _composed(request, "vitest_setup")}
    return script("vitest_config").replace("@ORDERS@", json.dumps(told))


def _composed(request: RunRequest, name: str) -> str:
    parts = [script("expect_birds"), script("assertion_marks"), *([client_parts(request)] if request.subject else [])]
    told = {
        "out": str(request.reports / OUT) if request.canaries else "",
        "boundary": orders(request, ()) if request.subject else None,
    }
    return "\n".join((*parts, script(name).replace("@ORDERS@", json.dumps(told))))


def watched(report: Report, request: RunRequest, loaded: int) -> Report:
    """The report with what the set-up told: `loaded` files must have told something."""
    if request.subject:
        report = with_crossing(report, request)
    if not request.canaries:
        return report
    try:
        rows = json_lines(read_bounded(request.reports / OUT), "the canaries' account")
    except UnreadableError:
        rows = []
    return replace(report, canaries=_canaries(rows, loaded), cases=_marked(report.cases, rows))


def _canaries(rows: list[dict[str, Any]], loaded: int) -> Canaries:
    missing = max(0, loaded - len({text_of(row.get("file"), 1000) for row in rows}))
    return Canaries(
        planted=sum(int(row.get("planted") or 0) for row in rows) + missing,
        failed=sum(int(row.get("failed") or 0) for row in rows),
        passed=tuple(text_of(name, 60) for row in rows for name in list_of(row.get("passed"))),
    )


def _marked(cases: tuple[Case, ...], rows: list[dict[str, Any]]) -> tuple[Case, ...]:
    """The cases with their assertions, where a name stands for one test of one file."""
    told: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for row in rows:
        file = text_of(row.get("file"), 1000)
        for mark in map(dict_of, list_of(row.get("marks"))):
            told.setdefault(_flat(text_of(mark.get("test"), 1000)), []).append((file, mark))
    names = [(case.path, _flat(case.id.partition("::")[2])) for case in cases]
    often = Counter(names)
    done = []
    for case, name in zip(cases, names, strict=True):
        found = [mark for file, mark in told.get(name[1], ()) if file.endswith(f"/{case.path}")]
        if len(found) != 1 or often[name] != 1:
            done.append(case)
            continue
        reached = tuple(sorted(text_of(one, 200) for one in list_of(found[0].get("reached"))))
        line = int(found[0].get("broke") or 0)
        place = f"{line}:assert " if line and case.outcome in BAD else case.place
        done.append(replace(case, reached=reached, place=place))
    return tuple(done)


def _flat(name: str) -> str:
    """jest joins the names of groups by a space, vitest by an arrow, as the ids do."""
    return " ".join(name.replace(" > ", " ").split())
