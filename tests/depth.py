"""How much of what is dear each `make test` runs: a share, another one for each commit; all of it in `make torture`.

Properties draw a share of their examples. Of the dear tests, which `dear_tests.txt` names, a third runs: those whose
turn it is by the commit. A test file that the commit or the work tree changes runs whole, so do all tests of a room
whose sources it changes, and whatever somebody runs by hand: turns are taken by `make test` alone. A renamed test is no
longer named, and runs always.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).parents[1]
DEAR = ROOT / "tests" / "dear_tests.txt"
SHARE = 8
TURNS = 3
TURN, WHOLE = "DEVTEAM_TURN", "DEVTEAM_WHOLE"

ROOMS = {"engine/perform/checks/": "tests/checks/", "tui/": "tests/tui/"}
"""Where the dear tests of a room are."""


def deep() -> bool:
    return bool(os.environ.get("DEVTEAM_DEEP"))


def examples(all_of_them: int, least: int = 10) -> int:
    return all_of_them if deep() else min(all_of_them, max(least, all_of_them // SHARE))


def turn() -> int | None:
    """The number that says whose turn it is; None where everything runs."""
    given = os.environ.get(TURN, "")
    return int(given) if given and not deep() else None


def of_this_commit(root: Path = ROOT) -> dict[str, str]:
    """What `make test` tells its workers: whose turn it is, and the files that run whole. Nothing without git: then
    everything runs."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        commit, changed = git("rev-parse", "HEAD"), git("diff", "--name-only", "HEAD~1")
        new = git("ls-files", "--others", "--exclude-standard")
    except OSError:
        return {}
    paths = [*changed.splitlines(), *new.splitlines()]
    whole = [path for path in paths if path.startswith("tests/")]
    whole += [tests for room, tests in ROOMS.items() if any(path.startswith(room) for path in paths)]
    return {TURN: str(int(commit, 16) % TURNS), WHOLE: "\n".join(whole)} if commit else {}


class Item(Protocol):
    nodeid: str


def left_out(items: Sequence[Item], dear: Path = DEAR) -> set[str]:
    """The ids of the dear tests whose turn it is not. Within a file they take turns in their order: three in one file
    never rest together."""
    now = turn()
    if now is None:
        return set()
    named = set(dear.read_text().split())
    whole = set(os.environ.get(WHOLE, "").split("\n"))
    rooms = tuple(path for path in whole if path.endswith("/"))
    seen: dict[str, int] = {}
    out = set()
    for item in items:
        name = item.nodeid.partition("[")[0].partition("@")[0]
        file = name.partition("::")[0]
        if name not in named or file in whole or file.startswith(rooms):
            continue
        at = seen.setdefault(file, zlib.crc32(file.encode()))
        seen[file] += 1
        if (at + now) % TURNS:
            out.add(item.nodeid)
    return out
