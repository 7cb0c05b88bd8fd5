"""The only place that starts a process. Sandboxed where asked, read in capped chunks, ended with everything it started.

Children are started on the thread of the event loop, which must be one that lives as long as they do (the main thread):
bubblewrap's die-with-parent follows the thread that started it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from engine import files
from engine.core.sandboxes import SandboxName
from engine.perform.process.child import Child, settled
from engine.perform.process.launching import CannotStartError
from engine.perform.process.placement import PlacementRefusedError, Placements
from engine.perform.process.reaper import PROCESS_TAG, RUN_ID, Family, become_subreaper, mark_of, spare
from engine.perform.process.sandbox import SandboxMode, plan
from engine.perform.process.spawning import Conversation, Finished, OnLine, ProcessSpec
from engine.perform.process.visible_files import Ground

WAITING_BYTES = 1_048_576
"""A conversation holds this much unread output; then its child has to wait."""

LAST_WORD_SECONDS = 0.2

_detached: list[subprocess.Popen[bytes]] = []
_numbers = itertools.count(1)


class ProcessSpawner:
    """Starts processes for one run of the engine."""

    def __init__(
        self,
        mode: SandboxMode | str,
        run_id: str,
        clock: Callable[[], float],
        *,
        home: Path,
        scratch: Path,
        grace: float = 2.0,
    ) -> None:
        """`home` is the user's real HOME (to be hidden), `scratch` a folder of the engine for temporary files,
        `grace` the seconds between the request to end and the kill."""
        self._mode = mode if isinstance(mode, SandboxMode) else SandboxMode(name=_named(mode))
        self._run_id = run_id
        self._clock = clock
        self._ground = Ground(home=home, scratch=scratch)
        self._grace = grace
        self._placements = Placements(links=not self._mode.name.mounts)
        become_subreaper()

    @property
    def mode(self) -> SandboxName:
        """The sandbox mode in force."""
        return self._mode.name

    async def run(self, spec: ProcessSpec, on_line: OnLine | None = None, on_stderr: OnLine | None = None) -> Finished:
        """Run to the end. Cancelling the awaiting task ends the child and all it started before this returns."""
        with ExitStack() as stack:
            child = self._child(spec)
            try:
                await settled(self._start(child, stack, None, on_line, on_stderr))
                await asyncio.shield(child.over)
            finally:
                await settled(child.end())
        if child.failure:
            raise child.failure
        return child.finished()

    @asynccontextmanager
    async def converse(self, spec: ProcessSpec, on_stderr: OnLine | None = None) -> AsyncIterator[Conversation]:
        """Start it with stdin left open (ACP). All limits of the spec hold; leaving the block ends it."""
        with ExitStack() as stack:
            talk = Talk(self._child(_open_ended(spec)))
            try:
                await settled(self._start(talk.child, stack, talk.hear, None, on_stderr))
                talk.watch()
                yield talk
            finally:
                await settled(talk.close())
        if talk.child.failure:
            raise talk.child.failure

    def _child(self, spec: ProcessSpec) -> Child:
        number = next(_numbers)
        tag = f"{self._run_id}.{os.getpid()}.{number}"
        return Child(spec, Family(tag, mark_of(self._run_id, number), self._clock), self._clock, self._grace)

    async def _start(
        self,
        child: Child,
        stack: ExitStack,
        on_chunk: OnLine | None,
        on_line: OnLine | None,
        on_stderr: OnLine | None,
    ) -> None:
        status = os.pipe() if self._mode.name.mounts and child.spec.confine else None
        try:
            launch = plan(child.spec, self._mode, self._ground, status[1] if status else -1, child.mark)
            stack.enter_context(self._placements.held(launch.places))
        except (CannotStartError, PlacementRefusedError, OSError) as error:
            for fd in status or ():
                os.close(fd)
            child.refuse(str(error))
            return
        env = {**launch.env, RUN_ID: self._run_id, PROCESS_TAG: child.tag}

        async def spawn(stdin: int, stdout: int, stderr: int) -> asyncio.subprocess.Process:
            # Descriptors of our own instead of asyncio's pipes: then wait() means the exit, whoever still holds them.
            try:
                return await asyncio.create_subprocess_exec(
                    *launch.argv,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=launch.cwd,
                    env=env,
                    pass_fds=(status[1],) if status else (),
                    start_new_session=True,
                )
            finally:
                if status:
                    os.close(status[1])

        await child.start(spawn, status[0] if status else None, on_chunk, on_line, on_stderr)


def start_detached(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one (an engine in the background), its words in `log`."""
    with files.appending(log) as file:
        process = subprocess.Popen(  # noqa: S603 - the caller's own program
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    spare(process.pid)
    _detached.append(process)  # kept, for a forgotten one would be complained about
    return process


class Talk:
    """A conversation with a running child."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self._heard: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._finished: Finished | None = None

    @property
    def finished(self) -> Finished | None:
        """How it ended; None while it runs."""
        return self._finished

    def watch(self) -> None:
        """From now on limits and exits end it, also while nobody reads."""
        self._ending = asyncio.ensure_future(self._end())

    def hear(self, chunk: bytes) -> None:
        """A chunk of stdout."""
        self._heard.append(chunk)
        self._size += len(chunk)
        self._news.set()
        if self._size > WAITING_BYTES and self.child.reader and not self.child.over.done():
            self.child.reader.hold()

    async def read(self) -> bytes:
        """The next chunk of stdout; b"" when there will be no more."""
        reader = self.child.reader
        while not self._heard:
            if self._finished or reader is None or reader.ended.is_set():
                return b""
            self._news.clear()
            news = asyncio.ensure_future(self._news.wait())
            ended = asyncio.ensure_future(reader.ended.wait())
            try:
                await asyncio.wait([news, ended], return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
                ended.cancel()
        chunk = self._heard.popleft()
        self._size -= len(chunk)
        if reader and self._size <= WAITING_BYTES:
            reader.go_on()
        return chunk

    async def write(self, data: bytes) -> None:
        """To its stdin. What a dead or deaf process does not take is dropped: the end is seen by reading."""
        if self.child.writer:
            self.child.writer.put(data)
            await self.child.writer.flushed()

    async def stop(self) -> Finished:
        """End it and all it started."""
        await self.close()
        return self._finished or self.child.finished()

    async def close(self) -> None:
        """End it; one that has said its last word is about to exit by itself, and that is then its reason."""
        if self.child.reader and self.child.reader.ended.is_set() and not self.child.over.done():
            await asyncio.wait([self.child.over], timeout=LAST_WORD_SECONDS)
        self.child.stop()
        if self._ending is None:
            self.watch()
        if self._ending:
            await asyncio.shield(self._ending)

    async def _end(self) -> None:
        await asyncio.shield(self.child.over)
        await self.child.end()
        self._finished = self.child.finished()


def _open_ended(spec: ProcessSpec) -> ProcessSpec:
    return spec if spec.keep_stdin else msgspec.structs.replace(spec, keep_stdin=True)


def _named(mode: str) -> SandboxName:
    try:
        return SandboxName(mode)
    except ValueError:
        raise ValueError(f"{mode}: no such sandbox mode; use one of {', '.join(SandboxName)}") from None
