"""A case before the judge alone, in this process: one baseline a repository, real git and checks, no agent, no loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.model import TaskSpec
from engine.perform.checks.presets.registry import detect
from engine.perform.checks.proof.judge import Judged, judge, measure_baseline
from engine.perform.run_checks import verify_specs
from engine.plans.native import NATIVE
from engine.plans.words import derive, with_derived
from tests.checks.ground import GitTrees, plain_spawner, setting, which
from tests.redteam.case import Case, Tree, repository
from tests.redteam.outside import Outcome, put


class Trees(GitTrees):
    """Trees with modes and links."""

    def put(self, tree: Tree) -> str:
        return self.objects.write(
            {
                path: (file.mode, self.objects.put("blob", file.text.encode("utf-8", "surrogateescape")))
                for path, file in tree.items()
            }
        )


class Court:
    """One repository; the judge keeps its baseline between the cases."""

    def __init__(self, repo: str, folder: Path, quick: bool = False) -> None:
        """`quick`: without the mutants of changed lines, which advise and never decide."""
        self.folder = folder / repo
        self.trees = Trees(self.folder / "git")
        self.setting = setting(self.folder)
        bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the plug-ins of this project are none of theirs
        self.setting = replace(self.setting, env=dict(self.setting.env) | bare)
        if quick:
            self.setting = replace(self.setting, policy=replace(self.setting.policy, mutants=0))
        if "go.mod" in repository(repo):
            home = {"GOCACHE": str(folder / "gocache"), "GOFLAGS": "-mod=mod", "GOPATH": str(folder / "go")}
            self.setting = replace(self.setting, env=dict(self.setting.env) | home)
        base = repository(repo)
        put(base, self.setting.checkout)
        self.specs = detect(self.setting.checkout, which)
        self.base = self.trees.put(base)

    async def baseline(self) -> None:
        """R0, so that a case after it finds it kept."""
        await measure_baseline(
            base=self.base,
            specs=self.specs,
            trees=self.trees,
            spawner=plain_spawner(self.folder),
            setting=self.setting,
            clock=time.time,
        )

    def run(self, case: Case) -> Outcome:
        started = time.monotonic()
        judged = asyncio.run(self._judge(case))
        answer, why = verdict(judged)
        return Outcome(case, answer, why, time.monotonic() - started, None, str(getattr(judged, "proof", "") or ""))

    async def _judge(self, case: Case) -> Judged:
        task = spec(case)
        return await judge(
            tree=self.trees.put(case.after),
            base=self.base,
            specs=(*self.specs, *verify_specs(task, 60.0)),
            trees=self.trees,
            spawner=plain_spawner(self.folder),
            setting=self.setting,
            clock=time.time,
            task=task,
        )


def spec(case: Case) -> TaskSpec:
    """The task as `devteam plan --from` would give it to the engine."""
    plan = NATIVE.read(case.plan(), "plan.md")
    return with_derived(plan, derive(plan)).tasks()[0]


def verdict(judged: Judged) -> tuple[str, str]:
    bad = [f"{r.name} {r.verdict}: {r.reason}" for r in judged.results if r.required and r.verdict != "PASS"]
    found = [f"{f.rule}: {f.text}" for f in judged.findings if f.severity in ("human", "error")]
    proof = getattr(judged, "proof", None)
    if proof is not None:
        words = {"PROVEN": "accepted", "HARMLESS": "accepted", "QUESTION": "asked", "UNPROVEN": "unproven"}
        answer = words.get(str(proof), "error" if str(proof) == "ERROR" else "refused")
        return answer, "; ".join([judged.reason, *found, *bad])
    severities = [f.severity for f in judged.findings]
    if "error" in severities or any(
        r.verdict == "FAIL" for r in judged.results if r.required and r.name != "integrity"
    ):
        return "refused", "; ".join(found + bad)
    if "human" in severities:
        return "asked", "; ".join(found + bad)
    return ("error" if bad else "accepted"), "; ".join(bad)


def session(cases: Sequence[Case], folder: Path) -> list[Outcome]:
    courts: dict[str, Court] = {}
    out = []
    for case in cases:
        if case.repo not in courts:
            courts[case.repo] = Court(case.repo, folder)
        out.append(courts[case.repo].run(case))
    return out


def cores() -> int:
    return min(2, os.cpu_count() or 1)
