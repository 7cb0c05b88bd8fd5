"""An agent that leaves a process behind, in a session of its own, holding its output."""

from __future__ import annotations

from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good(fault="orphan"))
    state = await scene.run()
    return [
        held("the engine does not wait for what it left", scene.complete(state), state.outcome_reason),
        held("what an agent leaves behind is ended", scene.left_alive() == 0, f"{scene.left_alive()} alive"),
    ]


DRILL = Drill(name="orphan", goes_wrong="an agent that leaves a process behind", play=play)
