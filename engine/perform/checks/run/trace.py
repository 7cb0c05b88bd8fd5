"""Which files a check reads, by access times: put far into the past when the room is filled, looked at afterwards.

Under `relatime` the first read after that moves the time, also through a read-write bind mount. A file is compared with
the value that was set, not with its modification time (a check may touch it). It works once: each trace fills its room.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from engine import files

PAST = 978_307_200_000_000_000
"""2001-01-01, in nanoseconds: before every modification time that matters, and more than a day ago."""


def arm(folder: Path, files: Iterable[str]) -> tuple[str, ...]:
    """Set the access time of each file; links and what is no plain file are left out. Returns those that were set."""
    armed = []
    for name in files:
        path = folder / name
        try:
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                os.utime(path, ns=(PAST, status.st_mtime_ns), follow_symlinks=False)
                armed.append(name)
        except OSError:
            continue
    return tuple(armed)


def read_since(folder: Path, armed: Iterable[str]) -> tuple[str, ...]:
    """Those whose access time is another now, or which are not there any more."""
    moved = []
    for name in armed:
        try:
            if (folder / name).lstat().st_atime_ns != PAST:
                moved.append(name)
        except OSError:
            moved.append(name)
    return tuple(moved)


def works_in(folder: Path) -> bool:
    """Whether reading moves access times there: not under noatime, on an overlay or on a read-only mount."""
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write(probe, b"x", durable=False)
        os.utime(probe, ns=(PAST, PAST + 1))
        probe.read_bytes()
        return probe.stat().st_atime_ns != PAST
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
