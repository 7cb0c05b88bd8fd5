"""How long a test waits before it calls something hung: by how slow the machine is at that moment, not by the clock.

`patience(s)` is a bound that only a hang exceeds. `slowed(s)` is a time that a test gives a child on purpose (a timeout
that shall come after the child's first word): `s` on a quiet machine, more on a busy one. Where the verdict depends on
that word, `longer` gives the child more until it was said.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

Given = TypeVar("Given")

QUIET_START = 0.02
"""Seconds that a bare interpreter takes to start and end on a quiet machine."""
SLACK = 6.0
MEASURED_FOR = 3.0

_seen: list[tuple[float, float]] = []


def slowness() -> float:
    """How many times slower this machine is now than a quiet one: one start of an interpreter, and who else runs."""
    now = time.monotonic()
    if _seen and now - _seen[-1][0] < MEASURED_FOR:
        return _seen[-1][1]
    crowd = running()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    took = time.monotonic() - now
    _seen[:] = [(time.monotonic(), max(1.0, took / QUIET_START, max(crowd, running()) / (os.cpu_count() or 1)))]
    return _seen[-1][1]


def running() -> float:
    """How many threads want a core at this moment. The load average is of the last minute: a suite that begins after
    a busy hour would wait for what is long over."""
    try:
        return float(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
    except OSError:
        return os.getloadavg()[0]


def slowed(seconds: float) -> float:
    """A time given on purpose, as long as `seconds` are on a quiet machine."""
    return seconds * slowness()


def patience(seconds: float) -> float:
    """A bound for what takes much less than `seconds` on a quiet machine: what exceeds it hangs."""
    return seconds * slowness() * SLACK


class Deadline:
    """A bound that grows while the machine gets slower."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.monotonic()
        self._bound = patience(seconds)

    def over(self) -> bool:
        waited = time.monotonic() - self._began
        if waited > self._bound:
            self._bound = max(self._bound, patience(self._seconds))
        return waited > self._bound


def until(holds: Callable[[], object], seconds: float = 30.0, every: float = 0.05) -> None:
    """Wait for an event."""
    deadline = Deadline(seconds)
    while not holds():
        assert not deadline.over(), "it never came to that"
        time.sleep(every)


async def eventually(holds: Callable[[], object], seconds: float = 30.0, every: float = 0.02) -> None:
    """Wait for an event while the loop goes on."""
    deadline = Deadline(seconds)
    while not holds():
        assert not deadline.over(), "it never came to that"
        await asyncio.sleep(every)


async def longer(
    attempt: Callable[[float], Awaitable[Given]], seconds: float, far_enough: Callable[[Given], object]
) -> Given:
    """What came of an attempt that was given a time; twice the time for as long as it did not get far enough."""
    given = slowed(seconds)
    for _ in range(5):
        if far_enough(result := await attempt(given)):
            break
        given *= 2
    return result
