"""The link to an engine in another process: over the channel while it runs, by the journal while none does.

Closing it leaves the engine alone; when the engine ends or comes back, it is said and followed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from engine import VERSION
from engine.channel.client import ChannelClosed, Watching, identified
from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope, RunEnded, RunStarted
from engine.core.state import State
from engine.journal import Journal, JournalError, JournalMissing
from engine.link.protocol import Answered, AnyQuery, Item, LinkStatus
from engine.link.source import Source
from engine.sign_of_life import Sign

LOOK_SECONDS = 0.2
"""Between two looks for an engine, or for what one without a channel has written."""


class AttachedLink:
    """Follows one sprint, wherever its engine is."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._state = State()
        """As it was read last. Facts are folded by who shows them; here only two of them matter."""
        self._last = 0
        self._running = False
        self._run = ""
        self._reason = ""
        self._closed = asyncio.Event()
        self._engine: Watching | None = None
        self._journal: Journal | None = None

    async def snapshot(self) -> State:
        state = await asyncio.to_thread(self._source.state)
        self._state, self._last = state, state.seq
        self._running, self._run, self._reason = state.running, state.run, state.outcome_reason
        return state

    async def follow(self, after: int) -> AsyncIterator[Item]:
        seen, said = after, self._standing()
        yield said
        while not self._closed.is_set():
            try:
                news = self._recorded(seen)
            except JournalError as error:
                self._forget_journal()
                lost = LinkStatus(status="lost", detail=str(error), hint=error.hint)
                if lost != said:
                    yield (said := lost)
                await self._nap(2 * LOOK_SECONDS)
                continue
            for envelope in news:
                seen = envelope.seq
                self._note(envelope)
                yield envelope
            status = self._standing()
            if status.status == "connected":
                try:
                    self._engine = await Watching.open(self._source.socket, VERSION, seen)
                except ChannelClosed as error:
                    status = LinkStatus(status="connecting", detail=str(error))
            if status != said:
                yield (said := status)
            if self._engine is None:
                await self._nap(LOOK_SECONDS)
                continue
            try:
                async for item in self._engine.items():
                    if isinstance(item, Envelope):
                        if item.stream != self._source.sprint or item.seq <= seen:
                            continue
                        seen = item.seq
                        self._note(item)
                    yield item
            finally:
                self._engine.close()
                self._engine = None

    async def send(self, command: AnyCommand) -> Ack:
        engine, command = self._engine, identified(command)
        if engine is not None:
            try:
                reply = await engine.tell(command)
            except ChannelClosed:
                pass  # it ended meanwhile: whether it heard this is in the journal, and `tell` looks there
            else:
                if not reply.late:
                    return Ack(ok=reply.ok, detail=reply.detail)
        return await asyncio.to_thread(self._source.tell, command)

    async def fetch(self, query: AnyQuery) -> Answered:
        engine = self._engine
        if engine is not None:
            try:
                return msgspec.json.decode(await engine.ask(msgspec.json.encode(query)), type=Answered)
            except (ChannelClosed, msgspec.MsgspecError):
                pass
        if self._state.seq < self._last:
            self._state = await asyncio.to_thread(self._source.state)
        return await asyncio.to_thread(self._source.answer, query, self._state)

    async def close(self) -> None:
        self._closed.set()
        if self._engine is not None:
            self._engine.close()
        self._forget_journal()

    def _forget_journal(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _recorded(self, after: int) -> list[Envelope]:
        try:
            self._journal = self._journal or self._source.viewer()
            return [envelope for envelope in self._journal.tail(after) if envelope.stream == self._source.sprint]
        except JournalMissing:
            return []

    def _standing(self) -> LinkStatus:
        holder = self._source.engine()
        sign = self._source.last_sign(self._run) if self._running else Sign()
        if holder is not None and sign.pid and holder.pid != sign.pid:  # it has not begun its own run yet
            return LinkStatus(status="connecting", detail="an engine is starting", last_sign=sign.at)
        if holder is not None:
            return LinkStatus(status="connected", detail=holder.words())
        if self._running:
            hint = "space or devteam run takes it up again; nothing is lost"
            return LinkStatus(status="lost", detail="the engine is gone", hint=hint, last_sign=sign.at)
        return LinkStatus(status="ended", detail=self._reason or "no engine is running", hint="devteam run")

    def _note(self, envelope: Envelope) -> None:
        self._last = envelope.seq
        match envelope.event:
            case RunStarted(run=run):
                self._running, self._run, self._reason = True, run, ""
            case RunEnded(reason=reason):
                self._running, self._reason = False, reason
            case _:
                pass

    async def _nap(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except TimeoutError:
            return
