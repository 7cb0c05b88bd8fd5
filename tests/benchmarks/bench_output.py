"""Output by shapes, from a pipe to the bus: CPU per megabyte of our own process, memory, and how long the loop stood.

    python -m tests.benchmarks.bench_output [MEGABYTES]

Each shape is a file that a real process prints in the sandbox-free mode; it goes through the pump, the raw log, the
redaction, the adapter's reader, the cleaner, the log of outputs and the bus with one reader, as in a call of an agent.
The hold of the design is 30 ms of CPU per megabyte (on a quiet machine: `quiet_ms_per_mb`) and 30 MB of memory, for
every shape.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.bus import Bus
from engine.clock import SystemClock
from engine.core.effects import CallAgent
from engine.core.model import Role, Rung
from engine.perform.agents import headless
from engine.perform.agents.claude_stream import ClaudeStream
from engine.perform.agents.command_stream import TextStream
from engine.perform.agents.launch import MAX_LINE
from engine.perform.calls import Calls
from engine.perform.output_log import OutputLog
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import AgentCall, Output, ProcessSpec
from engine.perform.secrets.redact import Redactor
from tests.benchmarks import calibration

MEGABYTES = 8
BESIDE = 20
"""Pieces of work before and after, by which a loaded machine is told (calibration.py)."""
SECRETS = ("a-value-that-nobody-may-see-1", "another-value-that-nobody-may-see", "third-secret-value-0123456789")
MB = 1_000_000


def _lines(line: bytes) -> Callable[[int], bytes]:
    return lambda size: line * max(1, size // len(line))


def _base64(width: int) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        data = base64.b64encode(random.Random(1).randbytes(size * 3 // 4))
        return b"\n".join(data[at : at + width] for at in range(0, len(data), width)) + b"\n"

    return made


PROSE = b"the quick brown fox jumps over the lazy dog and then it goes home again to sleep for a while\n"
EVENT = json.dumps(
    {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "some words " * 30}]}}
).encode()
SHAPES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "10-byte lines": ("text", _lines(b"123456789\n")),
    "prose": ("text", _lines(PROSE)),
    "10 kB lines without spaces": ("text", _lines(b"x" * 9_999 + b"\n")),
    "1 MB lines": ("text", _lines(b"word " * 200_000 + b"\n")),
    "one line": ("text", lambda size: b"y" * size),
    "base64, 76 columns": ("text", _base64(76)),
    "base64, one line": ("text", _base64(1 << 40)),
    "binary": ("text", lambda size: random.Random(2).randbytes(size)),
    "ansi": ("text", _lines(b"\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b[2K\rprogress 10%\n")),
    "empty lines": ("text", _lines(b"\n")),
    "json events": ("json", _lines(EVENT + b"\n")),
    "plain lines to a json reader": ("json", _lines(PROSE)),
    "10-byte lines to a json reader": ("json", _lines(b"123456789\n")),
    "braces to a json reader": ("json", _lines(b"{ not json at all, but it begins like an object\n")),
}


async def one(folder: Path, kind: str, data: bytes) -> dict[str, Any]:
    path = folder / "printed"
    path.write_bytes(data)
    clock = SystemClock()
    spawner = ProcessSpawner("none", "bench", clock.monotonic, home=folder, scratch=folder)
    call = AgentCall(
        effect="e1", role=Role.IMPLEMENTER, model="m", prompt="p", log=folder / "raw.log", secrets=SECRETS,
        checkout=folder, clone=folder, home=folder, timeout=600.0,
    )  # fmt: skip
    (folder / "raw.log").unlink(missing_ok=True)
    stream = TextStream(call, clock.now, "command") if kind == "text" else ClaudeStream(call, clock.now)
    bus = Bus()
    reader, taken = bus.subscribe(), 0
    calls = Calls.__new__(Calls)  # only its ears: what a call needs besides is not part of the path
    calls._now, calls._redactor = clock.now, Redactor(SECRETS)
    effect = CallAgent(
        id="e1",
        task="1.1",
        lane=0,
        role=Role.IMPLEMENTER,
        iteration=1,
        attempt=1,
        rung=Rung(name="r", agent="a", model="m"),
    )
    spec = ProcessSpec(
        argv=("/bin/cat", str(path)), cwd=folder, env={}, timeout=600.0, max_line=MAX_LINE, max_total=1 << 40
    )

    async def take() -> None:
        nonlocal taken
        async for _ in reader:
            taken += 1

    stall = 0.0

    async def beat() -> None:
        nonlocal stall
        while True:
            begun = time.monotonic()
            await asyncio.sleep(0.01)
            stall = max(stall, time.monotonic() - begun - 0.01)

    with closing(OutputLog(folder / "outputs.jsonl")) as log:

        def emit(output: Output) -> None:
            said = calls._heard(effect, output)
            log.add(said)
            bus.publish(said)

        tasks = [asyncio.create_task(take()), asyncio.create_task(beat())]
        await asyncio.sleep(0.02)
        before, spent = _memory(), time.process_time()
        finished = await headless.listen(stream, call, spec, spawner, emit)
        spent = time.process_time() - spent
        for task in tasks:
            task.cancel()
    if finished.exit_code != 0:
        raise RuntimeError(finished)
    size = len(data) / MB
    return {
        "cpu_ms_per_mb": round(spent * 1000 / size, 1),
        "mb": round(size, 1),
        "worst_stall_ms": round(stall * 1000, 1),
        "peak_growth_mb": round(max(0, _memory() - before) / 1000, 1),
        "messages": taken,
    }


def _memory() -> int:
    """The most memory this process ever had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(megabytes: int = MEGABYTES) -> dict[str, Any]:
    """Each shape in a process of its own: the memory of one is not that of another."""
    import subprocess

    found = {}
    for name in SHAPES:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.bench_output", str(megabytes), name],
            check=True, capture_output=True, cwd=Path(__file__).parents[2], env={**os.environ},
        )  # fmt: skip
        found[name] = json.loads(done.stdout)
    return found


def single(megabytes: int, name: str) -> dict[str, Any]:
    kind, make = SHAPES[name]
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(one(Path(place), kind, make(MB // 10)))  # imports and first times
        data = make(megabytes * MB)
        reference = calibration.Reference()
        for _ in range(BESIDE):
            reference.take()
        found = asyncio.run(one(Path(place), kind, data))
        for _ in range(BESIDE):
            reference.take()
    quiet = round(found["cpu_ms_per_mb"] / reference.dearer, 1)
    return {"quiet_ms_per_mb": quiet, "dearer": round(reference.dearer, 2), **found}


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    print(json.dumps(single(size, sys.argv[2]) if len(sys.argv) > 2 else run(size), indent=2))
