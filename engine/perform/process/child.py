"""One running child: its pipes, its timers, and its end together with everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, assert_never

from engine.perform.process.file_changes import LOOK_SECONDS, FileChanges, Seen
from engine.perform.process.pump import Lines, PipeReader, PipeWriter, Tail
from engine.perform.process.reaper import Family
from engine.perform.process.spawning import Ending, Finished, OnLine, ProcessSpec

STDOUT_TAIL = 262_144
STDERR_TAIL = 65_536
LIVELY_SECONDS = 60.0
"""A child that said something this lately is at work."""
STOOD_STILL_SECONDS = 1.0
"""A timer that fires later than this says that the engine stood still (Ctrl+Z, SIGSTOP, a machine out of breath)."""
DRAIN_SECONDS = 0.25
"""After the end: how long to wait for bytes that are still in a pipe."""
KILL_SECONDS = 2.5

T = TypeVar("T")
Spawn = Callable[[int, int, int], Awaitable[asyncio.subprocess.Process]]
"""Starts the process on these descriptors: stdin, stdout, stderr."""


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """Await something that must be finished once begun; a cancellation is passed on after it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()


class Child:
    """From start to end. `over` holds the reason as soon as one is known; `end` must be awaited after `start`."""

    def __init__(self, spec: ProcessSpec, family: Family, clock: Callable[[], float], grace: float) -> None:
        self.spec = spec
        self.reader: PipeReader | None = None
        self.writer: PipeWriter | None = None
        self.error = ""
        self.failure: Exception | None = None
        self._family = family
        self._clock = clock
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[Ending] = self._loop.create_future()
        self._process: asyncio.subprocess.Process | None = None
        self._exit: asyncio.Task[int] | None = None
        self._namespace = False
        self._executed = True
        self._status = b""
        self._errors: PipeReader | None = None
        self._states: PipeReader | None = None
        self._out, self._err = Tail(STDOUT_TAIL), Tail(STDERR_TAIL)
        self._lines: list[Lines] = []
        self._total = 0
        self._began = clock()
        self._seconds = 0.0
        self._heard = self._loop.time()
        self._armed = 0.0
        # Only a program that may be given more time is looked after.
        worked_in = spec.confine.clone if spec.confine is not None and spec.longest else None
        self._slow, self._silent = FileChanges(worked_in), FileChanges(worked_in)
        self._timers: list[asyncio.TimerHandle] = []

    @property
    def tag(self) -> str:
        return self._family.tag

    @property
    def mark(self) -> int:
        return self._family.mark

    def refuse(self, why: str) -> None:
        """It is not even tried."""
        self.error = why
        self._decide("not_started")

    async def start(
        self,
        spawn: Spawn,
        status: int | None,
        on_chunk: OnLine | None = None,
        on_line: OnLine | None = None,
        on_stderr: OnLine | None = None,
    ) -> None:
        """Start it and all that watches it. `status` is where bubblewrap tells of itself, if it is used."""
        self._namespace = status is not None
        feeding = self.spec.stdin is not None or self.spec.keep_stdin
        stdin = os.pipe() if feeding else (os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), -1)
        out, err = os.pipe(), os.pipe()
        try:
            self._process = await spawn(stdin[0], out[1], err[1])
        except (OSError, ValueError) as error:
            self.refuse(f"{self.spec.argv[0]}: {error}")
        finally:
            for fd in (stdin[0], out[1], err[1]):
                os.close(fd)
        if self._process is None:
            for fd in (stdin[1], out[0], err[0], -1 if status is None else status):
                if fd >= 0:
                    os.close(fd)
            return
        self._family.born(self._process.pid)
        self._exit = self._loop.create_task(self._watch(self._process))
        self.reader = PipeReader(self._loop, out[0], self._sink(self._out, on_chunk, on_line))
        self._errors = PipeReader(self._loop, err[0], self._sink(self._err, None, on_stderr))
        if status is not None:
            self._states = PipeReader(self._loop, status, self._note_status)
        if feeding:
            self.writer = PipeWriter(self._loop, stdin[1])
            self.writer.put(self.spec.stdin or b"", last=not self.spec.keep_stdin)
        self._armed = self._loop.time()
        self._arm_timeout(self.spec.timeout)
        if self.spec.idle_timeout > 0:
            idle_due = self._loop.time() + self.spec.idle_timeout
            self._timers.append(self._loop.call_later(self.spec.idle_timeout, self._look_idle, idle_due))

    def stop(self) -> None:
        """Somebody wants it to end."""
        self._decide("cancelled")

    async def end(self) -> None:
        """Nothing of it is alive after this, within the grace and KILL_SECONDS; its last words have been read."""
        for timer in self._timers:
            timer.cancel()
        self._decide("cancelled")
        if self._process is None or self._exit is None:
            self._family.forget()
            return
        if self.writer:
            self.writer.close()
        if not self._exit.done() and self.spec.graceful and self.over.result() != "flood":
            self._family.ask(namespace=self._namespace)
            await asyncio.wait([self._exit], timeout=self._grace)
        if self._states:
            self._states.read_now()
        left = await self._family.end(KILL_SECONDS)
        await asyncio.wait([self._exit], timeout=1.0)
        if left:
            self.error = f"did not end although killed: {', '.join(map(str, left))}"
        await self._drain()
        self._seconds = self._clock() - self._began
        if self._namespace and self.over.result() == "exited" and not self._executed:
            words = self._err.value().decode("utf-8", "replace").strip()
            self.error = words or "the sandbox ended before the program began"

    def finished(self) -> Finished:
        """The report, after `end`."""
        reason = self.over.result()
        code = self._process.returncode if self._process else None
        if self._namespace and code is not None:
            if reason == "exited" and not self._executed:
                reason, code = "not_started", None
            elif reason != "exited" and code > 128:
                code = 128 - code  # ended by us: bubblewrap's way to tell the signal
        return Finished(
            reason=reason,
            exit_code=code,
            stdout=self._out.value(),
            stderr=self._err.value(),
            seconds=self._seconds,
            dropped=sum(lines.dropped for lines in self._lines),
            error=self.error,
        )

    async def _watch(self, process: asyncio.subprocess.Process) -> int:
        # Its exit, not the end of its output: a grandchild may hold the pipe for ever.
        code = await process.wait()
        self._family.left()
        self._decide("exited")
        return code

    async def _drain(self) -> None:
        readers = [reader for reader in (self.reader, self._errors, self._states) if reader]
        for reader in readers:
            reader.go_on()
        waits = [asyncio.ensure_future(reader.ended.wait()) for reader in readers if not reader.ended.is_set()]
        if waits:
            await asyncio.wait(waits, timeout=DRAIN_SECONDS)
            for wait in waits:
                wait.cancel()
        for reader in readers:
            reader.close()
        for lines in self._lines:
            self._guarded(lines.close)
        if self._namespace:
            # Killed from outside it could not tell.
            code = self._process.returncode if self._process else None
            self._executed = "exit-code" in self._said() or (code is not None and code < 0)

    def _said(self) -> dict[str, Any]:
        """What bubblewrap told: an exit code only when the program was really begun."""
        said: dict[str, Any] = {}
        for line in self._status.splitlines():
            with contextlib.suppress(ValueError):
                said |= json.loads(line)
        return said

    def _note_status(self, chunk: bytes) -> None:
        self._status = (self._status + chunk)[-4096:]
        self._family.has_init(int(self._said().get("child-pid", 0)))

    def _sink(self, tail: Tail, on_chunk: OnLine | None, on_line: OnLine | None) -> Callable[[bytes], None]:
        lines = None
        if on_line:
            lines = Lines(on_line, self.spec.max_line, self.spec.max_rate, self._clock)
            self._lines.append(lines)
        passing = on_chunk or (lines.feed if lines else None)

        def take(chunk: bytes) -> None:
            self._heard = self._loop.time()
            self._total += len(chunk)
            if self._total > self.spec.max_total:
                self._decide("flood")
                return
            tail.add(chunk)
            if passing and self.failure is None:
                self._guarded(lambda: passing(chunk))

        return take

    def _guarded(self, call: Callable[[], None]) -> None:
        """A listener that fails ends the child, and its error goes to whoever awaits the end."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - kept, and raised by the side that awaits
            self.failure = self.failure or error
            self._decide("cancelled")

    def _decide(self, reason: Ending) -> None:
        if not self.over.done():
            self.over.set_result(reason)

    def _arm_timeout(self, seconds: float) -> None:
        self._timers.append(self._loop.call_later(seconds, self._time_is_up, self._loop.time() + seconds))

    def _time_is_up(self, due: float) -> None:
        late = self._loop.time() - due
        if late > STOOD_STILL_SECONDS:
            # We were stopped, not the child: what it said meanwhile, and its end, are read before a timer is believed.
            self._arm_timeout(min(late, self.spec.timeout))
        elif (more := self._extension()) > 0:
            self._arm_timeout(more)
        else:
            self._decide("timeout")

    def _extension(self) -> float:
        """Seconds more for a child that still works: ended now, its work would only be paid for again."""
        now = self._loop.time()
        left = self.spec.longest - (now - self._armed)
        more = max(1.0, self.spec.timeout / 2)
        if left > 0 and now - self._heard > min(LIVELY_SECONDS, self.spec.timeout):
            more = self._by_files(self._slow, more)
        return min(left, more)

    def _by_files(self, changes: FileChanges, more: float) -> float:
        """The same for one that says nothing: `more` if its files change, a little for a second look, else none."""
        match changes.look():
            case Seen.CHANGED:
                return more
            case Seen.FIRST:
                return min(LOOK_SECONDS, self.spec.timeout)
            case Seen.STILL:
                return 0.0
            case never:
                assert_never(never)

    def _look_idle(self, due: float = 0.0) -> None:
        now = self._loop.time()
        if due and now - due > STOOD_STILL_SECONDS:
            self._heard = now
        rest = self._heard + self.spec.idle_timeout - now
        if rest <= 0:
            rest = self._by_files(self._silent, self.spec.idle_timeout)
        if rest <= 0:
            self._decide("idle")
        else:
            self._timers.append(self._loop.call_later(rest, self._look_idle, now + rest))
