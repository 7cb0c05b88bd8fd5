"""The link to an engine in this process: the session's own bus, journal and commands.

Everything passes through the JSON codec, as it would through a socket: what works here works there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from engine.core.commands import AnyCommand
from engine.core.events import Envelope
from engine.core.state import State
from engine.link import codec
from engine.link.answers import Answers
from engine.link.contract import Ack, Answered, AnyQuery, Item, LinkStatus
from engine.link.local import Desk
from engine.session import Session

ENDED = "the run has ended: leave with q, then devteam run goes on and devteam land brings the commits to your branch"


class InlineLink:
    """A user interface's hold on a running session."""

    def __init__(self, session: Session, desk: Desk) -> None:
        self._session = session
        self._desk = desk
        self._answers = Answers(desk, session.sprint, lambda: session.state)

    async def snapshot(self) -> State:
        return codec.decode_state(codec.encode_state(self._session.state))

    async def follow(self, after: int) -> AsyncIterator[Item]:
        async for item in self._items(after):
            passed = codec.decode_item(codec.encode_item(item))
            if not isinstance(passed, codec.Recorded):
                yield passed

    async def _items(self, after: int) -> AsyncIterator[Item]:
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
        state = self._session.state
        if state.outcome and not state.running:  # nobody is left to take it
            return Ack(ok=False, detail=ENDED)
        ack = await self._session.send(codec.decode_command(codec.encode_command(command)))
        return codec.decode_ack(codec.encode_ack(Ack(ok=ack.ok, detail=ack.detail)))

    async def fetch(self, query: AnyQuery) -> Answered:
        asked = codec.decode_query(codec.encode_query(query))
        answer = await asyncio.to_thread(self._answers.answer, asked)
        return codec.decode_answered(codec.encode_answered(answer))

    async def close(self) -> None:
        return None
