"""A channel over a real socket with facts that a test makes: no engine behind it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from engine import VERSION
from engine.bus import Bus
from engine.channel import messages as ms
from engine.channel.client import Watching
from engine.channel.server import ChannelServer
from engine.core.activity import AgentOutput, OutputKind
from engine.core.commands import AnyCommand, Pause
from engine.core.events import Envelope, Noted
from engine.core.model import Role
from tests.patience import patience


class Stand:
    """What stands behind the server: a journal that is a list, commands that are remembered."""

    def __init__(self, folder: Path, admitted: Callable[[int], bool] = lambda _pid: True) -> None:
        self.path = folder / "engine.sock"
        self.bus = Bus()
        self.journal: list[Envelope] = []
        self.told: list[AnyCommand] = []
        self.counts: list[int] = []
        self.inflight: set[str] = {"e1"}
        self.server = ChannelServer(
            self.path,
            bus=self.bus,
            obey=self._obey,
            answer=lambda query: b'{"text":"%d bytes"}' % len(query),
            facts=lambda after, limit: [one for one in self.journal if one.seq > after][:limit],
            inflight=lambda: self.inflight,
            welcome=lambda viewers: ms.Welcome(
                protocol=ms.PROTOCOL, version=VERSION, pid=1, root="/r", sprint="001-s", viewers=viewers
            ),
            on_viewers=self.counts.append,
            admitted=admitted,
        )

    async def _obey(self, command: AnyCommand) -> ms.Reply:
        self.told.append(command)
        return ms.Reply(call=0, ok=isinstance(command, Pause), detail="heard")

    def fact(self, text: str = "x") -> Envelope:
        """Recorded, then published, as the runner does it."""
        envelope = Envelope(seq=len(self.journal) + 1, stream="001-s", at=0.0, event=Noted(text=text))
        self.journal.append(envelope)
        self.bus.publish(envelope)
        return envelope

    def word(self, text: str, effect: str = "e1") -> None:
        said = AgentOutput(effect=effect, kind=OutputKind.TOOL_CALL, role=Role.IMPLEMENTER, tool=text)
        self.bus.publish(said)

    async def watch(self, after: int = 0) -> Watching:
        return await Watching.open(self.path, VERSION, after)


@contextlib.asynccontextmanager
async def standing(folder: Path, admitted: Callable[[int], bool] = lambda _pid: True) -> AsyncIterator[Stand]:
    stand = Stand(folder, admitted)
    async with asyncio.timeout(patience(30)), stand.server.serving():
        yield stand


async def seqs_until(watching: Watching, last: int, arrived: list[int] | None = None) -> list[int]:
    """The facts that come, up to one; `arrived` tells meanwhile."""
    found: list[int] = []
    async for item in watching.items():
        if isinstance(item, Envelope):
            found.append(item.seq)
            if arrived is not None:
                arrived.append(item.seq)
            if item.seq >= last:
                break
    return found
