"""The disk is full while a commit is made, and free again a little later."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from engine.core import events as ev
from engine.core.effects import AnyEffect, CallAgent, Commit
from engine.core.model import MachineFault
from engine.core.state import State
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good
from engine.perform.machine import Performs


class FullDisk:
    """Nothing can be written in the first attempts at a call and at a commit."""

    def __init__(self, performer: Performs) -> None:
        self._performer = performer
        self.met = 0

    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        if isinstance(effect, CallAgent | Commit) and effect.task == "1.1" and self.met < 2:
            self.met += 1
            raise OSError(errno.ENOSPC, "No space left on device", str(effect.id))
        return await self._performer.perform(effect, state)


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good())
    state = await scene.run(around=FullDisk)
    faults = [one.fault for one in scene.facts if isinstance(one, ev.EffectFailed)]
    ended = [one.decision for one in scene.facts if isinstance(one, ev.TaskEnded)]
    probes = [one for one in scene.facts if isinstance(one, ev.MachineProbed)]
    return [
        held("a full disk is called by its name", set(faults) == {MachineFault.DISK_FULL}, faults),
        held("no task ends for it", set(ended) <= {"COMPLETE"}, ended),
        held("it is probed, and goes on by itself", any(one.ok for one in probes), f"{len(probes)} probes"),
        held("no agent is charged for it", len(scene.results()) <= 2, state.spent_usd),
        held("the work is done afterwards", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="disk-full", goes_wrong="a disk that is full for a while", play=play)
