"""The clock of a drill: the machine's time, in which nobody waits for a moment to come, and whose wall may jump."""

from __future__ import annotations

from engine.clock import SystemClock


class DrillClock(SystemClock):
    def __init__(self) -> None:
        self.skipped = 0.0
        self.jumped = 0.0

    def now(self) -> float:
        return super().now() + self.skipped + self.jumped

    def boot(self) -> tuple[str, float]:
        name, wall = super().boot()
        return name, wall + self.jumped

    async def sleep_until(self, moment: float) -> None:
        while (left := moment - self.now()) > 0:  # more than once: floats round
            self.skipped += left

    def jump(self, seconds: float) -> None:
        """The wall clock is set, by hand or by a time server."""
        self.jumped += seconds
