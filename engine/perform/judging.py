"""RunChecks from effect to fact: the checks room judges a tree, the workspace room gives it trees."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.activity import AnyActivity
from engine.core.effects import RunChecks
from engine.core.model import CheckResult, FileChange, Finding, TaskSpec
from engine.core.state import State
from engine.perform.checks.command import adopt
from engine.perform.checks.judge import Judged, judge, measure_baseline
from engine.perform.checks.spec import CheckSpec, HeldOut, Setting
from engine.perform.checks.verdict import check_result
from engine.perform.contract import Spawner
from engine.perform.workspace import trees
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import GitError
from engine.perform.workspace.workspace import Workspace


class RoomTrees:
    """The workspace's trees, as the checks room wants them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.store

    def export(self, tree: str, dest: Path) -> None:
        self._workspace.export(tree, dest)

    def overlay(self, tree: str, paths: Sequence[str], from_tree: str) -> str:
        wanted = [os.fsencode(path) for path in paths]
        return trees.overlay(self._store.git, tree, from_tree, wanted, self._store.scratch)

    def show(self, tree: str, path: str) -> bytes | None:
        try:
            return trees.show(self._store.git, tree, path)
        except (GitError, WorkspaceError):
            return None

    def files(self, tree: str) -> Sequence[str]:
        return [trees.fs_path(path) for path in trees.entries(self._store.git, tree)]

    def diff_files(self, old: str, new: str) -> Sequence[FileChange]:
        return self._workspace.changed_files(old, new)

    def hash_folder(self, folder: Path) -> str:
        return self._workspace.hash_room(folder)


class Judging:
    """Performs RunChecks effects."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        specs: Sequence[CheckSpec],
        held_out: Sequence[HeldOut],
        setting: Setting,
        spawner: Spawner,
        now: Callable[[], float],
        publish: Callable[[AnyActivity], None],
        redact: Callable[[str], str],
    ) -> None:
        self._workspace = workspace
        self._trees = RoomTrees(workspace)
        self._specs = tuple(specs)
        self._held_out = tuple(held_out)
        self._setting = setting
        self._spawner = spawner
        self._now = now
        self._publish = publish
        self._redact = redact

    async def perform(self, effect: RunChecks, state: State) -> ev.ChecksFinished:
        base = self._workspace.tree_of(effect.base)
        task = state.tasks[effect.task].spec if effect.task else None
        setting = replace(self._setting, lane=max(0, effect.lane), mounts=self._workspace.mounts)
        if effect.purpose == "baseline":
            measured = await measure_baseline(
                base=effect.tree,
                specs=self._specs,
                trees=self._trees,
                spawner=self._spawner,
                setting=setting,
                clock=self._now,
                progress=self._publish,
                effect=effect.id,
                redact=self._redact,
            )
            results = tuple(
                check_result(spec, found)
                for spec in self._specs
                if (found := measured.measurements.get(spec.name)) is not None
            )
            return _fact(effect, results, (), "")
        specs = (*self._specs, *verify_specs(task, effect.timeout))
        judged = await self._judge(effect, base, specs, setting, task)
        return _fact(effect, judged.results, judged.findings, judged.evidence)

    async def _judge(
        self,
        effect: RunChecks,
        base: str,
        specs: Sequence[CheckSpec],
        setting: Setting,
        task: TaskSpec | None,
    ) -> Judged:
        return await judge(
            tree=effect.tree,
            base=base,
            specs=specs,
            trees=self._trees,
            spawner=self._spawner,
            setting=setting,
            clock=self._now,
            task=task,
            held_out=self._held_out,
            completion=True,
            purpose=effect.purpose,
            progress=self._publish,
            effect=effect.id,
            redact=self._redact,
        )


def verify_specs(task: TaskSpec | None, timeout: float) -> tuple[CheckSpec, ...]:
    """A task's own verify commands, as checks that must pass outright."""
    if task is None:
        return ()
    return tuple(
        adopt(command, name=f"verify-{number}", strict=True, timeout=timeout)
        for number, command in enumerate(task.verify, 1)
    )


def _fact(
    effect: RunChecks, results: tuple[CheckResult, ...], findings: tuple[Finding, ...], evidence: str
) -> ev.ChecksFinished:
    return ev.ChecksFinished(
        id=effect.id,
        task=effect.task,
        tree=effect.tree,
        base=effect.base,
        purpose=effect.purpose,
        results=results,
        findings=findings,
        evidence=evidence,
        iteration=effect.iteration,
    )
