"""The runs R0 to R4 on one change, each in a room of its own; what they saw, check by check. No judgement here."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from engine.core.model import CheckKind, Struct
from engine.perform.checks.proof.change import Change
from engine.perform.checks.run import room
from engine.perform.checks.run.baseline import Baseline, alone, keep, steady, traced
from engine.perform.checks.run.execute import Ask, Tools, run_check, run_checks
from engine.perform.checks.run.measure import Measurement, Report
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.sitting import Job, sit
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.run.trees import Trees

KILLED = (-9, 137)
"""Exit codes of a process that somebody ended; what ends itself so does it again."""
MOST_PROCESSES = 12
"""More files than this share processes in R2 and R3."""
PATIENCE, LEAST_PATIENCE = 12.0, 4.0
"""Times its longest run that a check may take over code that we altered, which may never end; least seconds."""


class Ahead(Struct, frozen=True, kw_only=True):
    """A run that will be asked for, if nothing objects until then: one process for all of its files."""

    tree: str
    files: tuple[str, ...]
    ask: Ask


class Run(Struct, frozen=True, kw_only=True):
    """One run for the record: which room, which tree, what was measured."""

    name: str
    measured: Measurement


class Trial:
    """A change in its rooms. Each method performs one kind of run and remembers it."""

    def __init__(
        self, trees: Trees, tools: Tools, change: Change, specs: Sequence[CheckSpec], reference: Baseline
    ) -> None:
        self.trees = trees
        self.tools = tools
        self.change = change
        self.specs = tuple(specs)
        self.reference = reference
        self.runs: list[Run] = [
            Run(name="R0", measured=one) for spec in specs if (one := reference.of(spec)) is not None
        ]
        self.notes: list[str] = []
        """What could not be tried, for the evidence."""
        self.near: dict[str, tuple[str, ...]] = {}
        """Tests whose neighbours were tried on the base together with R3, by file."""
        self._done: dict[tuple[str, bytes], Measurement] = {}
        """What was measured ahead of being asked for."""
        self.known: dict[str, Report] = {
            name: one.report for name, one in reference.measurements.items() if one.report.complete
        }

    # ── whole runs ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def r1(self, specs: Sequence[CheckSpec]) -> dict[str, Measurement]:
        """The base's oracle over the candidate's subject. Nothing to run where the subject is the base's."""
        rooms = self.change.rooms
        if rooms.r1 == rooms.base:
            found = {spec.name: one for spec in specs if (one := self.reference.of(spec)) is not None}
            missing = [spec for spec in specs if spec.name not in found]
            return found | (await self._whole("R1", rooms.r1, missing) if missing else {})
        return await self._whole("R1", rooms.r1, specs)

    async def r4(self, specs: Sequence[CheckSpec], r1: dict[str, Measurement]) -> dict[str, Measurement]:
        """The candidate whole; where R1's tree is that one, R1 was it."""
        rooms = self.change.rooms
        if rooms.r4 == rooms.r1:
            return r1
        return await self._whole("R4", rooms.r4, specs)

    async def _whole(self, name: str, tree: str, specs: Sequence[CheckSpec]) -> dict[str, Measurement]:
        last = tree == self.change.rooms.r4
        ask = Ask(known=self.known, own_settings=name == "R4", helpers=self.change.helpers, tree=tree)
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-{name.lower()}"
        reads = self.change.ground.reads
        watched = {*self.change.oracle_reads, *(one.path for one in self.change.owned)}
        found: dict[str, Measurement] = {}
        for group in alone(specs):
            measured = await traced(self.trees, tree, folder, group, self.tools, ask, watched, reads)
            if any(one.exit_code in KILLED for one in measured):  # by the machine, perhaps: it runs out of memory
                self.runs += [Run(name=f"{name} (killed)", measured=one) for one in measured]
                measured = await traced(self.trees, tree, folder, group, self.tools, ask, watched, reads)
            found |= {one.check: one for one in measured}
            if last:  # it may become the next base
                await asyncio.to_thread(keep, self.tools, tree, group, measured)
        self.runs += [Run(name=name, measured=one) for one in found.values()]
        return found

    async def steady(self, runs: dict[str, Measurement]) -> dict[str, Measurement]:
        """The runs under names that stay; what is known of the base with them, where it turned out to move."""
        found = dict(runs)
        for spec in self.specs:
            r0, run = self.reference.of(spec), runs.get(spec.name)
            if r0 is None or run is None or run is r0:
                continue
            base = self.change.rooms.base
            now, found[spec.name] = await steady(self.trees, base, spec, self.tools, r0, run)
            if now is not r0:
                self.reference = replace(self.reference, measurements={**self.reference.measurements, spec.name: now})
                self.known[spec.name] = now.report
        return found

    # ── chosen files ────────────────────────────────────────────────────────────────────────────────────────────────

    def files_for(self, spec: CheckSpec, wanted: Iterable[str]) -> tuple[str, ...]:
        """Those of the files that this check would run: each file is run by one check only."""
        inside = f"{spec.folder}/" if spec.folder else ""
        words = [inside + word.removeprefix("./") for word in spec.command[1:] if not word.startswith("-")]
        known = self.known.get(spec.name)
        tested = frozenset(case.path for case in known.cases) if known is not None else frozenset()
        places = places_of(words, self.change.ground.files, tested)
        mine = []
        for path in wanted:
            if not _may_run(spec, path):
                continue
            able = [one for one in self.specs if not one.strict and _may_run(one, path)]
            taken = max(able, key=lambda one: len(one.folder), default=spec)  # of several the first
            under = any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)
            if under or (not places and taken.name == spec.name) or spec.strict:
                mine.append(path)
        return tuple(mine)

    async def files(
        self,
        name: str,
        tree: str,
        spec: CheckSpec,
        files: Sequence[str],
        ask: Ask | None = None,
        *,
        together: bool = False,
    ) -> list[Measurement]:
        """Each file in a process of its own, in a room filled anew: what one leaves behind the next does not find.

        `together`: all in one, as the check itself runs them.
        """
        wanted = self._bounded(spec, tree, ask or Ask(known=self.known, helpers=self.change.helpers))
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-{'home' if wanted.disguise else 'part'}"
        size = len(files) if together else -(-len(files) // MOST_PROCESSES)
        found = []
        for start in range(0, len(files), size or 1):
            part = replace(wanted, files=tuple(files[start : start + size]), tree=tree)
            done = self._done.pop(_key(spec, part), None)
            if done is None:
                await room.enter(self.trees, tree, folder)
                if wanted.disguise:
                    await room.live_in(folder)
                done = await run_check(self.tools, spec, folder, part)
            found.append(done)
        self.runs += [Run(name=name, measured=one) for one in found]
        return found

    def known_already(self, spec: CheckSpec, run: Ahead) -> bool:
        return _key(spec, replace(run.ask, files=run.files, tree=run.tree)) in self._done

    def _bounded(self, spec: CheckSpec, tree: str, ask: Ask) -> Ask:
        """The check's own time for the trees of the change; for altered ones a multiple of what it needed so far."""
        rooms = self.change.rooms
        if ask.timeout or tree in (rooms.base, rooms.r1, rooms.r2, rooms.r3, rooms.r4):
            return ask
        longest = max((run.measured.seconds for run in self.runs if run.measured.check == spec.name), default=0.0)
        return replace(ask, timeout=min(spec.timeout, max(LEAST_PATIENCE, PATIENCE * longest)))

    def on_base(self, *, disguise: bool = False) -> Ask:
        """R3: only whether it is red there, and how."""
        return Ask(known=self.known, helpers=self.change.helpers, canaries=False, brief=True, disguise=disguise)

    async def ahead(self, spec: CheckSpec, runs: Sequence[Ahead]) -> None:
        """Runs that `files` will be asked for, in one sitting: see run/sitting for their order.

        All of them are over trees that differ little: the room is filled with the first and brought to the next.
        """
        wanted = [run for run in runs if run.files]
        if len(wanted) < 2 or spec.build or not runner_of(spec).loads:
            return
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-home"
        jobs: list[Job] = []
        before = wanted[0].tree
        for run in wanted:
            put = await asyncio.to_thread(self._differences, before, run.tree) if run.tree != before else {}
            if put is None:
                return
            if jobs and run.ask.disguise != jobs[-1].ask.disguise:
                put |= {path: text.encode() if run.ask.disguise else None for path, text in room.LIVED_IN.items()}
            asked = self._bounded(spec, run.tree, run.ask)
            jobs.append(Job(ask=replace(asked, files=run.files, tree=run.tree), put=put))
            before = run.tree
        await room.enter(self.trees, wanted[0].tree, folder)
        if wanted[0].ask.disguise:
            await room.live_in(folder)
        for job, measured in zip(jobs, await sit(self.tools, spec, folder, jobs), strict=True):
            if measured is not None:
                self._done[_key(spec, job.ask)] = measured

    def _differences(self, before: str, after: str) -> dict[str, bytes | None] | None:
        """What makes the one tree the other, where plain files are enough for that."""
        paths = [one.path for one in self.trees.diff_files(before, after)]
        there = self.trees.contents(after, paths)
        gone = frozenset(paths) - frozenset(self.trees.files(after))
        if len(there) + len(gone) != len(paths):
            return None
        return {path: there.get(path) for path in paths}

    async def leavings(self, spec: CheckSpec, tree: str, files: Sequence[str]) -> list[str]:
        """What a run of these test files (none: of the whole check) leaves in its room beside the tree."""
        ask = self.on_base()
        run = replace(ask, files=tuple(files), tree=tree) if files else replace(ask, tree=tree)
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-part"
        await room.enter(self.trees, tree, folder)
        self.runs.append(Run(name="leavings", measured=await run_check(self.tools, spec, folder, run)))
        return await asyncio.to_thread(room.beside, folder, frozenset(self.trees.files(tree)))

    async def whole(
        self, name: str, tree: str, specs: Sequence[CheckSpec], *, disguise: bool = False
    ) -> list[Measurement]:
        """Checks that cannot be run in part, and the task's own commands."""
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-{'home' if disguise else 'part'}"
        found = []
        for spec in specs:
            await room.enter(self.trees, tree, folder)
            if disguise:
                await room.live_in(folder)
            ask = Ask(known=self.known, helpers=self.change.helpers, tree=tree, disguise=disguise)
            found += await run_checks(self.tools, [spec], folder, ask)
        self.runs += [Run(name=name, measured=one) for one in found]
        return found


def _key(spec: CheckSpec, ask: Ask) -> tuple[str, bytes]:
    """Tree, files and everything else that is asked; what is known of the base is the same for all of them."""
    return spec.name, msgspec.json.encode(replace(ask, known={}, timeout=0.0))


def _may_run(spec: CheckSpec, path: str) -> bool:
    """A file of the check's own package, and one that its runner can run."""
    return path.endswith(runner_of(spec).suffixes) and path.startswith(f"{spec.folder}/" if spec.folder else "")


def places_of(words: Iterable[str], files: Collection[str], tested: Collection[str]) -> list[str]:
    """Words of a command that select tests: paths of the tree under which the base's run had some.

    A file that is only read or left out (`manage.py`, `--ignore benchmark.py`, `--require hooks.js`) selects none.
    """
    looked_in = [path for path in tested if path] or files
    bare = [word.partition("::")[0].rstrip("/").removeprefix("./") for word in words]
    return [
        place for place in bare if place and any(path == place or path.startswith(f"{place}/") for path in looked_in)
    ]


def tests_of(specs: Sequence[CheckSpec]) -> list[CheckSpec]:
    """Checks that can show something: tests, and commands of the user's own."""
    return [spec for spec in specs if spec.kind in (CheckKind.TESTS, CheckKind.OWN, CheckKind.BUILD)]


def findings_of(specs: Sequence[CheckSpec]) -> list[CheckSpec]:
    return [spec for spec in specs if spec not in tests_of(specs)]
