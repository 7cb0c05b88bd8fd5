"""Pipes of a child, pumped by the event loop: capped chunks in, whole lines out, stdin written beside the reading."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

CHUNK = 65_536
CUT = b" [cut: line longer than %d bytes]"


class Tail:
    """The last bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._held = bytearray()

    def add(self, chunk: bytes) -> None:
        self._held += chunk
        if len(self._held) > 2 * self._cap:
            del self._held[: -self._cap]

    def value(self) -> bytes:
        return bytes(self._held[-self._cap :])


class InBlocks:
    """A hearer of whole lines, many at once: what one chunk holds comes as one block, without its last newline.

    A million short lines cost what their bytes cost, not a million calls.
    """

    def __init__(self, hear: Callable[[bytes], None]) -> None:
        self.block = hear

    def __call__(self, line: bytes) -> None:
        self.block(line)


class Lines:
    """Cuts chunks into lines (without their newline), shortens long ones, passes at most `rate` a second."""

    def __init__(self, emit: Callable[[bytes], None], max_line: int, rate: int, clock: Callable[[], float]) -> None:
        self.dropped = 0
        self._emit = emit
        self._block = emit.block if isinstance(emit, InBlocks) and not rate else None
        self._max = max_line
        self._rate = rate
        self._clock = clock
        self._held = bytearray()
        self._over = False
        self._second = 0.0
        self._passed = 0

    def feed(self, chunk: bytes) -> None:
        if self._block is not None and self._max >= len(chunk):
            self._feed_block(chunk)
            return
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            if self._held or self._over or len(part) > self._max:
                self._hold(part)
                self._release()
            else:
                self._pass(part)
        self._hold(rest)

    def _feed_block(self, chunk: bytes) -> None:
        begin, end = 0, chunk.rfind(b"\n")
        if end >= 0 and (self._held or self._over):
            begin = chunk.index(b"\n") + 1
            self._hold(chunk[: begin - 1])
            self._release()
        if begin <= end:
            self._emit(chunk[begin:end])
        self._hold(chunk[end + 1 :])

    def close(self) -> None:
        """The stream is over: what has no newline is a line too."""
        if self._held or self._over:
            self._release()

    def _hold(self, part: bytes) -> None:
        room = self._max - len(self._held)
        if len(part) > room:
            self._over = True
            part = part[:room]
        self._held += part

    def _release(self) -> None:
        line = bytes(self._held)
        if self._over:
            line += CUT % self._max
        self._held.clear()
        self._over = False
        self._pass(line)

    def _pass(self, line: bytes) -> None:
        if self._rate:
            now = self._clock()
            if now - self._second >= 1.0:
                self._second, self._passed = now, 0
            self._passed += 1
            if self._passed > self._rate:
                self.dropped += 1
                return
        self._emit(line)


class PipeReader:
    """Hands on what comes out of a pipe, chunk by chunk. Whoever needs time holds it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, sink: Callable[[bytes], None]) -> None:
        self.ended = asyncio.Event()
        self._loop = loop
        self._fd = fd
        self._sink = sink
        self._held = False
        os.set_blocking(fd, False)
        loop.add_reader(fd, self._ready)

    def hold(self) -> None:
        if not self._held and self._fd >= 0:
            self._held = True
            self._loop.remove_reader(self._fd)

    def go_on(self) -> None:
        if self._held and self._fd >= 0:
            self._held = False
            self._loop.add_reader(self._fd, self._ready)

    def read_now(self) -> None:
        """What is there, without waiting for the loop's turn."""
        if self._fd >= 0:
            self._ready()

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
        self.ended.set()

    def _ready(self) -> None:
        try:
            chunk = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            self._sink(chunk)
        else:
            self.close()


class PipeWriter:
    """Feeds stdin while the output is being read, so that a child that never reads cannot block us."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._waiting = bytearray()
        self._last = False
        self._idle = asyncio.Event()
        self._idle.set()
        os.set_blocking(fd, False)

    @property
    def closed(self) -> bool:
        return self._fd < 0

    def put(self, data: bytes, *, last: bool = False) -> None:
        """Queue; with `last` stdin is closed once all is written."""
        if self._fd < 0:
            return
        self._last = self._last or last
        busy = bool(self._waiting)
        self._waiting += data
        if not busy:
            self._ready()
            if self._waiting and self._fd >= 0:
                self._idle.clear()
                self._loop.add_writer(self._fd, self._ready)

    async def flushed(self) -> None:
        """All was taken by the child, or the child is not there to take it."""
        await self._idle.wait()

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1
        self._waiting.clear()
        self._idle.set()

    def _ready(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while self._waiting:
                    with memoryview(self._waiting) as view:
                        written = os.write(self._fd, view[:CHUNK])
                    del self._waiting[:written]
            except (BrokenPipeError, ConnectionError):
                self.close()
                return
        if not self._waiting:
            self._loop.remove_writer(self._fd)
            self._idle.set()
            if self._last:
                self.close()
