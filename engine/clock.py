"""The one clock. Wall time is for display and for deadlines that survive a restart; durations are monotonic."""

from __future__ import annotations

import heapq
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

LONGEST_NAP = 30.0
"""A sleep to a wall time looks at the clock again this often: suspend and clock changes are noticed."""


class Clock(Protocol):
    """What the engine knows of time. A function that only needs the hour takes `clock.now`."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def wall(self) -> float:
        """What the wall clock says at this moment, also where it was set since: what others mean by a time of day."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; time in suspend counts where the system can tell."""
        ...

    def boot(self) -> tuple[str, float]:
        """Which start of the machine this is (empty: it cannot tell), and its wall time when `monotonic` was zero."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def sleep_until(self, moment: float) -> None:
        """Sleep to a wall time; one that has passed returns at once."""
        ...


# The kernel's monotonic clock stands still in suspend; a limit must not be stretched by closing the lid.
_steady: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
)


_ANCHOR = time.time() - _steady()
"""The wall time is read once a process and then kept by the steady clock: a jump of the wall clock, by hand or by a
time server, neither stretches a wait nor eats a budget. The next process reads it anew; a run that starts earlier than
the last event was recorded pulls the times it knows back (fold.RunStarted)."""


class SystemClock:
    """The machine's time."""

    def now(self) -> float:
        return _ANCHOR + _steady()

    def wall(self) -> float:
        return self.now() + (time.time() - _steady() - _ANCHOR)

    def monotonic(self) -> float:
        return _steady()

    def boot(self) -> tuple[str, float]:
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip(), _ANCHOR
        except (OSError, UnicodeDecodeError):
            return "", 0.0

    async def sleep(self, seconds: float) -> None:
        end = self.monotonic() + seconds
        while (left := end - self.monotonic()) > 0:
            await _nap(min(left, LONGEST_NAP))

    async def sleep_until(self, moment: float) -> None:
        while (left := moment - self.now()) > 0:
            await _nap(min(left, LONGEST_NAP))


class VirtualClock:
    """A clock for tests: it stands still until `advance` is awaited, and wakes sleepers in the order of their times."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._zero = now
        """The wall time when the other clock stood at zero: adding small steps to it would round them away."""
        self._mono = 0.0
        self._count = 0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._zero + self._mono

    def wall(self) -> float:
        return self.now()

    def monotonic(self) -> float:
        return self._mono

    def boot(self) -> tuple[str, float]:
        return "virtual", self._zero

    async def sleep(self, seconds: float) -> None:
        import asyncio

        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._mono + seconds, self._count, future))
        await future

    async def sleep_until(self, moment: float) -> None:
        while (left := moment - self.now()) > 0:
            await self.sleep(min(left, LONGEST_NAP))

    def sleeping(self) -> int:
        """How many are asleep."""
        return sum(not future.done() for _, _, future in self._sleepers)

    def jump(self, seconds: float) -> None:
        """Move the wall clock alone, as a user or a time server does."""
        self._zero += seconds

    async def advance(self, seconds: float) -> None:
        """Let time pass. What wakes up runs, and may sleep again, before time goes on."""
        end = self._mono + seconds
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            deadline, _, future = heapq.heappop(self._sleepers)
            if future.done():
                continue
            self._move(deadline)
            future.set_result(None)
            await _settle()
        self._move(end)
        await _settle()

    def _move(self, mono: float) -> None:
        self._mono = mono


async def _settle() -> None:
    """Give every ready task a few turns of the loop."""
    for _ in range(10):
        await _nap(0)


async def _nap(seconds: float) -> None:
    # Imported late: the command line asks this module for the time only, and asyncio costs it a third of its start.
    import asyncio

    await asyncio.sleep(seconds)
