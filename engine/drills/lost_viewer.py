"""Somebody watches, a gate opens, and their terminal is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from engine import VERSION
from engine.channel.client import ChannelClosed, Watching
from engine.core import events as ev
from engine.core.commands import AnyCommand, Stop
from engine.core.vocabulary import Detached
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good

EVERY = 0.02


def _gated(settings: dict[str, Any]) -> None:
    settings["gates"] |= {"task": "gated"}


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good(), _gated)
    opened, alone = asyncio.Event(), asyncio.Event()
    policy = scene.project().config().gates.detached

    def hear(event: ev.Fact, send: Callable[[AnyCommand], object]) -> None:
        if isinstance(event, ev.GateOpened):
            opened.set()
        if isinstance(event, ev.AttendanceChanged) and not event.attended:
            alone.set()
            if policy is not Detached.CONTINUE:
                send(Stop(by="drill"))

    running = asyncio.ensure_future(scene.run(hear, attended=True, follows_viewers=True))
    looking = asyncio.ensure_future(_look_and_leave(scene, opened))
    try:
        state = await running
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    said = [
        held("a gate had opened", opened.is_set()),
        held("that nobody looks on any more is noticed", alone.is_set()),
    ]
    if policy is Detached.CONTINUE:
        return [*said, held("the sprint goes on to its end", scene.complete(state), state.outcome_reason)]
    return [*said, held(f"it does as configured ({policy.value})", not scene.complete(state), state.outcome_reason)]


async def _look_and_leave(scene: Scene, opened: asyncio.Event) -> None:
    place = scene.project().state.socket
    while True:
        try:
            watching = await Watching.open(place, VERSION, 0)
            break
        except ChannelClosed:
            await asyncio.sleep(EVERY)
    reading = asyncio.ensure_future(_drain(watching))
    await opened.wait()
    watching.close()
    await reading


async def _drain(watching: Watching) -> None:
    async for _ in watching.items():
        pass


DRILL = Drill(name="lost-viewer", goes_wrong="a dashboard whose terminal is lost at a gate", play=play)
