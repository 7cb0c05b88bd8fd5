"""Growth as curves, not points: what an iteration costs after many others, among many files, tasks and lanes; what a
history costs by its length. Lanes with real agents: bench_lanes.

    python -m tests.benchmarks.bench_curves [iterations|files|events|lanes|tasks …] [long]

Each point is a process of its own. CPU counts ours and all children's, gits that last included. The design holds: flat
from the 10th to the 1,000th iteration, 20,000 files within 1.5 × of a small repository, the first picture of 100,000
events within a second. `long` adds what takes half an hour: 1,000 real iterations, 100,000 files, a million events.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ITERATIONS, MANY_ITERATIONS = (10, 100), (1_000,)
FILES, MANY_FILES = (100, 2_000, 20_000), (100_000,)
EVENTS, MANY_EVENTS = (1_000, 10_000, 100_000), (1_000_000,)
LANES = (1, 8, 64)
TASKS = (1, 50, 500)


def _probe(script: str, *arguments: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.decode().strip())
    return found


def iterations(more: bool = False) -> dict[str, Any]:
    counts = (*ITERATIONS, *(MANY_ITERATIONS if more else ()))
    return {str(count): _probe("probe_iteration.py", count + 3) for count in counts}


def files(more: bool = False) -> dict[str, Any]:
    points = {str(count): _probe("probe_iteration.py", 8, count) for count in (*FILES, *(MANY_FILES if more else ()))}
    small, large = points[str(FILES[0])]["cpu_ms"], points[str(FILES[-1])]["cpu_ms"]
    return {**points, "large_to_small": round(large / small, 2)}


def events(more: bool = False) -> dict[str, Any]:
    return {str(count): _probe("probe_events.py", count) for count in (*EVENTS, *(MANY_EVENTS if more else ()))}


def lanes(_more: bool = False) -> dict[str, Any]:
    return {str(count): _probe("probe_loop.py", 128, count) for count in LANES}


def tasks(_more: bool = False) -> dict[str, Any]:
    return {str(count): _probe("probe_loop.py", count, 1) for count in TASKS}


CURVES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "iterations": iterations,
    "files": files,
    "events": events,
    "lanes": lanes,
    "tasks": tasks,
}


def run(*names: str) -> dict[str, Any]:
    more = "long" in names
    return {name: CURVES[name](more) for name in [name for name in names if name != "long"] or CURVES}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:]), indent=2))
