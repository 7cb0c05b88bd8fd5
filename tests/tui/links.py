"""Links for tests: a recording that looks like a live engine, and notes the commands it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope, Unknown, decode, encode
from engine.link.protocol import Item, LinkStatus
from engine.link.replay import ReplayLink
from tests.tui.recordings import sprint


class LiveLink(ReplayLink):
    """Plays its items as fast as they are taken, says it is connected, accepts every command."""

    sent: list[AnyCommand]
    ack = Ack(ok=True)
    facts = None  # type: ignore[assignment]  # an engine does not know what comes later

    async def follow(self, after: int) -> AsyncIterator[Item]:
        yield LinkStatus(status="connected")
        async for item in super().follow(after):
            if not isinstance(item, LinkStatus):
                yield item

    async def send(self, command: AnyCommand) -> Ack:
        self.sent.append(command)
        return self.ack

    def more(self, *events: object) -> None:
        """Facts that happen now."""
        for event in events:
            seq = max((item.seq for item in self._items if isinstance(item, Envelope)), default=0) + 1
            at = self._times[-1] if self._times else 0.0
            fact = event if isinstance(event, Unknown) else decode(encode(event))  # type: ignore[arg-type]
            self._items.append(Envelope(seq=seq, stream=self.name, at=at, event=fact))
            self._times.append(at)
        self._moved.set()


def live(mark: str) -> LiveLink:
    """The recorded sprint at one of its moments."""
    items, marks = sprint()
    cut = marks[mark]
    rest = [item for item in items[cut:] if not hasattr(item, "at")]
    link = LiveLink([*items[:cut], *rest], name="003-add-login", at_end=False)
    link.sent = []
    return link
