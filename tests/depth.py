"""How much of what is dear each `make test` runs: a share, another one for each commit; all of it in `make torture`.

Properties draw a share of their examples. The dear tests, which `dear_tests.txt` names, take turns by the commit: of a
test with several cases a quarter of them runs, never none; of those with one, a quarter in each file. No file rests
whole. A test file that the commit or the work tree changes runs whole, and in a room whose sources it changes twice as
many have their turn. Turns are taken by `make test` alone: whatever somebody runs by hand is all of it. A renamed test
is no longer named, and runs always.

`python -m tests.depth RESULTS.xml` adds to the list what a deep run (`--junitxml`) shows to be dear.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
DEAR = ROOT / "tests" / "dear_tests.txt"
SHARE = 8
TURNS = 4
DEAR_PART = 1500
"""What takes more than this part of the whole run is dear."""
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


def next_turn(told: dict[str, str]) -> dict[str, str]:
    """For a second run of the same tests beside the first: it takes others of them."""
    return {**told, TURN: str((int(told[TURN]) + 1) % TURNS)} if told else {}


class Item(Protocol):
    nodeid: str


def _function(item: Item) -> str:
    """Its id without the case and the group that it runs in."""
    return item.nodeid.partition("[")[0].partition("@")[0]


def _file(name: str) -> str:
    return name.partition("::")[0]


def left_out(items: Sequence[Item], dear: Path = DEAR) -> set[str]:
    """The ids of the dear tests whose turn it is not. Cases and tests take turns in their order: neighbours never rest
    together for long."""
    now = turn()
    if now is None:
        return set()
    named = set(dear.read_text().split())
    whole = set(os.environ.get(WHOLE, "").split("\n"))
    rooms = tuple(path for path in whole if path.endswith("/"))
    cases: dict[str, list[Item]] = {}
    runs = dict.fromkeys((_file(item.nodeid) for item in items), False)
    for item in items:
        name = _function(item)
        if name in named and _file(name) not in whole:
            cases.setdefault(name, []).append(item)
        else:
            runs[_file(name)] = True
    lone: dict[str, list[Item]] = {}
    out = set()

    def take_turns(some: list[Item], key: str, most: int) -> None:
        turns = min(most, TURNS // 2 if key.startswith(rooms) else TURNS)
        at = zlib.crc32(key.encode())
        out.update(item.nodeid for n, item in enumerate(some) if (at + n + now) % turns)

    for name, its in cases.items():
        if len(its) == 1:
            lone.setdefault(_file(name), []).append(its[0])
        else:
            runs[_file(name)] = True
            take_turns(its, name, len(its))
    for file, its in lone.items():
        take_turns(its, file, TURNS if runs[file] else len(its))
    return out


def dear_by(results: Path) -> set[str]:
    """The tests that took more than their part of a whole run."""
    took: Counter[str] = Counter()
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}".partition("[")[0].partition("@")[
            0
        ]
        took[name] += round(1000 * float(case.get("time", 0)))
    return {name for name, spent in took.items() if spent * DEAR_PART > took.total() and (ROOT / _file(name)).exists()}


if __name__ == "__main__":
    DEAR.write_text("".join(f"{name}\n" for name in sorted({*DEAR.read_text().split(), *dear_by(Path(sys.argv[1]))})))
