"""make bench-compare BASE=COMMIT: two commits side by side, turn by turn, as ratios.

    python -m tests.benchmarks.compare BASE [ROUNDS] [TASKS]

The work tree is held against a commit: both do the same real iterations and read the same shapes of output, one after
the other in each round, so that a loaded machine loads both. What is printed is the middle of the rounds' ratios (ours
divided by the base's) with the smallest and largest; a probe that the base does not have is left out and named.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROBES = Path(__file__).parent
SHAPES = ("10-byte lines", "prose", "base64, one line", "json events")
ITERATION = ("cpu_ms", "quiet_ms", "git_starts", "wall_ms", "engine_mb")


def exported(commit: str, folder: Path) -> Path:
    """The commit's files, without a git directory."""
    done = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{commit} is no commit of this repository: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
        packed.extractall(folder, filter="data")
    shutil.copy(PROBES / "calibration.py", folder / "tests" / "benchmarks")  # the probes of today run over both
    return folder


def probed(tree: Path, script: str, *arguments: str) -> dict[str, Any] | None:
    """One probe over one tree, as its own process; None where the tree cannot be probed so."""
    env = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, str(PROBES / script), *arguments], cwd=tree, env=env, capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        print(f"   {tree.name}: {script} {' '.join(arguments)}: {said[-1] if said else 'failed'}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout.decode().strip())
    return found


def compare(base: str, rounds: int = 5, tasks: int = 12) -> dict[str, Any]:
    jobs: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [("probe_iteration.py", (str(tasks),), ITERATION)]
    jobs += [("bench_output.py", ("4", shape), ("cpu_ms_per_mb",)) for shape in SHAPES]
    results: dict[str, Any] = {"base": base, "rounds": rounds}
    with tempfile.TemporaryDirectory() as place:
        old = exported(base, Path(place) / "base")
        for script, arguments, names in jobs:
            ratios: dict[str, list[float]] = {name: [] for name in names}
            last: dict[str, Any] = {}
            for number in range(rounds):
                # Who goes first changes: whatever the first warms up, both have warm.
                pair = [old, ROOT] if number % 2 == 0 else [ROOT, old]
                found = {tree: probed(tree, script, *arguments) for tree in pair}
                theirs, ours = found[old], found[ROOT]
                if theirs is None or ours is None:
                    break
                last = {"base": {name: theirs[name] for name in names}, "now": {name: ours[name] for name in names}}
                for name in names:
                    ratios[name].append(ours[name] / max(theirs[name], 1e-9))
            title = f"{script.removesuffix('.py')} {' '.join(arguments)}"
            results[title] = {name: _summed(values) for name, values in ratios.items() if values} | {"last": last}
            print(f"── {title}\n{json.dumps(results[title], indent=2)}", flush=True)
    return results


def _summed(values: list[float]) -> dict[str, float]:
    return {
        "ratio": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("say which commit: make bench-compare BASE=COMMIT")
    compare(sys.argv[1], *(int(argument) for argument in sys.argv[2:4]))
