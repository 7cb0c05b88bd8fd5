"""`devteam drill`: faults played against a scratch copy of this repository. Nothing of the user's is written."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from engine.drills.drill import Drill, Played, held
from engine.drills.registry import DRILLS
from engine.drills.scene import Scene
from engine.link.user_errors import UserError, as_user_error
from engine.service.local import Desk

__all__ = ["Played", "chosen", "drill", "listed"]

LONGEST = 300.0
"""Seconds for one drill; what takes longer hangs."""


def listed() -> list[tuple[str, str]]:
    """Name and what goes wrong, of every drill."""
    return [(drill.name, drill.goes_wrong) for drill in DRILLS.values()]


def chosen(name: str) -> list[Drill]:
    if name == "all":
        return list(DRILLS.values())
    if name not in DRILLS:
        raise UserError(f"there is no drill “{name}”", f"one of: all, {', '.join(DRILLS)}")
    return [DRILLS[name]]


def drill(desk: Desk, name: str, *, no_sandbox: bool) -> Iterator[Played]:
    """One after another, each in a copy of its own."""
    for one in chosen(name):
        with tempfile.TemporaryDirectory(prefix="devteam-drill-", ignore_cleanup_errors=True) as place:
            yield asyncio.run(_play(one, desk, Path(place), no_sandbox))


async def _play(one: Drill, desk: Desk, place: Path, no_sandbox: bool) -> Played:
    began, project = time.monotonic(), desk.project
    scene: Scene | None = None
    try:
        scene = Scene(place, project.root, project.config(), project.env, no_sandbox=no_sandbox)
        async with asyncio.timeout(LONGEST):
            found = await one.play(scene)
    except TimeoutError:
        found = [held("it comes to an end", False, f"not within {LONGEST:g} s")]
    except Exception as error:  # boundary: whatever a drill meets is its result, unless it could not be played at all
        told = as_user_error(error)
        if told is not None and (scene is None or not scene.facts):
            raise
        found = [held("the engine goes on", False, f"{type(error).__name__}: {error}")]
    return Played(
        drill=one.name,
        goes_wrong=one.goes_wrong,
        held=tuple(found),
        happened=tuple(scene.happened) if scene is not None else (),
        seconds=round(time.monotonic() - began, 2),
        skipped=round(scene.clock.skipped if scene is not None else 0.0, 1),
    )
