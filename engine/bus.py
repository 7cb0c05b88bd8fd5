"""The message bus: facts are always delivered, live output is bounded and coalesced for slow readers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

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
        self._ready = asyncio.Event()
        self._closed = False
        self.dropped = 0

    def put(self, message: Message) -> None:
        if isinstance(message, Envelope):
            self._facts.append(message)
        else:
            joined = _joined(self._live[-1], message) if self._live else None
            if joined is not None:
                self._live[-1] = joined
            else:
                self._live.append(message)
                if len(self._live) > ACTIVITY_KEPT:
                    self._live.popleft()
                    self.dropped += 1
        self._ready.set()

    async def take(self) -> list[Message]:
        """Everything waiting, facts first in their order; an empty list once the subscription is closed."""
        await self._ready.wait()
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


def _joined(last: AnyActivity, new: AnyActivity) -> AnyActivity | None:
    """Streamed text of one effect is one message until somebody takes it."""
    if not isinstance(last, AgentOutput) or not isinstance(new, AgentOutput):
        return None
    if last.kind is not OutputKind.TEXT or new.kind is not OutputKind.TEXT or last.effect != new.effect:
        return None
    if len(last.text) + len(new.text) < JOIN_LIMIT:
        return AgentOutput(
            effect=last.effect,
            task=last.task,
            lane=last.lane,
            at=new.at,
            kind=OutputKind.TEXT,
            role=last.role,
            seat=last.seat,
            text=f"{last.text}\n{new.text}",
        )
    return None
