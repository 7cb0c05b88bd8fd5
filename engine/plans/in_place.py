"""Changing a file that the user edits at the same time: our change is made in what is there now, theirs is never lost.

A change that keeps the length (a checkbox) is written over the same bytes of the same file, so that whoever appends
meanwhile loses nothing. Any other change puts a new file in the old one's place by an exchange that gives the old one
back: what came into it after we had read it is seen and carried over.
"""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from engine import files

TRIES = 50
LATE_SECONDS = (0.0, 0.005, 0.02, 0.05)
"""When the replaced file is looked at again: a writer that had it open may still be writing."""
PIECE = 1024
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

Edit = Callable[[bytes], bytes]


class UnsettledError(OSError):
    """Somebody keeps rewriting the file."""


def change(path: Path, edit: Edit) -> bool:
    """Put `edit` of the file's content into the file; whether anything changed. Raises OSError."""
    target = Path(os.path.realpath(path))  # `resolve` has an error of its own for a link that leads to itself
    for _ in range(TRIES):
        old = files.ordinary(target)
        new = edit(old)
        if new == old:
            return False
        if _overwritten(target, old, new) if len(new) == len(old) else _exchanged(target, old, new):
            return True
    raise UnsettledError(errno.EBUSY, "it is being rewritten all the time", str(path))


def _overwritten(path: Path, old: bytes, new: bytes) -> bool:
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        # What was appended since is none of our business; what stands before it must be what we read.
        if os.pread(fd, len(old), 0) != old:
            return False
        for start, part in _differences(old, new):
            os.pwrite(fd, part, start)
        os.fsync(fd)
        try:
            return os.path.samestat(os.fstat(fd), path.stat())
        except FileNotFoundError:
            return False
    finally:
        os.close(fd)


def _differences(old: bytes, new: bytes) -> Iterator[tuple[int, bytes]]:
    """Where two texts of one length differ, and what the new one has there; a long one is compared piece by piece."""
    for at in range(0, len(old), PIECE):
        if old[at : at + PIECE] == new[at : at + PIECE]:
            continue
        start = -1
        for index in range(at, min(at + PIECE, len(old))):
            if old[index] != new[index] and start < 0:
                start = index
            elif old[index] == new[index] and start >= 0:
                yield start, new[start:index]
                start = -1
        if start >= 0:
            yield start, new[start : at + PIECE]


def _exchanged(path: Path, old: bytes, new: bytes) -> bool:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    spare = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        spare.chmod(path.stat().st_mode & 0o7777)
        if not _exchange(spare, path):
            if path.read_bytes() != old:
                return False
            spare.replace(path)
            return True
        return _carried_over(path, spare, old, new)
    finally:
        spare.unlink(missing_ok=True)


def _carried_over(path: Path, spare: Path, old: bytes, new: bytes) -> bool:
    """The file we replaced lies at `spare` now: what was written to it after we had read it is kept."""
    known = old
    for pause in LATE_SECONDS:
        time.sleep(pause)
        found = spare.read_bytes()
        if found == known:
            continue
        if found.startswith(known):
            with path.open("ab") as file:
                file.write(found[len(known) :])
            known = found
            continue
        # Rewritten while we looked away: theirs goes back, unless ours was rewritten too, which is newer still.
        if known == old and path.read_bytes() == new:
            _exchange(spare, path)
            return False
        return True
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Two files change places in one moment; False where the system cannot do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.ENOTTY):
        return False
    raise OSError(number, os.strerror(number), str(other))
