"""One life of an engine, run as a process: it may kill itself at a boundary nobody died at yet.

    python -m tests.torture.life KIND FOLDER STATE ACKS [SEEN [EVERY]]

KIND is small, demo, lanes (four tasks on four lanes) or crowd (four_lanes.py, with commands that come in meanwhile).
ACKS collects what was acknowledged; SEEN, if given, the boundaries that were died at; with
EVERY only about one boundary in so many is died at.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import demo
from engine.clock import SystemClock
from engine.core import commands as cmd
from engine.core.effects import AnyEffect
from engine.core.events import Envelope, type_of
from engine.core.state import State
from engine.plans.sprints import SprintFolder
from engine.session import Session
from engine.session_options import Options
from tests.engine import small, test_lanes
from tests.torture import four_lanes

LANES = 4


def key_of(where: str, effect: AnyEffect) -> str:
    """A boundary by what is done, whatever number the effect has in this life."""
    parts = [where, type(effect).__name__, effect.task]
    parts += [
        str(getattr(effect, name, "")) for name in ("role", "seat", "iteration", "attempt", "purpose", "milestone")
    ]
    return "/".join(parts)


def made(kind: str, folder: Path) -> SprintFolder:
    """The repository of a kind; taken up as it is when it is there already."""
    if kind == "demo":
        return demo.prepare(folder, "2026-11-16")
    if kind == "lanes":
        return test_lanes.many(folder, LANES)
    if kind == "crowd":
        return four_lanes.make(folder)
    return small.make(folder)


async def live(kind: str, folder: Path, state: Path, acks: Path, seen: Path | None, every: int) -> State:
    died_at = set(seen.read_text().splitlines()) if seen is not None and seen.exists() else set()

    def boundary(where: str, effect: AnyEffect) -> None:
        key = key_of(where, effect)
        if seen is None or key in died_at or zlib.crc32(key.encode()) % every:
            return
        with seen.open("a") as file:
            file.write(f"{key}\n")
            file.flush()
            os.fsync(file.fileno())
        os.kill(os.getpid(), signal.SIGKILL)

    sprint = made(kind, folder)
    project = small.project_of(folder, state)
    options = Options(trust="all", speed=1e6, attended=kind == "demo", waits=kind == "demo")
    fd = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def acknowledge(envelopes: Sequence[Envelope], _state: State) -> None:
        os.write(fd, b"".join(f"{one.seq} {type_of(one.event)}\n".encode() for one in envelopes))

    async with Session.open(project, sprint, SystemClock(), replace(options), boundary) as session:
        session.watch(acknowledge)
        helper = None
        if kind == "demo":
            scenario = demo.scenario_of(folder)
            helper = asyncio.create_task(demo.attend(session, session.bus.subscribe(), scenario))
        elif kind == "crowd":
            helper = asyncio.create_task(meddle(session))
        try:
            return await session.run()
        finally:
            if helper is not None:
                helper.cancel()


async def meddle(session: Session) -> None:
    """A user who cannot leave it alone: pauses, goes on, adds words, from another door."""
    rng = random.Random(os.getpid())
    while True:
        await asyncio.sleep(rng.uniform(0.05, 0.4))
        await session.send(cmd.Pause())
        running = [task.id for task in session.state.tasks.values() if not task.ended]
        if running:
            await session.send(cmd.Steer(task=rng.choice(running), text="mind the gap"))
        await session.send(cmd.Resume())


def main() -> None:
    kind, folder, state, acks, *more = sys.argv[1:]
    seen = Path(more[0]) if more else None
    every = int(more[1]) if len(more) > 1 else 1
    ended = asyncio.run(live(kind, Path(folder), Path(state), Path(acks), seen, every))
    sys.stdout.write(f"{ended.outcome}\n")


if __name__ == "__main__":
    main()
