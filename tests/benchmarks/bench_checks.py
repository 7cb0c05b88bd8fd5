"""`python -m tests.benchmarks.bench_checks`: what evidence and clean room cost over running the same checks by hand.

A suite of about ten seconds, ruff beside it. By hand: the two commands at once in a folder. Ours: `judge` on a change
of one line, the baseline measured before (a sprint measures it once), the room reused.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from engine.core.model import CheckKind, TaskSpec
from engine.perform.checks.command import adopt
from engine.perform.checks.judge import judge, measure_baseline
from engine.perform.checks.spec import CheckSpec
from engine.perform.contract import ProcessSpec
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting, which

ROUNDS = 3


def repository(seconds: float, files: int) -> dict[str, str]:
    """Half of the time is computing, half is waiting; a few hundred files make the room worth making."""
    one = seconds / 40
    found = {"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n", "src/app.py": "x = 0\n"}
    for number in range(20):
        found[f"tests/test_{number}.py"] = (
            "import time\n\nimport pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_work(n):\n"
            f"    end = time.process_time() + {one / 2}\n    while time.process_time() < end:\n        sum(range(99))\n"
            f"    time.sleep({one / 2})\n    assert n\n"
        )
    return found | {f"src/part{number // 100}/m{number}.py": f"value = {number}\n" for number in range(files)}


def cpu_seconds() -> float:
    """Of this process and of every child that ended: a busy machine does not distort it."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


async def measured(seconds: float, files: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="bench-checks-") as name:
        folder = Path(name)
        trees, spawner, place = GitTrees(folder / "git"), plain_spawner(folder), setting(folder)
        content = repository(seconds, files)
        base = trees.write(content)
        specs = [
            CheckSpec(
                name="pytest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "pytest"), parser="junit", runner="pytest"
            ),
            adopt(f"{which('ruff')} check .", name="ruff", kind=CheckKind.LINT),
        ]
        plain = folder / "plain"
        trees.export(base, plain)
        ruff = str(which("ruff"))

        async def by_hand() -> float:
            started = time.monotonic()
            await asyncio.gather(
                *(
                    spawner.run(ProcessSpec(argv=argv, cwd=plain, env=place.env))
                    for argv in ((PYTHON, "-m", "pytest", "-q"), (ruff, "check", "."))
                )
            )
            return time.monotonic() - started

        changed = [trees.write({**content, "src/app.py": f"x = {number + 1}\n"}) for number in range(ROUNDS)]

        async def ours(tree: str) -> float:
            started = time.monotonic()
            judged = await judge(
                tree=tree, base=base, specs=specs, trees=trees, spawner=spawner, setting=place, clock=time.time,
                task=TaskSpec(id="1", title="Improve"),
            )  # fmt: skip
            assert judged.accepted, judged.findings
            return time.monotonic() - started

        started = time.monotonic()
        await measure_baseline(base=base, specs=specs, trees=trees, spawner=spawner, setting=place, clock=time.time)
        first = time.monotonic() - started
        hand, judged, cpu = [], [], [cpu_seconds()]
        for number in range(ROUNDS):  # in turns, so that a busy machine is busy for both
            hand.append(await by_hand())
            cpu.append(cpu_seconds())
            judged.append(await ours(changed[number]))
            cpu.append(cpu_seconds())
        spent = [after - before for before, after in pairwise(cpu)]
        ratio = min(judged) / min(hand)
        return {
            "suite_seconds": seconds,
            "files": len(content),
            "by_hand_seconds": [round(s, 2) for s in hand],
            "judged_seconds": [round(s, 2) for s in judged],
            "baseline_seconds": round(first, 2),
            "by_hand_cpu_seconds": round(min(spent[::2]), 2),
            "judged_cpu_seconds": round(min(spent[1::2]), 2),
            "cpu_overhead_percent": round((min(spent[1::2]) / min(spent[::2]) - 1) * 100, 1),
            "overhead_percent": round((ratio - 1) * 100, 1),
            "hold_percent": 15,
        }


def run(seconds: float = 10.0, files: int = 500) -> dict[str, object]:
    return asyncio.run(measured(seconds, files))


if __name__ == "__main__":
    print(json.dumps(run(*(int(argument) for argument in sys.argv[1:])), indent=2))
