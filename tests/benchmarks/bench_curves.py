"""Growth as curves, not points: what an iteration costs after many, and among many files. Events: bench_journal and
bench_engine; lanes: bench_lanes.

    python -m tests.benchmarks.bench_curves [iterations|files …]

Each point is a process of its own. CPU counts ours and all children's, gits that last included. The design holds: flat
from the 10th to the 1,000th iteration, 20,000 files within 1.5 × of a small repository.
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
ITERATIONS = (10, 100)
"""A thousand takes half an hour: `python -m tests.benchmarks.probe_iteration 1000`."""
FILES = (100, 2_000, 20_000)


def _probe(*arguments: int) -> dict[str, Any]:
    script = Path(__file__).with_name("probe_iteration.py")
    done = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.decode().strip())
    return found


def iterations() -> dict[str, Any]:
    return {str(count): _probe(count + 3) for count in ITERATIONS}


def files() -> dict[str, Any]:
    points = {str(count): _probe(8, count) for count in FILES}
    small, large = points[str(FILES[0])]["cpu_ms"], points[str(FILES[-1])]["cpu_ms"]
    return {**points, "large_to_small": round(large / small, 2)}


CURVES: dict[str, Callable[[], dict[str, Any]]] = {"iterations": iterations, "files": files}


def run(*names: str) -> dict[str, Any]:
    return {name: CURVES[name]() for name in names or CURVES}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:]), indent=2))
