"""The engine's end of the channel: every fact and all live activity to each viewer, commands and queries back.

A message is encoded once, whoever listens, and what came within a frame is one write to each viewer that keeps up: it
wakes no task. What a viewer does not take waits in a bounded queue of its own: of live activity the oldest goes, and
one that is too far behind in facts is let go (it comes back and reads on from where it was). Nobody who watches can
hold the engine up.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from engine.bus import Bus, Message, Subscription
from engine.channel import messages as ms
from engine.channel.address import listening, own_peer
from engine.core.commands import AnyCommand
from engine.core.events import Envelope

LIVE_KEPT = 2_000
"""Live lines that wait for one viewer."""
FACTS_KEPT = 20_000
RECENT = 400
"""Live lines of an effect that a newcomer is shown: one under way, or one that ended after what the newcomer knows."""
ENDED_KEPT = 64
PAGE = 500
HELLO_SECONDS = 10.0
FRAME_SECONDS = 0.04
"""What comes within so many is handed on as one piece: the first at once, the rest together. No screen is faster."""
FRAME_VIEWERS = 4
"""Of more, all get it a little later: what is written in a second does not grow with those who look on."""
LONGEST_FRAME_SECONDS = 0.25
BAD_HELLO_SECONDS = 1.0
"""Before one who sent garbage is told so: whoever tries again and again does it slowly."""
MOST_OPEN = 200
"""Connections at once; one more is closed as soon as it comes."""
LAST_WORDS_SECONDS = 1.0
OLD = f"this engine speaks version {ms.PROTOCOL} of the channel: it was started by another version of devteam"

Obey = Callable[[AnyCommand], Awaitable[ms.Reply]]
"""Carries a command out; the reply's `call` is filled in here."""


class _Piece:
    """What came within one frame, encoded: facts in their order, then what is live."""

    def __init__(self) -> None:
        self.facts: list[tuple[int, bytes]] = []
        self.live: list[bytes] = []

    @cached_property
    def data(self) -> bytes:
        return b"".join((*(line for _, line in self.facts), *self.live))


class _Viewer:
    """One connection that watches: what waits to be written to it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=0)  # drained is: all of it was taken
        self._seen = 0
        """The last fact that was written."""
        self._waits = False
        """Its task has written all there was, and waits."""
        self._facts: deque[tuple[int, bytes]] = deque()
        self._live: deque[bytes] = deque(maxlen=LIVE_KEPT)
        self._ready = asyncio.Event()
        self._idle = asyncio.Event()

    def take(self, piece: _Piece) -> None:
        """Written at once to one that keeps up; queued for the others."""
        if self._keeps_up(piece):
            self._writer.write(piece.data)
            self._seen = piece.facts[-1][0] if piece.facts else self._seen
            return
        if len(self._facts) + len(piece.facts) > FACTS_KEPT:
            self._writer.transport.abort()
            return
        self._facts.extend(piece.facts)
        self._live.extend(piece.live)
        self._ready.set()
        self._idle.clear()

    def _keeps_up(self, piece: _Piece) -> bool:
        return (
            self._waits
            and not self._ready.is_set()
            and not self._writer.transport.get_write_buffer_size()
            and (not piece.facts or piece.facts[0][0] > self._seen)
        )

    async def idle(self) -> None:
        """All that was put is on its way."""
        await self._idle.wait()

    def has(self, seq: int) -> None:
        """Read from the journal up to here: these wait no longer."""
        while self._facts and self._facts[0][0] <= seq:
            self._facts.popleft()

    async def send(self, lines: Iterable[bytes]) -> None:
        self._writer.write(b"".join(lines))
        await self._writer.drain()

    async def stream(self, seen: int) -> None:
        """Facts after `seen` and what is live, as it comes."""
        self._seen = seen
        while True:
            if not self._ready.is_set():
                self._idle.set()
            self._waits = True
            await self._ready.wait()
            self._waits = False
            await self._writer.drain()
            self._ready.clear()
            facts, live = [line for seq, line in self._facts if seq > self._seen], list(self._live)
            self._seen = max([self._seen, *(seq for seq, _ in self._facts)])
            self._facts.clear()
            self._live.clear()
            await self.send((*facts, *live))


class ChannelServer:
    """Open with `serving()`; `viewers` of them watch now."""

    def __init__(
        self,
        path: Path,
        *,
        bus: Bus,
        obey: Obey,
        answer: Callable[[bytes], bytes],
        facts: Callable[[int, int], Sequence[Envelope]],
        inflight: Callable[[], Container[str]],
        welcome: Callable[[int], ms.Welcome],
        on_viewers: Callable[[int], None] = lambda _count: None,
        admitted: Callable[[int], bool] = lambda _pid: True,
    ) -> None:
        """`facts(after, limit)` reads the journal; `answer` a query, both in a thread of their own.

        `admitted` says of a process whether it may speak: an agent never may, whatever sandbox it lacks."""
        self._admitted = admitted
        self._path = path
        self._bus = bus
        self._obey = obey
        self._answer = answer
        self._facts = facts
        self._inflight = inflight
        self._welcome = welcome
        self._on_viewers = on_viewers
        self._viewers: set[_Viewer] = set()
        self._recent: dict[str, deque[bytes]] = {}
        self._ended: dict[str, int] = {}
        self._asking = asyncio.Lock()
        self._open: set[asyncio.Task[None]] = set()

    @property
    def viewers(self) -> int:
        return len(self._viewers)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listens inside the block. At its end everybody still gets what was said last, if they take it."""
        heard = self._bus.subscribe()
        spread = asyncio.create_task(self._spread(heard))
        server = await asyncio.start_unix_server(self._connected, sock=listening(self._path), limit=ms.LARGEST)
        try:
            yield
        finally:
            server.close()
            with contextlib.suppress(OSError):  # a disk that became read-only: whoever comes next replaces it
                self._path.unlink(missing_ok=True)
            heard.close()
            await spread
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    for viewer in list(self._viewers):
                        await viewer.idle()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _spread(self, heard: Subscription) -> None:
        while batch := await heard.take():
            self._hand_on(batch)
            if self._viewers and not heard.closed:
                await asyncio.sleep(frame_seconds(len(self._viewers)))

    def _hand_on(self, batch: Sequence[Message]) -> None:
        piece = _Piece()
        for message in batch:
            if not isinstance(message, Envelope):
                piece.live.append(line := ms.encode(message))
                self._recent.setdefault(message.effect, deque(maxlen=RECENT)).append(line)
            elif self._viewers:  # who comes later reads it from the journal
                piece.facts.append((message.seq, ms.encode(message)))
        for viewer in self._viewers:
            viewer.take(piece)
        facts = [message for message in batch if isinstance(message, Envelope)]
        if facts:
            self._forget_old(facts[-1].seq)

    def _forget_old(self, seq: int) -> None:
        """Of what the effects said that are over by now, the newest is kept."""
        running = self._inflight()
        for effect in self._recent:
            if effect not in running:
                self._ended.setdefault(effect, seq)
        for effect in list(self._ended)[:-ENDED_KEPT]:
            del self._ended[effect]
            del self._recent[effect]

    # ── one connection ─────────────────────────────────────────────────────────────────────────────────────────────

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        if len(self._open) > MOST_OPEN:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError, TimeoutError):
            await self._converse(reader, writer)
        await _hang_up(writer)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("socket")
        if not own_peer(peer):
            return
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                hello = ms.decode_said(await _line(reader))
        except ms.BadMessage as error:
            await asyncio.sleep(BAD_HELLO_SECONDS)
            await _say(writer, ms.Refused(reason=str(error)[:300]))
            return
        if not own_peer(peer, self._admitted):  # asked once there is something to answer: it looks through processes
            return
        try:
            if not isinstance(hello, ms.Hello) or hello.protocol != ms.PROTOCOL:
                await _say(writer, ms.Refused(reason=OLD, hint="end it with devteam stop, then devteam run"))
                return
            if not hello.watching:
                await _say(writer, self._welcome(self.viewers))
                await self._serve(reader, writer)
                return
            await self._watched(hello.after, reader, writer)
        except ms.BadMessage as error:
            await _say(writer, ms.Refused(reason=str(error)[:300]))

    async def _watched(self, after: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        viewer = _Viewer(writer)
        # Registered before the journal is read: nothing falls between the two, and what is in both is sent once.
        self._viewers.add(viewer)
        recent = [
            line
            for effect, lines in self._recent.items()
            if effect not in self._ended or self._ended[effect] > after
            for line in lines
        ]
        self._on_viewers(self.viewers)
        try:
            await _say(writer, self._welcome(self.viewers))
            serving = asyncio.create_task(self._serve(reader, writer))
            streaming = asyncio.create_task(self._stream(viewer, after, recent))
            try:
                await asyncio.wait((serving, streaming), return_when=asyncio.FIRST_COMPLETED)
            finally:
                serving.cancel()
                streaming.cancel()
                ended = await asyncio.gather(serving, streaming, return_exceptions=True)
            for one in ended:
                if isinstance(one, ms.BadMessage):
                    raise one
        finally:
            self._viewers.discard(viewer)
            self._on_viewers(self.viewers)

    async def _stream(self, viewer: _Viewer, after: int, recent: list[bytes]) -> None:
        while page := await asyncio.to_thread(self._facts, after, PAGE):
            await viewer.send(ms.encode(envelope) for envelope in page)
            after = page[-1].seq
            viewer.has(after)
            if len(page) < PAGE:  # what is newer waits in the viewer's own queue
                break
        await viewer.send(recent)
        await viewer.stream(after)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Commands and queries, one after another, until the other end closes."""
        while True:
            said = ms.decode_said(await _line(reader))
            match said:
                case ms.Tell():
                    reply = await self._obey(said.command)
                    await _say(writer, ms.Reply(call=said.call, ok=reply.ok, detail=reply.detail, late=reply.late))
                case ms.Ask():
                    async with self._asking:  # one at a time: twenty viewers ask no faster than one
                        found = await asyncio.to_thread(self._answer, bytes(said.query))
                    await _say(writer, ms.Answer(call=said.call, answer=msgspec.Raw(found)))
                case ms.Hello():
                    raise ms.BadMessage("hello is said once")


def frame_seconds(viewers: int) -> float:
    return min(LONGEST_FRAME_SECONDS, FRAME_SECONDS * max(1.0, viewers / FRAME_VIEWERS))


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line. Raises EOFError at the end, BadMessage when it is longer than any message."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError as error:
        raise ms.BadMessage(f"a message may have {ms.LARGEST} bytes") from error


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """What was written still goes out, if it is taken; a terminal that stands still holds nobody up."""
    writer.close()
    try:
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            await writer.wait_closed()
    except (OSError, TimeoutError, asyncio.CancelledError):
        writer.transport.abort()


async def _say(writer: asyncio.StreamWriter, message: ms.AnyHeard) -> None:
    writer.write(ms.encode(message))
    await writer.drain()
