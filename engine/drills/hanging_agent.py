"""An agent that says nothing any more and does not end."""

from __future__ import annotations

from typing import Any

from engine.core.model import ResultKind
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good, step

IDLE = 2.0


def _impatient(settings: dict[str, Any]) -> None:
    settings["timeouts"] |= {"idle": IDLE, "implementation": 60.0, "extend": 1.0}


async def play(scene: Scene) -> list[Held]:
    hang = step(task="1.1", iteration=1, attempt=1, output=["let me think"], fault="ignore_sigterm")
    scene.prepare(good() + hang, _impatient)
    state = await scene.run()
    ended = [one for one in scene.results() if one.result.kind is ResultKind.TIMEOUT]
    slowest = max((one.result.seconds for one in ended), default=0.0)
    return [
        held("a silent agent is ended", bool(ended), f"after {slowest:.1f} s, idle limit {IDLE:g} s"),
        held("nothing of it is left alive", scene.left_alive() == 0, scene.left_alive()),
        held("the work is done by the next attempt", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="hang", goes_wrong="an agent that falls silent and ignores SIGTERM", play=play)
