"""The checks in a copy of the user's checkout and in a clone as lanes get it, so that the two can be compared.

Nothing of the user's is written, no agent is called. What passed in the checkout is recorded, so that a run can hold
its baseline against it without running everything twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine import files
from engine.core.activity import CheckProgress
from engine.core.model import Struct
from engine.perform.checks.run.comparison import ABSENT, Difference, differences, works
from engine.perform.checks.run.execute import Tools, run_checks
from engine.perform.checks.run.measure import PASSED, Measurement
from engine.perform.checks.run.moving_names import (
    Mask,
    ids_of,
    learn,
    masks_of,
    names_that_stay,
    numbered_otherwise,
    remember,
)
from engine.perform.checks.run.room_key import room_key
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.process.spawning import Mount, Spawner
from engine.perform.workspace.checkout_copy import Copied, arm, read_files
from engine.perform.workspace.workspace import Workspace


class Known(Struct, frozen=True, kw_only=True):
    """What a check said in the user's checkout."""

    tree: str
    passed: tuple[str, ...] = ()
    works: bool = True


class Rehearsal:
    """One checkout, its copy and its clone. Measurements are taken in order, each check on its own."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        spawner: Spawner,
        setting: Setting,
        now: Callable[[], float],
        progress: Callable[[CheckProgress], None] | None = None,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.workspace = workspace
        self._spawner = spawner
        self._setting = setting
        self._now = now
        self._progress = progress
        self._redact = redact
        self._copied: Copied | None = None
        self.tree = ""
        self.reads: dict[str, frozenset[str]] = {}
        """By check: the files of the copy that it read; empty where access times do not move."""

    @property
    def home(self) -> Path:
        """The user's, of which checks see little."""
        return Path(self._setting.env.get("HOME", "/"))

    async def in_checkout(self, specs: Sequence[CheckSpec]) -> list[Measurement]:
        """In a copy with everything that lies there, with its .git and with the network: as the user would run them."""
        if self._copied is None:
            self._copied = await asyncio.to_thread(self.workspace.copy_checkout, self._setting.scratch / "as-checkout")
        dot_git = self.workspace.checkout / ".git"
        mounts = self.workspace.mounts
        if dot_git.is_dir():
            mounts = (*mounts, Mount(source=dot_git, dest=dot_git))
        tools = self._tools(mounts)
        measured = []
        for spec in specs:
            await asyncio.to_thread(arm, self._copied)
            # No byte-code of an earlier check may stand in for a source: what is not read is not seen to be needed.
            own = replace(spec, network=True, env={**spec.env, "PYTHONDONTWRITEBYTECODE": "1"})
            measured += await run_checks(tools, [own], self._copied.folder)
            self.reads[spec.name] = await asyncio.to_thread(read_files, self._copied)
        return measured

    def leave(self) -> None:
        """Nothing of the user's checkout stays behind: the copy has their .env and whatever else git does not know."""
        self._copied = None
        self.workspace.store.grave.discard(self._setting.scratch / "as-checkout")

    async def in_clone(self, specs: Sequence[CheckSpec]) -> list[Measurement]:
        """In a room as every clone is: the tree, what is copied, what is carried."""
        self.tree = await asyncio.to_thread(self.workspace.user_tree)
        folder = self._setting.scratch / "as-clone"
        await asyncio.to_thread(self.workspace.export, self.tree, folder)
        return await run_checks(self._tools(self.workspace.mounts), specs, folder)

    def only_here(self) -> frozenset[str]:
        """Files that the checks read in the checkout and that no clone has."""
        if self._copied is None:
            return frozenset()
        tracked = set(self.workspace.files(self.workspace.user_tree()))
        read = frozenset(path for paths in self.reads.values() for path in paths)
        return frozenset(path for path in read - tracked if not path.endswith((".pyc", ".pyo", ".swp")))

    def known(self, spec: CheckSpec) -> Known | None:
        return recorded(self._setting, self._spawner.mode, spec)

    def learn_names(self, spec: CheckSpec, one: Measurement, other: Measurement) -> tuple[Mask, ...]:
        """What moves in the names of tests between two runs of one tree; known from now on."""
        if masks := learn(ids_of(one.report), ids_of(other.report)):
            self.remember(spec, masks)
        return masks

    def learn_numbers(self, spec: CheckSpec, here: Measurement, there: Measurement) -> tuple[Mask, ...]:
        """What is numbered otherwise in the clone than in the checkout, where nothing else differs."""
        passed = [case.id for case in here.report.cases if case.outcome == PASSED]
        if masks := _numbered_otherwise(passed, there, differences(spec, here, there)):
            self.remember(spec, masks)
        return masks

    def remember(self, spec: CheckSpec, masks: Sequence[Mask]) -> None:
        remember(self._setting.scratch, spec.name, masks)

    def record(self, spec: CheckSpec, here: Measurement) -> None:
        passed = tuple(case.id for case in here.report.cases if case.outcome == PASSED)
        known = Known(tree=self.tree, passed=passed, works=not works(spec, here))
        path = _path(self._setting, self._spawner.mode, spec)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write(path, msgspec.json.encode(known), durable=False)

    def _tools(self, mounts: tuple[Mount, ...]) -> Tools:
        setting = replace(self._setting, mounts=mounts)
        return Tools(self._spawner, setting, self._now, self._progress, redact=self._redact)


async def only_in_clone(rehearsal: Rehearsal, spec: CheckSpec, there: Measurement) -> tuple[Difference, ...]:
    """Hold a baseline against what is known of the checkout; where nothing is known, or too little, look there once."""
    known = rehearsal.known(spec)
    if known is not None and suffices(known, there, await asyncio.to_thread(rehearsal.workspace.user_tree)):
        differing = against(known, spec, there)
        if masks := _numbered_otherwise(known.passed, there, differing):
            rehearsal.remember(spec, masks)
            return ()
        return differing
    (here,) = await rehearsal.in_checkout([spec])
    rehearsal.tree = await asyncio.to_thread(rehearsal.workspace.user_tree)
    rehearsal.record(spec, here)
    return () if rehearsal.learn_numbers(spec, here, there) else differences(spec, here, there)


def _numbered_otherwise(passed: Sequence[str], there: Measurement, differing: Sequence[Difference]) -> tuple[Mask, ...]:
    if not differing or any(one.clone != ABSENT for one in differing):
        return ()
    return numbered_otherwise(passed, [case.id for case in there.report.cases if case.outcome == PASSED])


def suffices(known: Known, there: Measurement, tree: str) -> bool:
    """Recorded of the same files; or every test that passed then passes in the clone too."""
    passed = {case.id for case in there.report.cases if case.outcome == PASSED}
    return known.tree == tree or (known.works and bool(known.passed) and passed.issuperset(known.passed))


def against(known: Known, spec: CheckSpec, there: Measurement) -> tuple[Difference, ...]:
    if not known.works:
        return ()
    outcomes = {case.id: case for case in there.report.cases}
    found = []
    for id in known.passed:
        case = outcomes.get(id)
        if case is None or case.outcome != PASSED:
            text = case.text if case else ""
            found.append(Difference(check=spec.name, id=id, clone=case.outcome if case else ABSENT, text=text))
    return tuple(found)


def recorded(setting: Setting, mode: str, spec: CheckSpec) -> Known | None:
    try:
        known = msgspec.json.decode(_path(setting, mode, spec).read_bytes(), type=Known)
    except (OSError, msgspec.DecodeError):
        return None
    return replace(known, passed=tuple(names_that_stay(known.passed, masks_of(setting.scratch, spec.name))))


def _path(setting: Setting, mode: str, spec: CheckSpec) -> Path:
    """Whatever shapes a clone does not shape the checkout: only the check, its environment and its tool."""
    bare = replace(setting, shape="")
    return setting.scratch / "checkout" / f"{room_key(bare, mode, '', replace(spec, timeout=0.0, network=False))}.json"
