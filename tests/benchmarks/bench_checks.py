"""`python -m tests.benchmarks.bench_checks`: what evidence and clean room cost over running the same checks by hand.

A suite of about ten seconds, ruff beside it. By hand: the two commands at once in a folder. Ours: `judge` on a change
of one line, the baseline measured before (a sprint measures it once), the room reused.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from engine.core.model import CheckKind, TaskSpec
from engine.perform.checks.proof.judge import judge, measure_baseline
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import ProcessSpec
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting, which
from tests.redteam.case import cases
from tests.redteam.inside import Court

ROUNDS = 3
QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""By hand and by us: the plug-ins of this environment cost seconds at each start, and are nobody else's."""


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
                name="pytest",
                kind=CheckKind.TESTS,
                command=(PYTHON, "-m", "pytest"),
                parser="junit",
                runner="pytest",
                env=QUICK,
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
                    spawner.run(ProcessSpec(argv=argv, cwd=plain, env={**place.env, **QUICK}))
                    for argv in ((PYTHON, "-m", "pytest", "-q"), (ruff, "check", "."))
                )
            )
            return time.monotonic() - started

        def change(number: int, expected: int) -> str:
            test = f"from src.app import x\n\n\ndef test_x():\n    assert x == {expected}\n"
            return trees.write({**content, "src/app.py": f"x = {number}\n", "tests/test_x.py": test})

        completing = [change(number + 1, number + 1) for number in range(ROUNDS)]
        failing = [change(number + 1, number + 2) for number in range(ROUNDS)]

        async def ours(tree: str, accepted: bool) -> float:
            started = time.monotonic()
            judged = await judge(
                tree=tree, base=base, specs=specs, trees=trees, spawner=spawner, setting=place, clock=time.time,
                task=TaskSpec(id="1", title="Improve"),
            )  # fmt: skip
            assert judged.accepted is accepted, judged.reason
            return time.monotonic() - started

        started = time.monotonic()
        await measure_baseline(base=base, specs=specs, trees=trees, spawner=spawner, setting=place, clock=time.time)
        first = time.monotonic() - started
        hand, judged, failed, cpu = [], [], [], [cpu_seconds()]
        for number in range(ROUNDS):  # in turns, so that a busy machine is busy for both
            hand.append(await by_hand())
            cpu.append(cpu_seconds())
            judged.append(await ours(completing[number], True))
            cpu.append(cpu_seconds())
            failed.append(await ours(failing[number], False))
            cpu.append(cpu_seconds())
        spent = [after - before for before, after in pairwise(cpu)]
        ratio = min(judged) / min(hand)
        by_hand_cpu, completing_cpu, failing_cpu = (min(spent[start::3]) for start in range(3))
        return {
            "suite_seconds": seconds,
            "files": len(content),
            "by_hand_seconds": [round(s, 2) for s in hand],
            "judged_seconds": [round(s, 2) for s in judged],
            "baseline_seconds": round(first, 2),
            "failing_seconds": [round(s, 2) for s in failed],
            "by_hand_cpu_seconds": round(by_hand_cpu, 2),
            "completing_cpu_seconds": round(completing_cpu, 2),
            "failing_cpu_seconds": round(failing_cpu, 2),
            "completing_times_by_hand": round(ratio, 2),
            "failing_times_by_hand": round(min(failed) / min(hand), 2),
            "completing_cpu_times": round(completing_cpu / by_hand_cpu, 2),
            "failing_cpu_times": round(failing_cpu / by_hand_cpu, 2),
            "hold": {"completing": 2.5, "failing": 1.25},
        }


SMALL = ("split-fixed", "all-or-nothing", "tax-in-cents", "hours-fixed")
"""Honest changes of small projects: ledger and depot (pytest), stock (unittest), units (node)."""


def small() -> dict[str, object]:
    """CPU of a verified change against that of the project's own tests, run once by hand; R0 is kept from before."""
    by_name = {case.name: case for case in cases()}
    found: dict[str, object] = {}
    for name in SMALL:
        case = by_name[name]
        with tempfile.TemporaryDirectory(prefix="bench-small-") as folder:
            court = Court(case.repo, Path(folder))
            asyncio.run(court.baseline())
            env = {"PATH": os.environ["PATH"], "HOME": folder, **court.setting.env}
            started = cpu_seconds()
            for spec in court.specs:
                if spec.kind is CheckKind.TESTS:
                    words = [word for word in spec.command if "{reports}" not in word]
                    subprocess.run(words, cwd=court.setting.checkout, env=env, capture_output=True, check=False)
            hand = cpu_seconds() - started
            started = cpu_seconds()
            outcome = court.run(case)
            ours = cpu_seconds() - started
            found[f"{case.repo}: {name}"] = {
                "answer": outcome.answer,
                "by_hand_cpu_seconds": round(hand, 2),
                "judged_cpu_seconds": round(ours, 2),
                "times": round(ours / hand, 2),
            }
    return found | {"hold": 3.0}


def run(seconds: float = 10.0, files: int = 500) -> dict[str, object]:
    return asyncio.run(measured(seconds, files)) | {"small_projects": small()}


if __name__ == "__main__":
    print(json.dumps(run(*(int(argument) for argument in sys.argv[1:])), indent=2))
