"""The link to an engine in this process: the session's own bus, journal and commands. All that passes is frozen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope
from engine.core.state import State
from engine.link.protocol import Answered, AnyQuery, Item, LinkStatus
from engine.link.source import Source
from engine.session import Session

ENDED = "the run has ended: leave with q, then devteam run goes on and devteam land brings the commits to your branch"


class InlineLink:
    """A user interface's hold on a running session."""

    def __init__(self, session: Session, source: Source) -> None:
        self._session = session
        self._source = source

    async def snapshot(self) -> State:
        return self._session.state

    async def follow(self, after: int) -> AsyncIterator[Item]:
        heard = self._session.bus.subscribe()
        seen = after
        try:
            yield LinkStatus(status="connected")
            for envelope in list(self._source.events(after)):
                seen = envelope.seq
                yield envelope
            while messages := await heard.take():
                for message in messages:
                    if isinstance(message, Envelope):
                        if message.seq <= seen:
                            continue
                        seen = message.seq
                    yield message
            yield LinkStatus(status="ended", detail=self._session.state.outcome_reason)
        finally:
            heard.close()

    async def send(self, command: AnyCommand) -> Ack:
        state = self._session.state
        if state.outcome and not state.running:  # nobody is left to take it
            return Ack(ok=False, detail=ENDED)
        return await self._session.send(command)

    async def fetch(self, query: AnyQuery) -> Answered:
        return await asyncio.to_thread(self._source.answer, query, self._session.state)

    async def close(self) -> None:
        return None
