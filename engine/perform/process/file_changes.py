"""Whether a child that says nothing still works: its files change between two looks."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

LOOK_SECONDS = 5.0
"""Between the first look and the second."""
MOST = 20_000
"""Files and folders of one look: it must not hold up the engine."""


class Seen(StrEnum):
    FIRST = "first"
    """There was no look before: look again soon."""
    CHANGED = "changed"
    STILL = "still"


class FileChanges:
    """Two looks at a folder. Only taken when a timer has run out, so that a working child costs nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._before: int | None = None

    def look(self) -> Seen:
        if self._folder is None:
            return Seen.STILL
        before, self._before = self._before, newest(self._folder)
        if before is None:
            return Seen.FIRST
        if self._before > before:
            self._before = None
            return Seen.CHANGED
        return Seen.STILL


def newest(folder: Path, most: int = MOST) -> int:
    """The latest change below a folder in nanoseconds, as its file system has it."""
    latest, seen = 0, 0
    waiting = [str(folder)]
    while waiting and seen < most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    latest = max(latest, entry.stat(follow_symlinks=False).st_mtime_ns)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue  # it went while we looked: that is a change the next look sees in its folder
    return latest
