"""An agent that never stops printing."""

from __future__ import annotations

import resource
from typing import Any

from engine.core.model import ResultKind
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good, step

MORE_MEMORY = 150_000
"""Kilobytes that this process may grow by."""
LOG_BYTES = 300_000_000


def _short(settings: dict[str, Any]) -> None:
    settings["timeouts"] |= {"implementation": 2.0, "extend": 1.0, "idle": 0.0}


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good() + step(task="1.1", iteration=1, attempt=1, fault="flood"), _short)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    state = await scene.run()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ended = [one for one in scene.results() if one.result.kind is not ResultKind.OK]
    logs = sum(path.stat().st_size for path in scene.project().state.logs.rglob("*.*"))
    return [
        held("it is ended", bool(ended), ", ".join(one.result.error for one in ended)),
        held("memory stays bounded", grown < MORE_MEMORY, f"+{grown / 1000:.0f} MB"),
        held("logs stay bounded", logs < LOG_BYTES, f"{logs / 1e6:.1f} MB"),
        held("the work is done by the next attempt", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="flood", goes_wrong="an agent that never stops printing", play=play)
