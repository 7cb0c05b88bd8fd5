"""The baseline: every check measured once on the base, kept on disk check by check.

What was measured of a tree that becomes the next base is kept the same way, so that a sprint measures no tree twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from engine.core.model import Struct
from engine.perform.checks import room
from engine.perform.checks.measure import Measurement
from engine.perform.checks.run import Tools, run_checks
from engine.perform.checks.spec import CheckSpec
from engine.perform.checks.trees import Trees
from engine.perform.checks.verdict import usable

FORMAT = 1


class Baseline(Struct, frozen=True, kw_only=True):
    """What the checks say of the base, by check name."""

    base: str
    measurements: dict[str, Measurement]

    def of(self, spec: CheckSpec) -> Measurement | None:
        return self.measurements.get(spec.name)


async def measure(trees: Trees, base: str, specs: Sequence[CheckSpec], tools: Tools) -> Baseline:
    """From disk what was measured before, the rest now. A check that did not come to its end is not kept."""
    wanted = [spec for spec in specs if not (spec.strict and spec.parser == "exit")]  # nothing of those is ever excused
    known = {spec.name: found for spec in wanted if (found := _read(_path(tools, base, spec))) is not None}
    missing = [spec for spec in wanted if spec.name not in known]
    if missing:
        folder = tools.setting.scratch / f"room-{tools.setting.lane}-base"
        await room.enter(trees, base, folder)
        measured = await run_checks(tools, missing, folder)
        await asyncio.to_thread(keep, tools, base, missing, measured)
        known |= {one.check: one for one in measured}
    return Baseline(base=base, measurements=known)


def keep(tools: Tools, tree: str, specs: Iterable[CheckSpec], measured: Iterable[Measurement]) -> None:
    for spec, one in zip(specs, measured, strict=True):
        if usable(one) is not None:
            _write(_path(tools, tree, spec), msgspec.json.encode(one))


def _path(tools: Tools, tree: str, spec: CheckSpec) -> Path:
    """Named by everything the measurement depends on: the tree, the check, its environment, the sandbox."""
    told = [FORMAT, tree, spec, sorted(tools.setting.env.items()), tools.spawner.mode]
    name = hashlib.sha256(msgspec.json.encode(told)).hexdigest()
    return tools.setting.scratch / "baselines" / f"{name}.json"


def _read(path: Path) -> Measurement | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Measurement)
    except (OSError, msgspec.DecodeError):
        return None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
