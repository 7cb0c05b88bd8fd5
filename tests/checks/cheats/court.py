"""Brings scenarios before the judge: one baseline a repository, then every change on it."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.model import CheckKind, TaskSpec
from engine.perform.checks.proof.judge import Judged, judge
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.spec import CheckSpec, HeldOut
from tests.checks.cheats.repo import HELD_OUT, REPOS, Scenario
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting, which

QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def specs(repo: str, must_fix: bool) -> list[CheckSpec]:
    if repo == "node":
        node = which("node") or "node"
        report = ("--test-reporter=junit", "--test-reporter-destination={reports}/junit.xml")
        tests = CheckSpec(
            name="node --test",
            kind=CheckKind.TESTS,
            command=(node, *report, "--test"),
            parser="junit",
            report="junit.xml",
        )
        own = replace(tests, name="own", command=(node, *report, "--test", "test/bug.test.js"), strict=True)
        return [tests, own] if must_fix else [tests]
    if repo == "make":
        return [adopt("make check", name="make check", kind=CheckKind.TESTS)]
    tests = CheckSpec(
        name="pytest",
        kind=CheckKind.TESTS,
        command=(PYTHON, "-m", "pytest"),
        parser="junit",
        runner="pytest",
        env=QUICK,
    )
    lint = adopt(f"{which('ruff')} check .", name="ruff", kind=CheckKind.LINT)
    own = replace(tests, name="own", command=(PYTHON, "-m", "pytest", "tests/test_bug.py"), strict=True)
    return [tests, lint, own] if must_fix else [tests, lint]


@dataclasses.dataclass(frozen=True)
class Sentence:
    scenario: Scenario
    judged: Judged
    seconds: float

    @property
    def reason(self) -> str:
        bad = [f"{r.name} {r.verdict}: {r.reason}" for r in self.judged.results if r.required and r.verdict != "PASS"]
        said = f"{self.judged.proof}: {self.judged.reason}"
        return said if not bad else f"{said} | {bad[0]}"


async def _one(scenario: Scenario, trees: GitTrees, folder: Path, lane: int) -> Sentence:
    place = replace(setting(folder), lane=lane)
    base = await asyncio.to_thread(trees.write, REPOS[scenario.repo])
    tree = await asyncio.to_thread(trees.write, scenario.files())
    held = ()
    if scenario.held_out:
        secret = folder / "held-out"
        secret.mkdir(exist_ok=True)
        (secret / "test_secret.py").write_text(HELD_OUT)
        command = (PYTHON, "-m", "pytest", "-c", "pyproject.toml", "--rootdir=.", "{folder}")
        held = (HeldOut(name="held-out", folder=secret, command=command, runner="pytest", parser="junit", env=QUICK),)
    started = time.monotonic()
    judged = await judge(
        tree=tree,
        base=base,
        specs=specs(scenario.repo, scenario.must_fix),
        trees=trees,
        spawner=plain_spawner(folder),
        setting=place,
        clock=time.time,
        task=TaskSpec(id="1.1", title=scenario.title, allow=scenario.allow, proof=scenario.proof),
        held_out=held,
    )
    return Sentence(scenario, judged, time.monotonic() - started)


def session(scenarios: Sequence[Scenario], folder: Path, width: int = 2) -> list[Sentence]:
    """Every scenario judged, `width` at a time, each lane with its own trees and rooms."""

    async def lane(number: int) -> list[tuple[int, Sentence]]:
        home = folder / f"lane-{number}"
        trees = GitTrees(home / "git")
        return [(i, await _one(s, trees, home, number)) for i, s in enumerate(scenarios) if i % width == number]

    async def every() -> list[Sentence]:
        lanes = await asyncio.gather(*(lane(number) for number in range(width)))
        return [sentence for _, sentence in sorted((pair for one in lanes for pair in one), key=lambda pair: pair[0])]

    return asyncio.run(every())


def cores() -> int:
    return min(2, os.cpu_count() or 1)
