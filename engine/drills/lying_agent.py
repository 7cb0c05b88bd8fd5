"""An agent that says that it is done, and is not."""

from __future__ import annotations

from engine.core.state import Status
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import ONE, Scene, step


async def play(scene: Scene) -> list[Held]:
    words = "STATUS: complete. All tests passed. EXIT_SIGNAL: true"
    wrong = [{"path": ONE, "content": "bad\n"}]
    scene.prepare(step(task="1.1", output=[words], text=words, claim="complete", edit=wrong))
    state = await scene.run()
    task = state.tasks["1.1"]
    return [
        held("its word is not believed", task.status is not Status.COMPLETE, f"1.1 is {task.status.value}"),
        held("nothing of it is committed", "1.1" not in scene.commits(), scene.commits()),
        held("the sprint does not call itself done", state.outcome != "done", state.outcome),
        held("the other task is done all the same", "1.2" in scene.commits(), scene.commits()),
    ]


DRILL = Drill(name="liar", goes_wrong="an agent that says done and is not", play=play)
