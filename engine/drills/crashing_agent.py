"""An agent that dies in the middle of its work."""

from __future__ import annotations

from engine.core.model import ResultKind
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import ONE, Scene, good, step


async def play(scene: Scene) -> list[Held]:
    half = [{"path": ONE, "content": "bad, and half of it\n"}]
    dies = step(task="1.1", iteration=1, attempt=1, output=["at work"], edit=half, fault="crash")
    scene.prepare(good() + dies)
    state = await scene.run()
    crashed = [one for one in scene.results() if one.result.kind is ResultKind.CRASH]
    text = scene.git.run("show", f"refs/heads/{scene.sprint.branch}:{ONE}").decode()
    return [
        held("a crash is seen as one", bool(crashed), len(crashed)),
        held("half of its work is not committed", "half" not in text, text.strip()),
        held("the work is done by the next attempt", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="crash", goes_wrong="an agent that dies in the middle of its work", play=play)
