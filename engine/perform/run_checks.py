"""RunChecks from effect to fact: the checks room judges a tree, the workspace room gives it trees."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.activity import AnyActivity
from engine.core.effects import AnyEffect, RunChecks
from engine.core.model import CheckResult, FileChange, Finding, Proof, ProofVerdict, Question, TaskSpec, Verdict
from engine.core.state import State
from engine.perform.checks.presets.dependencies import declared
from engine.perform.checks.presets.package import Package
from engine.perform.checks.proof.check_result import check_result, tool_missing
from engine.perform.checks.proof.flaky import flips_on_base
from engine.perform.checks.proof.judge import Judged, judge, judge_whole, measure_baseline
from engine.perform.checks.run.baseline import Baseline, measure
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.comparison import telling
from engine.perform.checks.run.execute import Tools
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.moving_names import masks_of, settle
from engine.perform.checks.run.packages import needed
from engine.perform.checks.run.spec import CheckSpec, HeldOut, Setting
from engine.perform.checks.run.uncollectable import not_installed, unfetched
from engine.perform.process.spawning import Spawner
from engine.perform.rehearsal import Rehearsal, only_in_clone
from engine.perform.workspace import git_service, trees
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import GitError
from engine.perform.workspace.workspace import Workspace

MANY = 100
"""Files asked for at once that are remembered for the next tree,"""
KEPT_BYTES = 32_000_000
"""while they are not larger than this."""


class RoomTrees:
    """The workspace's trees, as the checks room wants them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._last: tuple[str, Mapping[str, bytes]] | None = None
        """The files of a tree that were read when many were asked for: the next tree differs in few of them."""

    def export(self, tree: str, dest: Path) -> None:
        self._workspace.export(tree, dest)

    def overlay(self, tree: str, paths: Sequence[str], from_tree: str) -> str:
        wanted = [os.fsencode(path) for path in paths]
        return trees.overlay(self._store.git, tree, from_tree, wanted)

    def show(self, tree: str, path: str) -> bytes | None:
        try:
            return trees.show(self._store.git, tree, path)
        except (GitError, WorkspaceError):
            return None

    def contents(self, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        if len(paths) < MANY:
            return self._read(tree, paths)
        last, known = self._last or (tree, {})
        changed = {trees.fs_path(change.path) for change in trees.diff(self._store.git, last, tree, lines=False)}
        kept = {path: known[path] for path in paths if path in known and path not in changed}
        read = self._read(tree, [path for path in paths if path not in kept])
        both = {**kept, **read}
        found = {path: both[path] for path in paths if path in both} if read else kept
        self._last = (tree, found) if sum(map(len, found.values())) <= KEPT_BYTES else None
        return found

    def _read(self, tree: str, paths: Iterable[str]) -> Mapping[str, bytes]:
        entries = trees.entries(self._store.git, tree)
        wanted = {path: entries.get(os.fsencode(path)) for path in paths}
        plain = {path: entry for path, entry in wanted.items() if entry is not None and entry[0][:3] == b"100"}
        found = trees.blobs(self._store.git, (oid for _, oid in plain.values()))
        return {path: found[oid] for path, (_, oid) in plain.items()}

    def edit(self, tree: str, files: Mapping[str, bytes | None]) -> str:
        git = self._store.git
        entries = trees.entries(git, tree)
        changes: dict[bytes, tuple[bytes, bytes] | None] = {}
        for path, data in files.items():
            name = os.fsencode(path)
            if data is None:
                changes[name] = None
                continue
            mode = entries[name][0] if name in entries else b"100644"
            changes[name] = (mode, git_service.write_object(git, data, self._store.scratch))
        return trees.edit(git, tree, changes)

    def files(self, tree: str) -> Sequence[str]:
        return trees.names(self._store.git, tree)

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
        shape = await asyncio.to_thread(self._workspace.shape)
        setting = replace(self._setting, lane=max(0, effect.lane), mounts=self._workspace.mounts, shape=shape)
        match effect.purpose:
            case "baseline":
                return await self._baseline(effect, setting)
            case "task":
                touched = await asyncio.to_thread(self._workspace.changed_files, base, effect.tree)
                chosen = needed(self._specs, [one.path for one in touched])
                specs = (*chosen, *verify_specs(task, effect.timeout))
            case "final":
                specs = (*self._specs, *verify_specs(task, effect.timeout))
                if not any(spec.required for spec in specs):
                    specs = (*specs, *whole_specs(state, effect.timeout))
            case _:
                assert_never(effect.purpose)
        judged = await self._judge(effect, base, specs, setting, task)
        results = judged.results
        if effect.task and state.tasks[effect.task].check_errors:  # it erred before: whose fault is it?
            results = await self._held_against_base(base, specs, setting, results)
        return _fact(
            effect,
            results,
            judged.findings,
            judged.evidence,
            proof=judged.proof,
            proof_reason=judged.reason,
            proofs=judged.proofs,
            questions=judged.questions,
        )

    async def _baseline(self, effect: RunChecks, setting: Setting) -> ev.ChecksFinished:
        measured = await self._measured(effect.id, effect.tree, setting)
        held = [
            await self._held_against_checkout(effect.tree, setting, spec, found)
            for spec in self._specs
            if (found := measured.measurements.get(spec.name)) is not None
        ]
        return _fact(effect, tuple(held), (), "")

    async def _held_against_base(
        self, base: str, specs: Sequence[CheckSpec], setting: Setting, results: tuple[CheckResult, ...]
    ) -> tuple[CheckResult, ...]:
        """What erred on the change is run on the base as it is now: what errs there too is not the change's fault."""
        erred = {one.name for one in results if one.required and one.verdict is Verdict.ERROR and not one.missing}
        again = [spec for spec in specs if spec.name in erred]
        if not again:
            return results
        tools = Tools(self._spawner, setting, self._now, self._publish, redact=self._redact)
        now = (await measure(self._trees, base, again, tools, again=True)).measurements
        alike = {spec.name for spec in again if check_result(spec, now[spec.name]).verdict is Verdict.ERROR}
        return tuple(
            replace(one, missing=True, reason=f"{one.reason} (on the base too, just now)") if one.name in alike else one
            for one in results
        )

    async def baseline(self, effect: AnyEffect, tree: str) -> tuple[CheckResult, ...]:
        """Every check outright on a tree of the sprint's own."""
        shape = await asyncio.to_thread(self._workspace.shape)
        setting = replace(self._setting, lane=0, mounts=self._workspace.mounts, shape=shape)
        measured = await self._measured(effect.id, tree, setting)
        return tuple(
            check_result(spec, found)
            for spec in self._specs
            if (found := measured.measurements.get(spec.name)) is not None
        )

    async def _measured(self, effect: str, tree: str, setting: Setting) -> Baseline:
        return await measure_baseline(
            base=tree,
            specs=self._specs,
            trees=self._trees,
            spawner=self._spawner,
            setting=setting,
            clock=self._now,
            progress=self._publish,
            effect=effect,
            redact=self._redact,
        )

    async def _held_against_checkout(
        self, tree: str, setting: Setting, spec: CheckSpec, there: Measurement
    ) -> CheckResult:
        """A baseline's result, with what is red here and green in the user's checkout.

        Only while the base is what the checkout holds: later commits of the sprint are not in it.
        """
        result = check_result(spec, there)
        hint = _cure(spec, result, there)
        if there.read_nothing and not result.no_tests_yet:
            said = telling(there.output)
            return replace(result, verdict=Verdict.ERROR, reason=f"it read no file of the tree: {said}", hint=hint)
        if gone := not_installed(there.report, await asyncio.to_thread(self._declared, spec)):
            file, name = next(iter(gone.items()))
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            words = f"{file}{more} cannot be collected: {name} is not installed"
            cure = f"install {name}, or leave the file out with: devteam init --force"
            return replace(result, verdict=Verdict.ERROR, reason=words, hint=cure)
        if (wanted := unfetched(there.report, there.output)) is not None and result.verdict is not Verdict.PASS:
            cure = f"{wanted.fetch}   (with the network; checks have none)"
            words = f"nothing could be built: {wanted.what} is not on this machine"
            return replace(result, verdict=Verdict.ERROR, reason=words, hint=cure)
        if not spec.required or not await asyncio.to_thread(self._may_differ, tree, result):
            return replace(result, hint=hint)
        rehearsal = Rehearsal(
            workspace=self._workspace, spawner=self._spawner, setting=setting, now=self._now, redact=self._redact
        )
        try:
            differing = await only_in_clone(rehearsal, spec, there)
            if red := [one.id for one in differing if one.id]:  # in one run of the clone: luck is no difference
                tools = Tools(self._spawner, setting, self._now, self._publish, redact=self._redact)
                flipped = await flips_on_base(self._trees, tree, spec, tools, there, red)
                if masks := masks_of(setting.scratch, spec.name):
                    differing = await only_in_clone(rehearsal, spec, settle(there, masks))
                differing = tuple(one for one in differing if one.id not in flipped)
        finally:
            await asyncio.to_thread(rehearsal.leave)
        names = tuple(one.id or spec.name for one in differing[:50])
        return replace(result, only_in_clone=names, hint=hint)

    def _declared(self, spec: CheckSpec) -> frozenset[str]:
        return declared(Package(self._workspace.checkout, spec.folder, lambda _name: None))

    def _may_differ(self, tree: str, result: CheckResult) -> bool:
        """Green, and nothing lies in the checkout that no clone has: then nobody has to look there."""
        green = result.verdict is Verdict.PASS and not (result.counts and result.counts.broken_before)
        if green and (result.counts is None or not self._workspace.has_more_than_a_clone()):
            return False
        return tree == self._workspace.user_tree()

    async def _judge(
        self,
        effect: RunChecks,
        base: str,
        specs: Sequence[CheckSpec],
        setting: Setting,
        task: TaskSpec | None,
    ) -> Judged:
        judging = judge_whole if effect.purpose != "task" else functools.partial(judge, task=task)
        return await judging(
            tree=effect.tree,
            base=base,
            specs=specs,
            trees=self._trees,
            spawner=self._spawner,
            setting=setting,
            clock=self._now,
            held_out=self._held_out,
            progress=self._publish,
            effect=effect.id,
            redact=self._redact,
        )


def _cure(spec: CheckSpec, result: CheckResult, found: Measurement) -> str:
    """The one line that mends a check which cannot judge anybody; empty: doctor has to look."""
    if result.verdict not in (Verdict.ERROR, Verdict.NOT_RUN):
        return ""
    if tool_missing(spec, found):
        return f"{spec.install or f'install {Path(spec.command[0]).name}'}, then: devteam run"
    if found.ended in ("timeout", "idle"):
        return f'timeout = {spec.timeout * 3:g}   in [[checks.run]] of "{spec.name}"'
    return ""


def verify_specs(task: TaskSpec | None, timeout: float) -> tuple[CheckSpec, ...]:
    """A task's own verify commands, as checks that must pass outright."""
    if task is None:
        return ()
    return tuple(
        adopt(command, name=f"verify-{number}", strict=True, timeout=timeout)
        for number, command in enumerate(task.verify, 1)
    )


def whole_specs(state: State, timeout: float) -> tuple[CheckSpec, ...]:
    """A project without checks of its own: what proved each task has to hold on the finished branch, each line once."""
    lines = {line: task.id for task in state.tasks.values() if task.commit for line in task.spec.verify}
    return tuple(
        adopt(command, name=f"verify-{task}-{number}", strict=True, timeout=timeout)
        for number, (command, task) in enumerate(lines.items(), 1)
    )


def _fact(
    effect: RunChecks,
    results: tuple[CheckResult, ...],
    findings: tuple[Finding, ...],
    evidence: str,
    *,
    proof: ProofVerdict | None = None,
    proof_reason: str = "",
    proofs: tuple[Proof, ...] = (),
    questions: tuple[Question, ...] = (),
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
        proof=proof,
        proof_reason=proof_reason,
        proofs=proofs,
        questions=questions,
    )
