"""One number of one commit: real gated iterations, every process of ours counted. Runs over any tree of this project.

    PYTHONPATH=TREE python probe_iteration.py TASKS [FILES [SOURCES]]

Implement (scripted agent), scope, a check that does nothing, review, commit, baseline, checkpoint; real git, real
sandbox, durable journal. Prints JSON: CPU of the engine and of all its children, git starts, wall time and memory, per
iteration; the first iterations, with their imports and first clone, are left out. `quiet_ms` is the CPU on a quiet
machine: held against a fixed piece of work that is done once after each iteration (`calibration.py`). From a hundred
iterations on the same is told by tenths, the engine's process apart from its children. With SOURCES (1) the files are
Python modules of the standard library under other names, which the proof reads, instead of a line each.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.state import State
from engine.session import Session
from engine.session_options import Options
from tests.benchmarks import calibration
from tests.benchmarks.bench_engine import sprint_of
from tests.engine import small

LEFT_OUT = 2
_starts = [0]


def _counted() -> None:
    """Every start of git, however this tree starts it: by the first of its hardening options."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and "--no-optional-locks" in arguments[1]:
            _starts[0] += 1

    sys.addaudithook(hear)


def living(pid: int) -> float:
    """CPU seconds of what lives below a process and was not waited for yet: gits that last."""
    total = 0.0
    tick = os.sysconf("SC_CLK_TCK")
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        for number in child.read_text().split():
            try:
                fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            total += (int(fields[11]) + int(fields[12])) / tick
    return total


def _cpu() -> tuple[float, float]:
    """CPU seconds of the engine's process, and of its children."""
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime, theirs.ru_utime + theirs.ru_stime + living(os.getpid())


def _memory() -> float:
    """Megabytes that the engine's process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


class Mark(NamedTuple):
    own: float
    children: float
    starts: int
    clock: float
    megabytes: float

    @property
    def cpu(self) -> float:
        return self.own + self.children


def _curve(kept: list[Mark], reference: calibration.Reference) -> list[dict[str, float]]:
    """Ten parts of the way, each held against the pieces that were done within it."""
    count = len(kept) - 1
    found = []
    for part in range(10) if count >= 100 else ():
        first, last = part * count // 10, (part + 1) * count // 10
        dearer = reference.dearer_in(first, last)
        each = 1000 / (last - first) / dearer
        found.append(
            {
                "quiet_ms": round((kept[last].cpu - kept[first].cpu) * each, 1),
                "own_ms": round((kept[last].own - kept[first].own) * each, 1),
                "children_ms": round((kept[last].children - kept[first].children) * each, 1),
                "dearer": round(dearer, 2),
                "engine_mb": round(kept[last].megabytes, 1),
            }
        )
    return found


MOST_BYTES = 8_000
"""Of a module of the standard library that is taken for a source file."""


def _more_files(repo: Path, files: int, sources: bool) -> None:
    if not files:
        return
    library = sorted(Path(os.__file__).parent.rglob("*.py")) if sources else []
    texts = [path.read_bytes() for path in library if 500 < path.stat().st_size < MOST_BYTES]
    for number in range(files):
        folder = repo / f"pkg{number // 1000:03}" / f"mod{number // 20 % 50:02}"
        if number % 20 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        head = f"value = {number}\n".encode()
        if sources:
            (folder / f"f{number}.py").write_bytes(head + texts[number % len(texts)])
        else:
            (folder / f"f{number}.txt").write_bytes(head)
    small.git(repo, "add", *(f"pkg{number:03}" for number in range((files + 999) // 1000)))  # not .devteam/
    small.git(repo, "-c", "gc.auto=0", "commit", "-qm", "many files")
    small.git(repo, "repack", "-adq")


async def probe(folder: Path, tasks: int, files: int = 0, sources: int = 0) -> dict[str, Any]:
    _counted()
    sprint = sprint_of(folder / "repo", tasks)
    _more_files(folder / "repo", files, bool(sources))
    project = small.project_of(folder / "repo", folder / "state")
    options = Options(trust="all", attended=False, speed=1e9)
    marks: list[Mark] = []
    reference = calibration.Reference()

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        if any(isinstance(one.event, ev.Committed) for one in envelopes):
            own, children = _cpu()
            spent = reference.spent, reference.spent_by_children
            marks.append(Mark(own - spent[0] + spent[1], children - spent[1], _starts[0], time.monotonic(), _memory()))
            if len(marks) > LEFT_OUT:
                reference.take()

    async with Session.open(project, sprint, SystemClock(), options) as session:
        session.watch(watch)
        state = await session.run()
        if state.outcome != "done":
            raise RuntimeError(state.outcome)
    kept = marks[min(LEFT_OUT, len(marks) - 2) :]
    count = len(kept) - 1
    tenth = max(1, count // 10)
    early, late = kept[tenth].cpu - kept[0].cpu, kept[-1].cpu - kept[-1 - tenth].cpu
    spent = (kept[-1].cpu - kept[0].cpu) * 1000 / count
    return {
        "iterations": count,
        "files": files,
        "sources": bool(sources),
        "cpu_ms": round(spent, 1),
        "quiet_ms": round(spent / reference.dearer, 1),
        "dearer": round(reference.dearer, 2),
        "git_starts": round((kept[-1].starts - kept[0].starts) / count, 2),
        "wall_ms": round((kept[-1].clock - kept[0].clock) * 1000 / count, 1),
        "cpu_ms_first_tenth": round(early * 1000 / tenth, 1),
        "cpu_ms_last_tenth": round(late * 1000 / tenth, 1),
        "engine_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, 1),
        "by_tenth": _curve(kept, reference),
    }


def main(tasks: int = 30, files: int = 0, sources: int = 0) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        return asyncio.run(probe(Path(place), tasks, files, sources))


if __name__ == "__main__":
    print(json.dumps(main(*(int(argument) for argument in sys.argv[1:]))))
