"""A disk for SQLite that is slow to keep its word: what was not synced may be lost or torn when the power goes, writes
and syncs fail when the seed says so. Lies in memory where the machine has such a place."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

NAME = "simulated"
BASE = "unix"
SECTOR = 512


class PowerOff(BaseException):
    """The machine is off. Nothing catches it."""


@dataclass
class Disk:
    """The state that all files share; one is in use at a time."""

    rng: random.Random
    failing: float = 0.0
    """How likely a write or a sync fails."""
    dying: float = 0.0
    """How likely the power goes at a write or a sync."""
    dead: bool = False
    """The power is off: nothing reaches the disk any more."""
    unsynced: dict[str, list[tuple[int, bytes, bytes]]] = field(default_factory=dict)
    """By file: place, what was there, what was written; in order."""
    tears: int = 0
    failures: int = 0

    def wrote(self, name: str, place: int, old: bytes, new: bytes) -> None:
        self.unsynced.setdefault(name, []).append((place, old, new))

    def synced(self, name: str) -> None:
        self.unsynced.pop(name, None)

    def fails(self) -> bool:
        if self.rng.random() < self.dying:
            self.dead = True
            raise PowerOff
        failed = self.rng.random() < self.failing
        self.failures += failed
        return failed

    def lose_power(self) -> None:
        """What was not synced: some of it arrived, one write is torn, the rest never came."""
        for name, writes in self.unsynced.items():
            path = Path(name)
            if not path.exists():
                continue
            arrived = self.rng.randrange(len(writes) + 1)
            with path.open("r+b") as file:
                size = path.stat().st_size
                for place, old, new in reversed(writes[arrived:]):
                    file.seek(place)
                    file.write(old)
                    if len(old) < len(new):  # it had made the file longer
                        size = min(size, place + len(old))
                if arrived < len(writes) and self.rng.random() < 0.7:
                    place, _old, new = writes[arrived]
                    part = new[: self.rng.randrange(0, len(new) + 1, SECTOR) if len(new) >= SECTOR else 0]
                    file.seek(place)
                    file.write(part)
                    size = max(size, place + len(part))
                    self.tears += 1
                file.truncate(size)
        self.unsynced = {}
        self.dead = False


class Files(apsw.VFS):
    """The default file system, with a `Disk` under the files that are written."""

    def __init__(self) -> None:
        super().__init__(NAME, BASE, makedefault=True)
        self.disk: Disk | None = None

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return File(name, flags, self)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if self.disk is not None and self.disk.dead:
            return
        if self.disk is not None:
            self.disk.synced(filename)
        try:
            super().xDelete(filename, syncdir)
        except apsw.IOError:  # what is gone already is deleted: the wrapper loses the code by which SQLite knows it
            if Path(filename).exists():
                raise


class File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], files: Files) -> None:
        super().__init__(BASE, name, flags)
        self._files = files
        self._name = str(name.filename()) if isinstance(name, apsw.URIFilename) else str(name or "")

    @property
    def _disk(self) -> Disk | None:
        return self._files.disk if self._name else None

    def xWrite(self, data: bytes, offset: int) -> None:
        disk = self._disk
        if disk is None:
            super().xWrite(data, offset)
            return
        if disk.dead:
            return
        if disk.fails():
            raise apsw.FullError("the disk is full") if disk.rng.random() < 0.5 else apsw.IOError("the disk fails")
        size = super().xFileSize()
        had = super().xRead(min(len(data), size - offset), offset) if offset < size else b""
        disk.wrote(self._name, offset, had, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        disk = self._disk
        if disk is None:
            return  # in memory there is nothing to gain
        if disk.dead:
            return
        if disk.fails():
            raise apsw.IOError("the disk does not sync")
        disk.synced(self._name)

    def xTruncate(self, newsize: int) -> None:
        disk = self._disk
        if disk is not None and disk.dead:
            return
        super().xTruncate(newsize)


_FILES: list[Files] = []


@contextlib.contextmanager
def spinning(disk: Disk) -> Iterator[Disk]:
    """Every journal opened in the block lies on this disk."""
    files = _FILES[0] if _FILES else Files()
    if not _FILES:
        _FILES.append(files)
    files.disk = disk
    apsw.set_default_vfs(NAME)
    try:
        yield disk
    finally:
        files.disk = None
        apsw.set_default_vfs(BASE)  # what comes after in this process has the real files


def place() -> str | None:
    """Where temporary files cost no disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
