"""The link to an engine in this process: the session's own bus, journal and commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from engine.core.commands import AnyCommand
from engine.core.events import Envelope
from engine.core.state import State
from engine.link.answers import Answers
from engine.link.contract import Ack, Answered, AnyQuery, Item, LinkStatus
from engine.link.local import Desk
from engine.session import Session


class InlineLink:
    """A user interface's hold on a running session."""

    def __init__(self, session: Session, desk: Desk) -> None:
        self._session = session
        self._desk = desk
        self._answers = Answers(desk, session.sprint, lambda: session.state)

    async def snapshot(self) -> State:
        return self._session.state

    async def follow(self, after: int) -> AsyncIterator[Item]:
        heard = self._session.bus.subscribe()
        seen = after
        try:
            for envelope in list(self._desk.events(self._session.sprint.id, after)):
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
        ack = await self._session.send(command)
        return Ack(ok=ack.ok, detail=ack.detail)

    async def fetch(self, query: AnyQuery) -> Answered:
        return await asyncio.to_thread(self._answers.answer, query)

    async def close(self) -> None:
        return None
