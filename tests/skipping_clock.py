"""A clock for whole runs with real processes: the machine's time, in which nobody waits for a moment to come."""

from __future__ import annotations

import asyncio

from engine.clock import SystemClock


class SkippingClock(SystemClock):
    """A sleep to a moment moves the clock there, as soon as `ready` is set; an event decides, never a duration."""

    def __init__(self) -> None:
        self._skipped = 0.0
        self.ready = asyncio.Event()
        self.ready.set()

    def now(self) -> float:
        return super().now() + self._skipped

    async def sleep_until(self, moment: float) -> None:
        await self.ready.wait()
        while (left := moment - self.now()) > 0:  # more than once: floats round
            self._skipped += left
