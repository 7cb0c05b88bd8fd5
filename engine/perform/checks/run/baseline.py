"""R0, the baseline: every check measured once on the base, with what it read; kept on disk check by check.

What was measured of a tree that becomes the next base is kept the same way, so that a sprint measures no tree twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from engine import files
from engine.core.model import Struct
from engine.globs import matches
from engine.perform.checks.proof.check_result import usable
from engine.perform.checks.run import room, trace
from engine.perform.checks.run.execute import Ask, Tools, run_checks
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.moving_names import ids_of, learn, masks_of, may_move, remember, settle
from engine.perform.checks.run.room_key import room_key
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.run.trees import Trees

KEPT = 200
"""Measurements on disk: the newest. Every base of every sprint has its own, and old ones are never asked for."""
ATIME = "atime"
GLOBS = "globs"


class Baseline(Struct, frozen=True, kw_only=True):
    """What the checks say of the base, by check name."""

    base: str
    measurements: dict[str, Measurement]

    def of(self, spec: CheckSpec) -> Measurement | None:
        return self.measurements.get(spec.name)


async def steady(
    trees: Trees, base: str, spec: CheckSpec, tools: Tools, r0: Measurement, other: Measurement
) -> tuple[Measurement, Measurement]:
    """Both runs under names that stay. Where names look as if they moved the base is run once more, and only what
    moves there, on one and the same tree, is taken for moving."""
    if not may_move(r0.report, other.report):
        return r0, other
    again = (await measure(trees, base, [spec], tools, again=True)).of(spec)
    masks = learn(ids_of(r0.report), ids_of(again.report)) if again is not None and again.report.complete else ()
    if masks:
        await asyncio.to_thread(remember, tools.setting.scratch, spec.name, masks)
    return settle(r0, masks), settle(other, masks)


async def measure(
    trees: Trees,
    base: str,
    specs: Sequence[CheckSpec],
    tools: Tools,
    helpers: tuple[str, ...] = (),
    again: bool = False,
) -> Baseline:
    """From disk what was measured before, the rest now. A check that did not come to its end is not kept.

    `again`: all of it now, in the same order, for the history of flaky tests; nothing is read from disk or kept.
    """
    known = {} if again else {s.name: found for s in specs if (found := kept(tools, base, s)) is not None}
    missing = [spec for spec in specs if spec.name not in known]
    if missing:
        folder = tools.setting.scratch / f"room-{tools.setting.lane}-base"
        for group in alone(missing):
            measured = await traced(trees, base, folder, group, tools, Ask(helpers=helpers, tree=base))
            if not again:
                await asyncio.to_thread(keep, tools, base, group, measured)
            known |= {one.check: one for one in measured}
    return Baseline(base=base, measurements=known)


def alone(specs: Sequence[CheckSpec]) -> list[list[CheckSpec]]:
    """Groups whose reads are told apart: each check that runs tests by itself, the others (linters) together."""
    tests = [[spec] for spec in specs if spec.runner or spec.kind in ("tests", "build", "own")]
    others = [spec for spec in specs if [spec] not in tests]
    return [*tests, *([others] if others else [])]


async def traced(
    trees: Trees,
    tree: str,
    folder: Path,
    specs: Sequence[CheckSpec],
    tools: Tools,
    ask: Ask,
    watched: Iterable[str] | None = None,
    inherited: frozenset[str] = frozenset(),
) -> list[Measurement]:
    """Fill the room, run, and note on each measurement what was read.

    `watched`: only these files are looked at (the rest of a large tree is not touched); `inherited` are files outside
    of them that are known to be read.
    """
    await room.enter(trees, tree, folder)
    names = await asyncio.to_thread(trees.files, tree)
    works = await asyncio.to_thread(trace.works_in, tools.setting.scratch)
    chosen = names if watched is None else sorted(frozenset(watched) & frozenset(names))
    armed = await asyncio.to_thread(trace.arm, folder, chosen) if works else ()
    measured = await run_checks(tools, specs, folder, ask)
    if works:
        reads = await asyncio.to_thread(trace.read_since, folder, armed)
        seen, how = tuple(sorted({*reads, *(inherited - frozenset(armed))})), ATIME
    else:
        seen, how = tuple(name for name in names if matches(name, tools.setting.policy.test_globs)), GLOBS
    wrote = tuple(await room.written(trees, tree, folder))
    return [msgspec.structs.replace(one, reads=seen, traced=how, wrote=wrote) for one in measured]


def keep(tools: Tools, tree: str, specs: Iterable[CheckSpec], measured: Iterable[Measurement]) -> None:
    for spec, one in zip(specs, measured, strict=True):
        if usable(one) is not None:
            _write(_path(tools, tree, spec), msgspec.json.encode(one))


def kept(tools: Tools, tree: str, spec: CheckSpec) -> Measurement | None:
    """What is on disk of a tree, under the names that are known to stay."""
    found = _read(_path(tools, tree, spec))
    return None if found is None else settle(found, masks_of(tools.setting.scratch, spec.name))


def _path(tools: Tools, tree: str, spec: CheckSpec) -> Path:
    name = room_key(tools.setting, tools.spawner.mode, tree, spec, "R0")
    return tools.setting.scratch / "baselines" / f"{name}.json"


def _read(path: Path) -> Measurement | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Measurement)
    except (OSError, msgspec.DecodeError):
        return None


def _write(path: Path, data: bytes) -> None:
    files.private_folder(path.parent)
    files.write(path, data, durable=False)
    with os.scandir(path.parent) as entries:
        found = [entry for entry in entries if entry.name.endswith(".json")]
    if len(found) > KEPT:
        with contextlib.suppress(FileNotFoundError):  # another lane does the same
            for old in sorted(found, key=lambda entry: entry.stat().st_mtime)[: len(found) - KEPT // 2]:
                Path(old).unlink()
