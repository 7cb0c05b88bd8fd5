"""Watches who is connected to a run in the background, and tells the run when they come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from engine.clock import Clock
from engine.core import attendance
from engine.core.commands import AnyCommand, Pause, Stop
from engine.core.state import State

GRACE_SECONDS = 3.0
"""A viewer that comes back this soon (a restarted dashboard, a flickering line) was never away."""


class Attendance:
    """`viewers` is told how many are connected; `attend` runs beside the run."""

    def __init__(
        self,
        *,
        state: Callable[[], State],
        send: Callable[[AnyCommand], Awaitable[object]],
        note: Callable[[str], None],
        clock: Clock,
        asked_for: bool = True,
    ) -> None:
        """Not `asked_for`: the run was started to ask nobody. Who looks on is asked only if they want to be."""
        self._asked_for = asked_for
        self._state = state
        self._send = send
        self._note = note
        self._clock = clock
        self._count = 0
        self._changed = asyncio.Event()
        self._paused = False

    def viewers(self, count: int) -> None:
        self._count = count
        self._changed.set()

    async def attend(self, grace: float = GRACE_SECONDS) -> None:
        """Until it is cancelled, or the lease is over. `grace` also bounds how long the first viewer may take."""
        while True:
            self._changed.clear()
            if not self._count and await self._changes_within(grace):
                continue
            grace = GRACE_SECONDS
            await self._settle()
            lease = attendance.lease(self._state())
            if self._count or not lease:
                await self._changed.wait()
            elif not await self._changes_within(lease):
                self._note(f"nobody has looked on for {lease / 3600:.3g} h (gates.lease_hours): the run stops here")
                await self._send(Stop(by=attendance.BY))
                return

    async def _settle(self) -> None:
        wanted = attendance.commands(self._state(), self._count, paused_by_us=self._paused, asked_for=self._asked_for)
        for command in wanted:
            await self._send(command)
        self._paused = any(isinstance(command, Pause) for command in wanted) or (self._paused and not self._count)

    async def _changes_within(self, seconds: float) -> bool:
        nap = asyncio.ensure_future(self._clock.sleep(seconds))
        change = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((nap, change), return_when=asyncio.FIRST_COMPLETED)
            return self._changed.is_set()
        finally:
            nap.cancel()
            change.cancel()
