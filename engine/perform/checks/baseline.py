"""The baseline: every check measured once on the base, kept on disk by what it depends on."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
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
    key: str
    measurements: dict[str, Measurement]

    def of(self, spec: CheckSpec) -> Measurement | None:
        return self.measurements.get(spec.name)


def baseline_key(base: str, specs: Sequence[CheckSpec], tools: Tools) -> str:
    parts = msgspec.json.encode([FORMAT, base, list(specs), sorted(tools.setting.env.items()), tools.spawner.mode])
    return hashlib.sha256(parts).hexdigest()


async def measure(trees: Trees, base: str, specs: Sequence[CheckSpec], tools: Tools) -> Baseline:
    """From disk when the same checks were measured on the same base.

    A baseline in which a check did not come to its end is not kept.
    """
    key = baseline_key(base, specs, tools)
    path = tools.setting.scratch / "baselines" / f"{key}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except (OSError, msgspec.DecodeError):
        pass
    folder = base_room(tools)
    await room.enter(trees, base, folder)
    measured = await run_checks(tools, specs, folder)
    baseline = Baseline(base=base, key=key, measurements={one.check: one for one in measured})
    if all(usable(one) is not None for one in measured):
        _write(path, msgspec.json.encode(baseline))
    return baseline


def base_room(tools: Tools) -> Path:
    return tools.setting.scratch / f"room-{tools.setting.lane}-base"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
