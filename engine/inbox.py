"""The inbox: how a command of another process reaches the engine, or the next engine if none runs.

A command is one small JSON file in a private folder, put there by a rename, so that it is whole or not there; names
sort in the order of sending. It is taken away only after the event that acknowledges it was appended: an engine that
died in between sees it again, finds its id acknowledged in the journal, and only calls `done`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from typing import TYPE_CHECKING

import msgspec

from engine.clock import Clock, SystemClock
from engine.core.clean import clean_line
from engine.core.commands import AnyCommand

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

LARGEST = 256 * 1024
POLL_SECONDS = 1.0
"""The bell makes delivery immediate; this is for a bell that could not be rung."""
STALE_SECONDS = 3600.0
BELL = ".bell"
BAD = "bad"
_NAME = re.compile(r"\d{17}-\d+\.json")
_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


class BadCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is no command. It is out of the way already, in the folder `bad`."""

    name: str
    reason: str
    hint: str = "Send commands with `devteam answer`, `devteam pause`, `devteam stop` …"


Taken = tuple[str, AnyCommand | BadCommand]


def send(inbox: Path, command: AnyCommand, clock: Clock | None = None) -> str:
    """Put a command into the inbox, durably; returns its id, which the acknowledging event will name."""
    inbox.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Later than everything that waits, also when the clock was set back in between.
    waiting = max((int(name[:17]) for name in _names(inbox) if _NAME.fullmatch(name)), default=0)
    moment = max(int((clock or SystemClock()).now() * 1_000_000), waiting + 1)
    while True:
        stem = f"{moment:017d}-{os.getpid()}"
        whole = command if command.id else msgspec.structs.replace(command, id=stem)
        if _put(inbox, f"{stem}.json", msgspec.json.encode(whole)):
            _ring(inbox)
            return whole.id
        moment += 1


def _put(inbox: Path, name: str, data: bytes) -> bool:
    """Write a file that appears whole under its name; False if the name is taken."""
    temporary = inbox / f".{name}.tmp"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, inbox / name)  # unlike a rename, it refuses a name that is taken
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                raise
            temporary.replace(inbox / name)  # a file system without hard links
    finally:
        temporary.unlink(missing_ok=True)
    return True


def _ring(inbox: Path) -> None:
    """Wake the engine that listens; with none, nothing happens."""
    with contextlib.suppress(OSError):
        fd = os.open(inbox / BELL, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(fd, "wb", buffering=0) as bell:
            if stat.S_ISFIFO(os.fstat(bell.fileno()).st_mode):
                bell.write(b"!")


def _names(inbox: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return sorted(path.name for path in inbox.iterdir() if not path.name.startswith(".") and path.name != BAD)
    return []


class Inbox:
    """The engine's end. One at a time: whoever holds the engine's lock."""

    def __init__(self, path: Path, clock: Clock) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self._clock = clock
        self._taken: set[str] = set()
        self._sweep()

    def take(self) -> list[Taken]:
        """What arrived since the last call, in the order of sending. Never raises over a file, whatever it is."""
        new = [name for name in _names(self._path) if name not in self._taken]
        self._taken.update(new)
        return [(name, self._read(name)) for name in new]

    def done(self, name: str) -> None:
        """The command was acknowledged in the journal: it can go."""
        with contextlib.suppress(OSError):
            (self._path / name).unlink(missing_ok=True)
            self._taken.discard(name)

    async def arrivals(self) -> AsyncIterator[list[Taken]]:
        """Batches of commands as they come, first those that waited. Idle, it costs one look a second."""
        import asyncio

        rung = asyncio.Event()
        with _bell(self._path, rung):
            while True:
                rung.clear()
                if batch := self.take():
                    yield batch
                    continue
                nap = asyncio.ensure_future(self._clock.sleep(POLL_SECONDS))
                ring = asyncio.ensure_future(rung.wait())
                try:
                    await asyncio.wait((nap, ring), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    nap.cancel()
                    ring.cancel()

    def _sweep(self) -> None:
        """Senders that were killed leave half a file behind."""
        for path in self._path.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if self._clock.now() - path.lstat().st_mtime > STALE_SECONDS:
                    path.unlink()

    def _read(self, name: str) -> AnyCommand | BadCommand:
        try:
            return _decoder.decode(_bytes(self._path / name))
        except msgspec.MsgspecError as error:
            reason = f"it is not a command: {clean_line(str(error), 200)}"
        except UnicodeError:
            reason = "it is not a command: not UTF-8"
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except _Refused as refused:
            reason = str(refused)
        shown = clean_line(os.fsencode(name).decode("utf-8", "replace"), 120)
        return BadCommand(name=shown, reason=f"{shown} in the inbox was put aside: {reason}.{self._set_aside(name)}")

    def _set_aside(self, name: str) -> str:
        """Out of the way; where that fails it stays, and is not looked at again by this engine."""
        try:
            bad = self._path / BAD
            bad.mkdir(mode=0o700, exist_ok=True)
            (self._path / name).rename(bad / name)
        except OSError as error:
            return f" (It could not be moved: {error.strerror}.)"
        self._taken.discard(name)
        return f" It is in {bad}."


class _Refused(Exception):  # noqa: N818
    """Why a file is not even read."""


def _bytes(path: Path) -> bytes:
    """The content of a small regular file, without following links or waiting for pipes."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise _Refused("it is not a regular file")
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)  # again: the name may have got another file since
        if not stat.S_ISREG(status.st_mode):
            raise _Refused("it is not a regular file")
        if status.st_size > LARGEST:
            raise _Refused(f"it is larger than {LARGEST // 1024} KB")
        return os.read(fd, LARGEST)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _bell(inbox: Path, rung: asyncio.Event) -> Iterator[None]:
    """A named pipe that senders write one byte into. Where there cannot be one, the slow poll alone serves."""
    import asyncio

    loop = asyncio.get_running_loop()
    path, fd = inbox / BELL, -1
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Open for writing too: else the pipe reads as ended, again and again, once a sender has closed it.
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def hear() -> None:
        with contextlib.suppress(OSError):
            os.read(fd, 4096)
        rung.set()

    if fd < 0:
        yield
        return
    loop.add_reader(fd, hear)
    try:
        yield
    finally:
        loop.remove_reader(fd)
        os.close(fd)
        path.unlink(missing_ok=True)
