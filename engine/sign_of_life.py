"""When an engine was last alive: a file beside its lock whose time goes on while it runs. One that was killed cannot
say when, and its facts do not tell either: an agent may be at work for an hour between two of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine import files
from engine.core.model import Struct

BEAT_SECONDS = 1.0


class Sign(Struct, frozen=True, kw_only=True):
    run: str = ""
    """Empty: there is none."""
    pid: int = 0
    at: float = 0.0


async def give(path: Path, now: Callable[[], float], run: Callable[[], str]) -> None:
    """Until cancelled, from when this run is on record: until then the file is the word of the one before.

    A disk that refuses it is no reason to stop: then the last fact has to tell."""
    before, written = run(), ""
    while True:
        if (name := run()) and name != before:
            at = now()
            try:
                if name != written:
                    files.write(path, msgspec.json.encode(Sign(run=name, pid=os.getpid())), durable=False)
                    written = name
                os.utime(path, (at, at))
            except OSError:
                written = ""
        await asyncio.sleep(BEAT_SECONDS)


def last(path: Path, run: str) -> Sign:
    """The last sign of a run; an empty one where another run gave one since, or none did."""
    try:
        found = msgspec.json.decode(files.ordinary(path), type=Sign)
        return Sign(run=run, pid=found.pid, at=path.stat().st_mtime) if run and found.run == run else Sign()
    except (OSError, msgspec.MsgspecError):
        return Sign()
