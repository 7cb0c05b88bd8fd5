"""The one writer of files: whole or not at all, for their owner only unless said otherwise, never through a link.

`durable` means that the file and its name survive a power loss; what can be made again does without.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from io import FileIO
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
PRIVATE_FOLDER = 0o700
SHARED = 0o644
"""For what lies in the user's own repository."""

_ORDINARY = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK)


def ordinary(path: Path) -> bytes:
    """What a file holds that has to be an ordinary one: a pipe of that name would be waited for, for ever."""
    fd = os.open(path, _ORDINARY)
    try:
        kind = os.fstat(fd).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "not an ordinary file", str(path))
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def write(path: Path, data: bytes | str, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """Put a file in place of whatever is there under its name. A link is replaced, not followed."""
    made = _made(path, data, mode, durable)
    try:
        os.replace(made, path)  # noqa: PTH105
    except BaseException:
        _away(made)
        raise
    if durable:
        sync(path.parent)


def write_new(path: Path, data: bytes | str, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """A file that appears whole under a free name; FileExistsError where the name is taken."""
    made = _made(path, data, mode, durable)
    try:
        os.link(made, path)  # unlike a rename, it refuses a name that is taken
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(made, path)  # noqa: PTH105
    finally:
        _away(made)
    if durable:
        sync(path.parent)


def hand_over(path: Path, data: bytes | str) -> None:
    """What the user asked for under a name of their own: a file is replaced whole, where their link leads; a device, a
    pipe or a socket is written to, as a shell's `>` would, and is there afterwards."""
    with contextlib.suppress(FileNotFoundError):
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            with path.open("wb") as out:  # a folder is refused here by its name
                out.write(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
            return
    write(path.resolve(), data, mode=SHARED, durable=False)


def hand_over_more(path: Path, data: bytes | str) -> None:
    """The same at the end of what is there, as a shell's `>>` would."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, SHARED)
    with os.fdopen(fd, "wb", buffering=0) as out:
        _write_all(out, data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)


def must_take(path: Path, *, more: bool = False) -> None:
    """Raises OSError where nothing could be handed over under this name now (`more`: at the end of what is there);
    nothing is left behind, and folders that are missing are not made yet."""
    with contextlib.suppress(FileNotFoundError):
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        if more or not stat.S_ISREG(kind):
            return
    folder = Path(os.path.realpath(path)).parent
    while not os.path.lexists(folder):
        folder = folder.parent
    try:
        _away(_made(folder / path.name, b"", PRIVATE, durable=False))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def write_inside(folder: Path, name: str, text: str) -> None:
    """Put a file into a folder that an agent had before us: a link it left there is removed, never written through."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    private_folder(folder)
    path = folder / name
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, _NEW, PRIVATE), "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def appending(path: Path, *, mode: int = PRIVATE, buffering: int = -1) -> BinaryIO:
    """A log, open for more at its end; its folder is made. The caller closes it."""
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode), "ab", buffering=buffering)


def private_folder(path: Path) -> Path:
    """Make a folder, and what is missing above it, for its owner only."""
    if not os.path.isdir(path):  # noqa: PTH112 - nearly always there, and asked for every log and record
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    return path


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _made(path: Path, data: bytes | str, mode: int, durable: bool) -> str:
    """A whole file beside its place; the caller gives it its name or takes it away."""
    made = f"{path.parent}/.{path.name[:60]}.{os.urandom(8).hex()}.tmp"
    fd = os.open(made, _NEW, mode)
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            os.fchmod(fd, mode)  # the umask has no say
            _write_all(file, data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
            if durable:
                os.fsync(fd)
    except BaseException:
        _away(made)
        raise
    return made


def _write_all(file: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _away(made: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(made)  # noqa: PTH108
