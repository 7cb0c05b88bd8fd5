"""One engine per repository: a lock that dies with its holder.

Two flocks are held: on the lock file, whose text says who holds it, and on its folder, because a lock file that is
deleted lets a second engine lock a new one of the same name. The folder must therefore be the repository's own. A third
one lies in the git directory and says where those two are: who is started with another XDG_STATE_HOME would not find
them. All are close-on-exec, so no agent inherits them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from engine.journal.journal_errors import EngineRunning, translate
from engine.state_folder import state_of_engine

if TYPE_CHECKING:
    from collections.abc import Callable

_TRIES, _PAUSE = 6, 0.02
"""A viewer that asks who holds the lock touches it for an instant: being refused once is not yet being second."""
_OF_THE_DEAD = 250
"""Tries where the holder is dead: a child that it was about to start holds the lock until it becomes its program."""


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock. pid 0: somebody does, but the file that says who is gone or unreadable."""

    pid: int = 0
    since: float = 0.0
    host: str = ""

    def words(self) -> str:
        if not self.pid:
            return "held by an engine that left no name"
        since = datetime.fromtimestamp(self.since, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        return f"held by pid {self.pid} since {since}"


class EngineLock:
    """Acquire with `EngineLock.acquire(path, clock)`; it is free again when closed or when the process ends."""

    def __init__(self, folder_fd: int, *file_fds: int) -> None:
        self._fds: tuple[int, ...] = (*file_fds, folder_fd)

    @classmethod
    def acquire(cls, path: Path, clock: Callable[[], float], sign: Path | None = None) -> Self:
        """Raises EngineRunning if another engine holds it. `sign`: the file in the git directory."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _lock(folder, path)
                file = _lock_file(path)
                try:
                    signs = () if sign is None else _put_up(sign, path)
                except BaseException:
                    os.close(file)
                    raise
            except BaseException:
                os.close(folder)
                raise
            holder = Holder(pid=os.getpid(), since=clock(), host=socket.gethostname())
            os.ftruncate(file, 0)
            os.pwrite(file, msgspec.json.encode(holder) + b"\n", 0)
        except OSError as error:
            raise translate(error, path) from error
        return cls(folder, file, *signs)

    @staticmethod
    def holder(path: Path) -> Holder | None:
        """Who runs an engine here; None: nobody. For viewers: it never keeps an engine out."""
        try:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read(path)
        finally:
            os.close(folder)
        return None

    def release(self) -> None:
        """The file stays: taking it away would race with the next engine."""
        fds, self._fds = self._fds, ()
        for fd in fds[:-1]:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, 0)
        for fd in fds:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _lock(fd: int, path: Path) -> None:
    for tried in range(_OF_THE_DEAD):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tried >= _TRIES and not _is_dead(_read(path)):
                break
            time.sleep(_PAUSE)
        else:
            return
    raise EngineRunning(
        f"Another engine works on this repository: {path} is {_read(path).words()}.",
        "Watch it with `devteam tui` or `devteam status`, or end it with `devteam stop`.",
    )


def _is_dead(holder: Holder) -> bool:
    processes = Path("/proc")
    here = holder.pid and holder.host == socket.gethostname() and (processes / "self").is_dir()
    return bool(here) and not (processes / str(holder.pid)).is_dir()


def _put_up(sign: Path, path: Path) -> tuple[int, ...]:
    """The sign, locked; nothing where the git directory cannot be written."""
    try:
        fd = os.open(sign, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return ()
    try:
        try:
            _lock(fd, path)
        except EngineRunning as running:
            if (other := state_of_engine(sign)) is None:
                raise
            raise EngineRunning(
                f"Another engine works on this repository, with its state in {other}.",
                "It was started with another XDG_STATE_HOME or by another user: watch or end it from there.",
            ) from running
        os.ftruncate(fd, 0)
        os.pwrite(fd, os.fsencode(path.parent) + b"\n", 0)
    except BaseException:
        os.close(fd)
        raise
    return (fd,)


def _lock_file(path: Path) -> int:
    """The lock on the file that bears the name now, not on one that was deleted while we waited."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _lock(fd, path)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), path.lstat()):
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _read(path: Path) -> Holder:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.MsgspecError):
        return Holder()
