"""The other end of the channel: for a viewer on an event loop, and for a command line that says one thing and goes."""

from __future__ import annotations

import itertools
import os
import socket
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.channel import messages as ms
from engine.channel.address import connected
from engine.core.activity import AnyActivity
from engine.core.commands import AnyCommand
from engine.core.events import Envelope

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator


class ChannelClosed(Exception):  # noqa: N818  it is an answer, not a fault
    """Nobody is at the other end, or not any more; says why where that is known."""


class NobodyListens(ChannelClosed):
    """There is no socket to speak to: no engine, or one that starts or ends."""


def identified(command: AnyCommand) -> AnyCommand:
    """The command with an id that no other has: by it a lost reply is found in the journal, and nothing done twice."""
    return command if command.id else msgspec.structs.replace(command, id=uuid.uuid4().hex)


class Caller:
    """One connection of a command line: says one thing after another and waits for each answer."""

    def __init__(self, path: Path, version: str, timeout: float | None = None) -> None:
        """`timeout` bounds every single answer. Raises ChannelClosed when no engine listens."""
        self._calls = itertools.count(1)
        try:
            self._socket = connected(path)
        except OSError as error:
            raise NobodyListens(f"no engine listens: {os.strerror(error.errno or 0)}") from error
        self._socket.settimeout(timeout)
        self._lines = self._socket.makefile("rb")
        try:
            self._say(ms.Hello(protocol=ms.PROTOCOL, version=version))
            self.welcome = _welcome(self._hear())
        except BaseException:
            self.close()
            raise

    def tell(self, command: AnyCommand) -> ms.Reply:
        call = next(self._calls)
        self._say(ms.Tell(call=call, command=command))
        while not (isinstance(heard := self._hear(), ms.Reply) and heard.call == call):
            pass
        return heard

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _say(self, message: ms.AnySaid) -> None:
        try:
            self._socket.sendall(ms.encode(message))
        except OSError as error:
            raise ChannelClosed("the engine hung up") from error

    def _hear(self) -> ms.AnyHeard | AnyActivity | Envelope:
        try:
            line = self._lines.readline()
        except TimeoutError as error:
            raise ChannelClosed("the engine does not answer") from error
        except OSError as error:
            raise ChannelClosed("the engine hung up") from error
        return _known(line)


class Watching:
    """One viewer's connection on an event loop. `items` gives what comes; `tell` and `ask` wait for their answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, welcome: ms.Welcome) -> None:
        self.welcome = welcome
        self._reader = reader
        self._writer = writer
        self._calls = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ms.Reply | ms.Answer]] = {}

    @classmethod
    async def open(cls, path: Path, version: str, after: int) -> Watching:
        """Raises ChannelClosed when no engine listens, or when it speaks another language."""
        import asyncio

        try:
            link: socket.socket = await asyncio.to_thread(connected, path)
            reader, writer = await asyncio.open_unix_connection(sock=link, limit=1 << 26)
        except OSError as error:
            raise NobodyListens(f"no engine listens: {os.strerror(error.errno or 0)}") from error
        try:
            writer.write(ms.encode(ms.Hello(protocol=ms.PROTOCOL, version=version, watching=True, after=after)))
            return cls(reader, writer, _welcome(_known(await reader.readline())))
        except OSError as error:
            writer.close()
            raise ChannelClosed("the engine hung up") from error
        except ChannelClosed:
            writer.close()
            raise

    async def items(self) -> AsyncIterator[Envelope | AnyActivity]:
        """Facts and live activity until the engine hangs up."""
        try:
            while line := await self._reader.readline():
                heard = _known(line)
                match heard:
                    case ms.Reply() | ms.Answer():
                        waiting = self._waiting.pop(heard.call, None)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(heard)
                    case ms.Welcome() | ms.Refused():
                        pass
                    case _:
                        yield heard
        except (OSError, ValueError, ChannelClosed):
            return  # cut off, perhaps in the middle of a line
        finally:
            self.close()

    async def tell(self, command: AnyCommand) -> ms.Reply:
        call = next(self._calls)
        reply = await self._called(call, ms.Tell(call=call, command=command))
        assert isinstance(reply, ms.Reply)  # noqa: S101  the server answers a Tell with a Reply
        return reply

    async def ask(self, query: bytes) -> bytes:
        call = next(self._calls)
        answer = await self._called(call, ms.Ask(call=call, query=msgspec.Raw(query)))
        assert isinstance(answer, ms.Answer)  # noqa: S101  as above
        return bytes(answer.answer)

    async def _called(self, call: int, message: ms.AnySaid) -> ms.Reply | ms.Answer:
        """The answer, which `items` hears: somebody must be reading it."""
        import asyncio

        waiting: asyncio.Future[ms.Reply | ms.Answer] = asyncio.get_running_loop().create_future()
        self._waiting[call] = waiting
        try:
            self._writer.write(ms.encode(message))
            await self._writer.drain()
        except OSError as error:
            self._waiting.pop(call, None)
            raise ChannelClosed("the engine hung up") from error
        return await waiting

    def close(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ChannelClosed("the engine hung up"))
        self._waiting.clear()
        self._writer.close()


def _welcome(heard: object) -> ms.Welcome:
    if not isinstance(heard, ms.Welcome):
        raise ChannelClosed("the engine did not say who it is")
    return heard


def _known(line: bytes) -> ms.AnyHeard | AnyActivity | Envelope:
    if not line.endswith(b"\n"):
        raise ChannelClosed("the engine hung up")
    try:
        heard = ms.decode_heard(line)
    except ms.BadMessage as error:
        raise ChannelClosed(str(error)) from error
    if isinstance(heard, ms.Refused):
        raise ChannelClosed(f"{heard.reason} ({heard.hint})" if heard.hint else heard.reason)
    return heard
