"""`python -m tests.benchmarks.bench_checks`: what evidence and clean room cost over running the same checks by hand.

A suite of about ten seconds, ruff beside it. By hand: the two commands at once in a folder. Ours: `judge` on a change
of one line, the baseline measured before (a sprint measures it once), the room reused.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.core.model import CheckKind, TaskSpec
from engine.perform.checks.presets.registry import detect
from engine.perform.checks.proof.judge import judge, measure_baseline
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import ProcessSpec
from tests.benchmarks.proof_cost import Costs, ProductTrees, counted, cpu_seconds
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting, which
from tests.foreign.fetch import Unreachable
from tests.foreign.projects import PROJECTS, Foreign
from tests.redteam.case import Tree, cases
from tests.redteam.case import repository as repository_of
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

        where: dict[bool, dict[str, str]] = {}

        async def ours(tree: str, accepted: bool) -> float:
            started = time.monotonic()
            with counted() as costs:
                await judged_as(tree, accepted)
            where[accepted] = costs.table()
            return time.monotonic() - started

        async def judged_as(tree: str, accepted: bool) -> None:
            judged = await judge(
                tree=tree, base=base, specs=specs, trees=trees, spawner=spawner, setting=place, clock=time.time,
                task=TaskSpec(id="1", title="Improve"),
            )  # fmt: skip
            assert judged.accepted is accepted, judged.reason

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
            "completing_cpu_by_run": where[True],
            "failing_cpu_by_run": where[False],
            "hold": {"completing": 2.5, "failing": 1.25},
        }


SMALL = ("split-fixed", "all-or-nothing", "tax-in-cents", "hours-fixed")
"""Honest changes of small projects: ledger and depot (pytest), stock (unittest), units (node)."""


REAL = ("cachetools", "inflection-unignored-venv", "webcolors", "minimist")
"""Real projects from the registries, where these can be reached: pytest, pytest, unittest, tape."""


class CaseTrees(ProductTrees):
    """The product's trees of the cases of tests/redteam."""

    def put(self, tree: Tree) -> str:
        return self.write({path: (one.mode, one.text.encode("utf-8", "surrogateescape")) for path, one in tree.items()})


class ProductCourt(Court):
    """A case before the judge with the trees and rooms of the product."""

    def __init__(self, repo: str, folder: Path) -> None:
        super().__init__(repo, folder)
        self.trees: Any = CaseTrees(self.setting.checkout, self.folder / "state")
        self.setting = replace(self.setting, scratch=self.trees.root / "checks")
        self.base = self.trees.put(repository_of(repo))


def small() -> dict[str, object]:
    """CPU of a verified change against that of the project's own tests, run once by hand; R0 is kept from before."""
    by_name = {case.name: case for case in cases()}
    found: dict[str, object] = {}
    for name in SMALL:
        case = by_name[name]
        with tempfile.TemporaryDirectory(prefix="bench-small-") as folder:
            court = ProductCourt(case.repo, Path(folder))
            court.trees.put(case.after)  # the scope check did that
            asyncio.run(court.baseline())
            env = {"PATH": os.environ["PATH"], "HOME": folder, **court.setting.env}
            hand = min(_by_hand(court, env) for _ in range(ROUNDS))
            with counted() as costs:
                outcome = court.run(case)
            found[f"{case.repo}: {name}"] = _row(outcome.answer, hand, costs)
    return found | {"hold": 3.0}


def _by_hand(court: Court, env: dict[str, str]) -> float:
    started = cpu_seconds()
    for spec in court.specs:
        if spec.kind is CheckKind.TESTS:
            words = [word for word in spec.command if "{reports}" not in word]
            subprocess.run(words, cwd=court.setting.checkout, env=env, capture_output=True, check=False)
    return cpu_seconds() - started


def _row(answer: str, hand: float, costs: Costs) -> dict[str, object]:
    return {
        "answer": answer,
        "by_hand_cpu_seconds": round(hand, 2),
        "judged_cpu_seconds": round(costs.total, 2),
        "times": round(costs.total / hand, 2),
        "by_run": costs.table(),
    }


def real() -> dict[str, object]:
    """The same for real projects: the bug that `tests/foreign` plants in each is on the base, the change mends it."""
    found: dict[str, object] = {}
    for project in PROJECTS:
        if project.name not in REAL or any(shutil.which(need) is None for need in project.needs):
            continue
        with tempfile.TemporaryDirectory(prefix="bench-real-") as name:
            folder = Path(name).resolve()
            try:
                found[project.name] = asyncio.run(_mended(project, folder))
            except Unreachable as problem:
                found[project.name] = f"not measured: {problem}"
    return found | {"hold": 3.0}


async def _mended(project: Foreign, folder: Path) -> dict[str, object]:
    place = setting(folder)
    checkout = place.checkout
    project.make(checkout)
    skipped = (".venv", "node_modules", "__pycache__", ".git")
    content = {
        path.relative_to(checkout).as_posix(): path.read_bytes()
        for path in sorted(checkout.rglob("*"))
        if path.is_file() and not path.is_symlink() and not set(path.relative_to(checkout).parts) & {*skipped}
    }
    file, right, wrong = project.broken
    broken = {**content, file: content[file].decode().replace(right, wrong, 1).encode()}
    trees, spawner = GitTrees(folder / "git"), plain_spawner(folder)
    base, mended = trees.write(broken), trees.write(content)
    command = tuple(str(checkout / word) if word.startswith(".venv/") else word for word in project.own)
    spec = adopt(" ".join(word for word in command if word not in ("-x", "-q")), name="tests", kind=CheckKind.TESTS)
    if project.what == "tape":
        spec = next(one for one in detect(checkout, which) if one.kind is CheckKind.TESTS)
        place = replace(place, env={**place.env, "NODE_PATH": str(checkout / "node_modules")})
    (checkout / file).write_bytes(broken[file])
    await measure_baseline(base=base, specs=[spec], trees=trees, spawner=spawner, setting=place, clock=time.time)
    (checkout / file).write_bytes(content[file])
    hands = []
    for _ in range(ROUNDS):
        started = cpu_seconds()
        subprocess.run(command, cwd=checkout, env={**os.environ, **place.env}, capture_output=True, check=False)
        hands.append(cpu_seconds() - started)
    with counted() as costs:
        judged = await judge(
            tree=mended, base=base, specs=[spec], trees=trees, spawner=spawner, setting=place, clock=time.time,
            task=TaskSpec(id="1", title="Mend what is broken"),
        )  # fmt: skip
    return _row(f"{judged.proof} {judged.reason[:80]}", min(hands), costs)


def run(seconds: float = 10.0, files: int = 500) -> dict[str, object]:
    return asyncio.run(measured(seconds, files)) | {"small_projects": small(), "real_projects": real()}


if __name__ == "__main__":
    print(json.dumps(run(*(int(argument) for argument in sys.argv[1:])), indent=2))
