"""The line between an agent of the Agent Client Protocol and the library: what comes is kept and read by us first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from engine.perform.agents import headless, launch
from engine.perform.agents.acp_stream import AcpStream
from engine.perform.agents.wire import decode
from engine.perform.process.spawning import Conversation


class Wire:
    """The library's transport over our spawner: every line is logged and read by us before the library sees it."""

    def __init__(
        self,
        talk: Conversation,
        stream: AcpStream,
        log: headless.RawLog,
        emit: headless.Emit,
        stopped: asyncio.Event,
    ) -> None:
        self._talk, self._stream, self._log, self._emit = talk, stream, log, emit
        self.stopped = stopped
        """The reader wants the call ended: a cap is passed, or the agent retries in vain."""
        self._incoming = self._lines()
        self.accounted = asyncio.Event()
        """The agent has told a cost."""
        self.ended = asyncio.Event()
        """Its stream is at its end."""

    async def send(self, message: dict[str, Any]) -> None:
        await self._talk.write(json.dumps(message).encode() + b"\n")

    async def _lines(self) -> AsyncIterator[bytes]:
        held = b""
        while chunk := await self._talk.read():
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                yield line
            if len(held) > launch.MAX_LINE:
                yield held[: launch.MAX_LINE]
                held = b""
        if held:
            yield held

    async def receive(self) -> dict[str, Any] | None:
        async for line in self._incoming:
            self._log.write(line)
            for output in self._stream.feed(line):
                self._emit(output)
            if self._stream.stop:
                self.stopped.set()
            if self._stream.costs:
                self.accounted.set()
            message = decode(line)
            # Updates are read already. What is no JSON-RPC would end the library's loop.
            if message is None or message.get("method") == "session/update":
                continue
            if isinstance(message.get("id"), (int, str)) and isinstance(message.get("method", ""), str):
                return message
        self.ended.set()
        return None

    async def close(self) -> None:
        return
