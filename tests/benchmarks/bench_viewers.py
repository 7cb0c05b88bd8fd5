"""Twenty viewers, some slow, some dead, some that send garbage: the engine's pace with them over its pace without."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from engine import VERSION
from engine.channel import messages as ms
from engine.channel.address import connected
from engine.clock import SystemClock
from engine.session import Session
from engine.session_options import Options
from tests.benchmarks.bench_engine import sprint_of
from tests.engine import small

TASKS = 12
KINDS = ("reads",) * 8 + ("slow",) * 4 + ("dead",) * 4 + ("garbage",) * 4
ROOT = Path(__file__).parents[2]


async def engine(folder: Path) -> dict[str, float]:
    """One sprint, in a process of its own: what the viewers cost the engine, not the bench."""
    project = small.project_of(folder / "repo", folder / "state")
    options = Options(attended=False, trust="all", speed=1e9)
    before, begun = os.times(), time.monotonic()
    async with Session.open(project, small.make(folder / "repo"), SystemClock(), options) as session:
        print("open", flush=True)
        state = await session.run()
    after = os.times()
    assert state.outcome == "done", state.outcome_reason
    own = after.user + after.system - before.user - before.system
    return {"wall_s": round(time.monotonic() - begun, 3), "engine_cpu_s": round(own, 3)}


def look_on(kind: str, path: Path, over: threading.Event) -> None:
    """One viewer of a kind, until the engine has gone."""
    while not over.is_set():
        try:
            with contextlib.closing(connected(path)) as link:
                link.settimeout(0.5)
                _watch(kind, link, over)
        except OSError:
            over.wait(0.02)


def _watch(kind: str, link: socket.socket, over: threading.Event) -> None:
    if kind == "garbage":
        link.sendall(b"\x00{nonsense" * 1000 + b"\n")
        link.recv(4096)
        over.wait(0.2)  # five tries a second and viewer: the cost of a connection is not what is measured here
        return
    link.sendall(ms.encode(ms.Hello(protocol=ms.PROTOCOL, version=VERSION, watching=True, after=0)))
    while not over.is_set():
        if kind == "dead":
            over.wait()
            return
        with contextlib.suppress(TimeoutError):
            if not link.recv(65536 if kind == "reads" else 16):
                return
        if kind == "slow":
            over.wait(0.2)


def played(kinds: tuple[str, ...]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sprint_of(folder / "repo", TASKS)
        path = small.project_of(folder / "repo", folder / "state").state.socket
        over = threading.Event()
        argv = [sys.executable, "-m", "tests.benchmarks.bench_viewers", str(folder)]
        running = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        viewers = [threading.Thread(target=look_on, args=(kind, path, over), daemon=True) for kind in kinds]
        for viewer in viewers:
            viewer.start()
        said, _ = running.communicate()
        over.set()
        for viewer in viewers:
            viewer.join()
        return dict(json.loads(said.splitlines()[-1]))


def run(rounds: int = 3) -> dict[str, Any]:
    """Best of a few rounds each, one after the other in turn."""
    alone, watched = [], []
    for _ in range(rounds):
        alone.append(played(()))
        watched.append(played(KINDS))

    def best(found: list[dict[str, float]], name: str) -> float:
        return min(one[name] for one in found)

    return {
        "viewers": len(KINDS),
        "alone": {name: best(alone, name) for name in alone[0]},
        "watched": {name: best(watched, name) for name in watched[0]},
        "pace_ratio": round(best(watched, "wall_s") / best(alone, "wall_s"), 3),
        "engine_cpu_ratio": round(best(watched, "engine_cpu_s") / best(alone, "engine_cpu_s"), 3),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(engine(Path(sys.argv[1])))))
