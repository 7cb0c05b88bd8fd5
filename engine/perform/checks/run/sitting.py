"""Several runs of chosen test files one after another in one process tree, which loads what they share only once.

Each run is a fork made before anything of the tree is loaded, with a key, reports and orders of its own. They share the
room and the sandbox. So the order goes from the run that keeps the subject farthest away to the one that has it in its
process: nothing that need not be believed comes before what must be.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import msgspec

from engine import files
from engine.core.model import Struct
from engine.core.sandboxes import SandboxName
from engine.perform.checks.run import witness
from engine.perform.checks.run.execute import Ask, Start, Tools, confined, start_of
from engine.perform.checks.run.left_behind import forget, measured_of
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import Ending, Finished, ProcessSpec

SPARE = 30.0
"""Seconds for all of them beyond what each may take."""


class Job(Struct, frozen=True, kw_only=True):
    """One run of a sitting."""

    ask: Ask
    put: Mapping[str, bytes | None]
    """Files of the room that are to be another than they were for the run before; None: not to be there."""


class Told(Struct, frozen=True, kw_only=True):
    """What the sitting says of one run."""

    ended: Ending
    exit: int
    seconds: float
    cpu: float
    out: str
    err: str


async def sit(tools: Tools, spec: CheckSpec, room: Path, jobs: Sequence[Job]) -> list[Measurement | None]:
    """What each run measured; None where the sitting came to its end before it, or the runner has no sittings."""
    loads = runner_of(spec).loads
    # Where no process may set times a changed file of the same length would be taken for the one that was compiled.
    if not loads or spec.build or len(jobs) < 2 or tools.spawner.mode is SandboxName.LANDLOCK:
        return [None] * len(jobs)
    starts = [start_of(tools, spec, room, job.ask) for job in jobs]
    clothes = next((job.ask for job in jobs if job.ask.disguise), jobs[0].ask)  # one order of sets for all of them
    own = start_of(tools, spec, room, clothes)
    script = own.request.reports / "s.py"
    files.write(script, witness.source("sitting"), durable=False)
    mounts = dict.fromkeys(mount for start in (own, *starts) for mount in start.mounts)
    lines: list[bytes] = []
    tools.say(spec.name, "running", detail=f"{len(jobs)} runs in one")
    started = tools.clock()
    finished = await tools.spawner.run(
        ProcessSpec(
            argv=(starts[0].prepared.argv[0], str(script), *loads),
            cwd=starts[0].request.room,
            env=own.env,
            stdin=_orders(spec, jobs, starts, own),
            timeout=sum(job.ask.timeout or spec.timeout for job in jobs) + SPARE,
            confine=confined(tools, spec, room, mounts),
        ),
        lines.append,
    )
    found: list[Measurement | None] = []
    told = [_told(line) for line in (lines or finished.stdout.splitlines())]
    for start, one in zip(starts, [*told, *[None] * len(starts)], strict=False):
        if one is None:
            forget(start.request.reports)
            found.append(None)
            continue
        end = Finished(reason=one.ended, exit_code=one.exit, stderr=base64.b64decode(one.err), seconds=one.seconds)
        stdout = base64.b64decode(one.out)
        found.append(await asyncio.to_thread(measured_of, tools, start, end, stdout, started, "", room))
    forget(own.request.reports)
    return found


def _orders(spec: CheckSpec, jobs: Sequence[Job], starts: Sequence[Start], own: Start) -> bytes:
    """For each run what the sitting does, then what only the fork reads; a length of nothing at the end."""
    frames = []
    for job, start in zip(jobs, starts, strict=True):
        put = {
            relpath(path, spec.folder or "."): None if data is None else base64.b64encode(data).decode()
            for path, data in job.put.items()
        }
        frames.append({"put": put, "timeout": job.ask.timeout or spec.timeout})
        drop = sorted(frozenset(own.env) - frozenset(start.env))
        told = base64.b64encode(start.prepared.stdin or b"").decode()
        frames.append({"argv": start.prepared.argv[1:], "env": dict(start.env), "drop": drop, "told": told})
    return b"".join(map(_frame, frames)) + bytes(8)


def _frame(order: Mapping[str, Any]) -> bytes:
    data = json.dumps(order).encode("utf-8", "surrogateescape")
    return len(data).to_bytes(8, "big") + data


def _told(line: bytes) -> Told | None:
    with contextlib.suppress(msgspec.DecodeError, ValueError):
        return msgspec.json.decode(line, type=Told)
    return None
