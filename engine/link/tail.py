"""The link to an engine in another process: its journal and its output logs are followed, commands go by the inbox.

Closing it leaves the engine alone; when the engine ends or comes back, it is said and followed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from engine.core.activity import AnyActivity, Countdown
from engine.core.commands import AnyCommand, LandNow
from engine.core.effects import CallAgent, Wait
from engine.core.events import EffectStarted, Envelope
from engine.core.fold import apply
from engine.core.state import State
from engine.journal import Journal, JournalError, JournalMissing
from engine.link.answers import Answers
from engine.link.contract import Ack, Answered, AnyQuery, Item, LinkStatus
from engine.link.errors import as_user_error
from engine.link.local import Desk
from engine.plans.sprints import SprintFolder

POLL = 0.1
HOLDER_EVERY = 10
"""Looks for the engine itself every so many polls."""


class TailLink:
    """Follows a sprint through its files."""

    def __init__(self, desk: Desk, sprint: SprintFolder) -> None:
        self._desk = desk
        self._sprint = sprint
        self._state = State()
        self._closed = False
        self._logs: dict[str, int] = {}
        self._decoder = msgspec.json.Decoder(AnyActivity)
        self._answers = Answers(desk, sprint, lambda: self._state)

    async def snapshot(self) -> State:
        self._state = await asyncio.to_thread(self._desk.state, self._sprint.id)
        for effect in self._state.calls_in_flight():
            self._logs.setdefault(effect.id, 0)
        return self._state

    async def follow(self, after: int) -> AsyncIterator[Item]:
        seen, alive, polls = after, "", 0
        journal: Journal | None = None
        try:
            while not self._closed:
                if polls % HOLDER_EVERY == 0 and (now := self._standing()).status != alive:
                    alive = now.status
                    yield now
                polls += 1
                try:
                    journal = journal or self._desk.viewer()
                    news = [envelope for envelope in journal.tail(seen) if envelope.stream == self._sprint.id]
                except JournalMissing:
                    news = []
                except JournalError as error:
                    alive = "lost"
                    yield LinkStatus(status="lost", detail=str(error), hint=error.hint)
                    await asyncio.sleep(1.0)
                    continue
                for envelope in news:
                    seen = envelope.seq
                    self._note(envelope)
                    yield envelope
                    if countdown := _countdown(envelope):
                        yield countdown
                for activity in self._output():
                    yield activity
                await asyncio.sleep(POLL)
        finally:
            if journal is not None:
                journal.close()

    async def send(self, command: AnyCommand) -> Ack:
        return await asyncio.to_thread(self._tell, command)

    def _tell(self, command: AnyCommand) -> Ack:
        """By the inbox. Landing needs no engine: with none running it is done here and now."""
        if not isinstance(command, LandNow) or self._desk.engine() is not None:
            return self._desk.tell(command)
        from engine.link.keeping import land_sprint

        try:
            ok, lines = land_sprint(self._desk, self._sprint.id, branch=False, patch=None, apply=True)
        except Exception as error:
            told = as_user_error(error)
            if told is None:
                raise
            return Ack(ok=False, detail=str(told))
        return Ack(ok=ok, detail="; ".join(line.strip() for line in lines[:4]))

    async def fetch(self, query: AnyQuery) -> Answered:
        return await asyncio.to_thread(self._answers.answer, query)

    async def close(self) -> None:
        self._closed = True

    def _standing(self) -> LinkStatus:
        holder = self._desk.engine()
        if holder is not None:
            return LinkStatus(status="connected", detail=holder.words())
        if self._state.running:
            hint = "devteam run takes the sprint up again; nothing is lost"
            return LinkStatus(status="lost", detail="the engine is not running any more", hint=hint)
        return LinkStatus(
            status="ended", detail=self._state.outcome_reason or "no engine is running", hint="devteam run"
        )

    def _note(self, envelope: Envelope) -> None:
        self._state = apply(self._state, envelope)
        event = envelope.event
        if isinstance(event, EffectStarted) and isinstance(event.effect, CallAgent):
            self._logs.setdefault(event.effect.id, 0)

    def _output(self) -> list[AnyActivity]:
        """What the running agents' logs have gained; a half-written line waits for its end."""
        found: list[AnyActivity] = []
        for effect, offset in list(self._logs.items()):
            path = self._desk.project.state.logs / f"{effect}.jsonl"
            data = _read_from(path, offset)
            whole = data.rfind(b"\n") + 1
            self._logs[effect] = offset + whole
            for line in data[:whole].splitlines():
                try:
                    found.append(self._decoder.decode(line))
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
            if effect not in self._state.inflight and not whole:
                del self._logs[effect]
        return found


def _read_from(path: Path, offset: int, most: int = 4_000_000) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(most)
    except OSError:
        return b""


def _countdown(envelope: Envelope) -> Countdown | None:
    event = envelope.event
    if not isinstance(event, EffectStarted) or not isinstance(event.effect, Wait):
        return None
    wait = event.effect
    return Countdown(
        effect=wait.id, task=wait.task, lane=wait.lane, at=envelope.at, until=wait.until, reason=wait.reason
    )
