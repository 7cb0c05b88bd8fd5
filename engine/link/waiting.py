"""The link where there is no sprint yet: it waits for one to be made, here or in another terminal, and follows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope, SprintCreated
from engine.core.state import State
from engine.link.attached import AttachedLink
from engine.link.protocol import Answered, AnyQuery, Item, LinkStatus

EVERY = 1.0


class WaitingLink:
    """Empty until a sprint appears; without a repository it stays empty."""

    def __init__(self, made: Callable[[], AttachedLink | None]) -> None:
        """`made` gives the link to the first sprint, once there is one."""
        self._made = made
        self._link: AttachedLink | None = None
        self._closed = False

    async def snapshot(self) -> State:
        return await self._link.snapshot() if self._link is not None else State()

    async def follow(self, after: int) -> AsyncIterator[Item]:
        if self._link is None:
            yield LinkStatus(status="connected")
        while self._link is None and not self._closed:
            self._link = await asyncio.to_thread(self._made)
            if self._link is None:
                await asyncio.sleep(EVERY)
        if self._link is None or self._closed:
            return
        state = await self._link.snapshot()
        if not state.seq and state.plan is not None:
            # Made, but never run: the journal knows nothing of it, the plan does. A first run records the same fact.
            made = SprintCreated(sprint=state.sprint, plan=state.plan, branch=state.branch, topic=state.topic)
            yield Envelope(seq=1, stream=state.sprint, at=0.0, event=made)
        async for item in self._link.follow(after):
            yield item

    async def send(self, command: AnyCommand) -> Ack:
        if self._link is not None:
            return await self._link.send(command)
        return Ack(ok=False, detail="there is no sprint yet: devteam plan --from plan.md")

    async def fetch(self, query: AnyQuery) -> Answered:
        if self._link is not None:
            return await self._link.fetch(query)
        return Answered(error="there is no sprint yet")

    async def close(self) -> None:
        self._closed = True
        if self._link is not None:
            await self._link.close()
