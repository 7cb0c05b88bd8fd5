"""The message bus: facts are always delivered, live output is bounded and coalesced for slow readers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from msgspec.structs import replace

from engine.core.activity import AgentOutput, AnyActivity, OutputKind
from engine.core.events import Envelope

Message = Envelope | AnyActivity

ACTIVITY_KEPT = 5000
"""Live messages a slow reader may be behind; the log files have them all."""
JOIN_LIMIT = 4000


class Subscription:
    """One reader's queue. Facts wait for ever; of the live messages the oldest go first."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._facts: deque[Envelope] = deque()
        self._live: deque[AnyActivity] = deque()
        self._more: list[AgentOutput] = []
        """Text that goes on from the last live message: one message with it, once somebody takes it."""
        self._length = 0
        """Of that message's text."""
        self._ready = asyncio.Event()
        self._closed = False
        self.dropped = 0

    def put(self, message: Message) -> None:
        if isinstance(message, Envelope):
            self._facts.append(message)
        elif not self._goes_on(message):
            self._join()
            self._live.append(message)
            if len(self._live) > ACTIVITY_KEPT:
                self._live.popleft()
                self.dropped += 1
        self._ready.set()

    def _goes_on(self, new: AnyActivity) -> bool:
        """Streamed text of one effect is one message until somebody takes it."""
        if not isinstance(new, AgentOutput) or new.kind is not OutputKind.TEXT or not self._live:
            return False
        last = self._live[-1]
        if not isinstance(last, AgentOutput) or last.kind is not OutputKind.TEXT or last.effect != new.effect:
            return False
        length = (self._length if self._more else len(last.text)) + len(new.text)
        if length >= JOIN_LIMIT:
            return False
        self._more.append(new)
        self._length = length + 1
        return True

    def _join(self) -> None:
        if not self._more:
            return
        last = self._live[-1]
        if isinstance(last, AgentOutput):
            text = "\n".join([last.text, *(piece.text for piece in self._more)])
            self._live[-1] = replace(last, at=self._more[-1].at, text=text, tool="", path="", tokens=None)
        self._more.clear()

    async def take(self) -> list[Message]:
        """Everything waiting, facts first in their order; an empty list once the subscription is closed."""
        await self._ready.wait()
        self._join()
        messages: list[Message] = [*self._facts, *self._live]
        self._facts.clear()
        self._live.clear()
        if not self._closed:
            self._ready.clear()
        return messages

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True
        self._bus.drop(self)
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[Message]:
        while True:
            messages = await self.take()
            for message in messages:
                yield message
            if self._closed and not messages:
                return


class Bus:
    """Publish to every subscriber; publishing never waits."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def publish(self, message: Message) -> None:
        for subscription in self._subscriptions:
            subscription.put(message)

    def subscribe(self) -> Subscription:
        subscription = Subscription(self)
        self._subscriptions.append(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def close(self) -> None:
        for subscription in list(self._subscriptions):
            subscription.close()
