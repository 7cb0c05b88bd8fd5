"""Is the journal still where it was? SQLite goes on writing to a file that was deleted under it, without a word."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

DESCRIPTORS = Path("/proc/self/fd")
DELETED = " (deleted)"


class Whereabouts(StrEnum):
    HERE = "here"
    MOVED = "moved"
    """With its folder: what is appended goes along."""
    GONE = "gone"


def inode(path: Path) -> int:
    """0 where there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def whereabouts(path: Path, opened: int) -> Whereabouts:
    """Of the file that was at `path` under the inode `opened` and is open in this process."""
    if inode(path) == opened:
        return Whereabouts.HERE
    try:
        for entry in DESCRIPTORS.iterdir():
            try:
                found = entry.stat()
                name = str(entry.readlink())
            except OSError:
                continue
            if found.st_ino == opened and Path(name).name == path.name and not name.endswith(DELETED):
                return Whereabouts.MOVED
    except OSError:
        pass  # no /proc: whoever cannot tell takes it for gone, and brings it back
    return Whereabouts.GONE
