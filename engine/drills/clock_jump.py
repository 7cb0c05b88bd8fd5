"""The wall clock is set back by two hours while a limit is waited for, and on by three later.

Within one process the engine's clock keeps its own time; what counts is the next process, which reads the wall anew."""

from __future__ import annotations

from collections.abc import Callable

from engine.core import events as ev
from engine.core.commands import AnyCommand, Stop
from engine.core.effects import Wait
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good

HOUR = 3600.0
RESET = 600.0
LONGEST = 2 * RESET + 60.0
"""The limit is met once in each run."""


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good(fault="limit", reset_in=RESET))

    def stop(event: ev.Fact, send: Callable[[AnyCommand], object]) -> None:
        if isinstance(event, ev.EffectStarted) and isinstance(event.effect, Wait):
            send(Stop(now=True, by="drill"))

    await scene.run(stop)
    scene.clock.jump(-2 * HOUR)
    before = scene.clock.skipped

    def stop_after_one(event: ev.Fact, send: Callable[[AnyCommand], object]) -> None:
        if isinstance(event, ev.TaskEnded):
            send(Stop(by="drill"))

    await scene.run(stop_after_one)
    waited = scene.clock.skipped - before
    scene.clock.jump(3 * HOUR)
    state = await scene.run()
    finished = [event for event in scene.facts if isinstance(event, ev.AgentFinished)]
    return [
        held("a clock set back makes no wait longer", waited <= LONGEST, f"{waited:.0f} s of {RESET:.0f} s limits"),
        held("a clock set on ends no budget", state.outcome == "done", state.outcome),
        held("no duration is negative", all(one.result.seconds >= 0 for one in finished), f"{len(finished)} calls"),
        held("the work is done", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="clock-jump", goes_wrong="a wall clock that is set back, then forth", play=play)
