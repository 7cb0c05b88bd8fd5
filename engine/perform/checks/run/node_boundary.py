"""The subject of a test in JavaScript behind a process boundary: what the tests' process loads first, and what it told.

The subject's modules are stand-ins there (`witness/boundary_*.js.txt`); calls go through named pipes that lie in the
report folder, so that a call can wait for its answer. Plain data is copied, everything else is named by a handle.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.perform.checks.run.limits import UnreadableError, list_of, load_json, read_bounded, text_of
from engine.perform.checks.run.measure import Report
from engine.perform.checks.run.runner import RunRequest
from engine.perform.checks.run.witness import script

ANYWHERE = "*"
"""Instead of a test's id: something could not cross, and no test can be named for it."""
PIPES = ("q", "a", "t", "o")


def prepared_preload(request: RunRequest, options: Sequence[str], index: int = 0) -> Path:
    """The script for `--require` in the process of one test file, with its pipes beside it."""
    own = request.reports / f"{secrets.token_hex(4)}.cjs"
    text = "\n".join((client_parts(request), script("boundary_preload")))
    files.write(own, text.replace("@ORDERS@", json.dumps(orders(request, options, index))), durable=False)
    return own


def client_parts(request: RunRequest) -> str:
    parts = ["boundary_codec", "boundary_link", *(["boundary_server"] if request.beside else []), "boundary_client"]
    return "\n".join(map(script, parts))


def orders(request: RunRequest, options: Sequence[str], index: int = 0) -> dict[str, object]:
    """What the client needs to know; makes the pipes."""
    pipes = request.reports / f"p{index}"
    if not request.beside:
        for name in PIPES:
            os.mkfifo(f"{pipes}{name}", 0o600)
    return {
        "subject": [os.path.relpath(path, request.spec.folder or ".") for path in request.subject],
        "options": list(options),
        "server": "\n".join(map(script, ("boundary_codec", "boundary_link", "boundary_server", "boundary_serving"))),
        "hooks": script("boundary_hooks"),
        "mark": secrets.token_hex(8),
        "beside": request.beside,
        "pipes": str(pipes),
        "notes": str(notes_of(request, index)),
    }


def notes_of(request: RunRequest, index: int = 0) -> Path:
    return request.reports / f"c{index}"


def with_crossing(report: Report, request: RunRequest) -> Report:
    """The report with what could not cross, in whichever of its tests."""
    try:
        rows = list_of(load_json(read_bounded(notes_of(request)), "what could not cross"))
    except UnreadableError:
        return report
    told = [f"{ANYWHERE}: {text_of(list_of(row)[1], 200)}" for row in rows if len(list_of(row)) == 2]
    return replace(report, crossing=tuple(dict.fromkeys(told)))


def crossing_of(rows: Sequence[object], starts: Mapping[int, str]) -> list[str]:
    """What could not cross, by the test that begins last above the line it happened in."""
    found = []
    for row in map(list_of, rows):
        if len(row) == 2 and isinstance(row[0], int):
            above = [line for line in starts if line <= row[0]]
            name = starts[max(above)] if above and row[0] else ANYWHERE
            found.append(f"{name}: {text_of(row[1], 200)}")
    return list(dict.fromkeys(found))
