"""Places for mounts inside a clone an agent may have written: made without following any link, and taken away again."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.model import Struct

LARGEST_LOGIN = 1_000_000


class PlacementRefusedError(Exception):
    """A mount cannot be placed; the words say where."""


class Place(Struct, frozen=True, kw_only=True):
    """One spot beneath `root` where `source` shall appear."""

    root: Path
    relative: Path
    source: Path
    writable: bool = False


class Placements:
    """Mount points (bubblewrap) or links to the source (no mounts there), shared by processes on the same clone."""

    def __init__(self, *, links: bool) -> None:
        self._links = links
        self._users: Counter[Place] = Counter()
        self._made: set[Place] = set()

    @contextlib.contextmanager
    def held(self, places: Iterable[Place]) -> Iterator[None]:
        """Make the places for the time of one process."""
        taken: list[Place] = []
        try:
            for place in places:
                if not self._users[place] and self._make(place):
                    self._made.add(place)
                self._users[place] += 1
                taken.append(place)
            yield
        finally:
            for place in reversed(taken):
                self._users[place] -= 1
                if not self._users[place]:
                    del self._users[place]
                    if place in self._made:
                        self._made.discard(place)
                        self._remove(place)

    def _make(self, place: Place) -> bool:
        """True when something was made that has to go again."""
        name = place.relative.name
        folder = _folder(place)
        try:
            try:
                there = os.lstat(name, dir_fd=folder)
            except FileNotFoundError:
                return self._create(place, name, folder)
            if stat.S_ISLNK(there.st_mode):
                if self._links and os.readlink(name, dir_fd=folder) == str(place.source):
                    return True  # left by an engine that was killed
                raise PlacementRefusedError(
                    f"{place.root / place.relative} is a symbolic link; nothing is mounted through it"
                )
            if not self._links:
                return False
            # An empty folder is a mount point from another mode; a filled one is the clone's own and stays.
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=folder)
                return self._create(place, name, folder)
            return False
        finally:
            os.close(folder)

    def _create(self, place: Place, name: str, folder: int) -> bool:
        if self._links:
            os.symlink(place.source, name, dir_fd=folder)
            return True
        if place.source.is_dir():
            os.mkdir(name, 0o755, dir_fd=folder)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=folder))
        return True

    def _remove(self, place: Place) -> None:
        """Only a link to the source, an empty file or an empty folder is ours to take away.

        A writable file (a login) that was saved by a rename over our link goes to where the link led: else the token
        that the provider has replaced would stay in the user's file.
        """
        name = place.relative.name
        with contextlib.suppress(OSError, PlacementRefusedError):
            folder = _folder(place)
            try:
                there = os.lstat(name, dir_fd=folder)
                if self._links and place.writable and stat.S_ISREG(there.st_mode) and there.st_size:
                    _give_back(name, folder, place.source)
                elif stat.S_ISDIR(there.st_mode):
                    os.rmdir(name, dir_fd=folder)
                elif (stat.S_ISREG(there.st_mode) and there.st_size == 0) or (
                    stat.S_ISLNK(there.st_mode) and os.readlink(name, dir_fd=folder) == str(place.source)
                ):
                    os.unlink(name, dir_fd=folder)
            finally:
                os.close(folder)


def _give_back(name: str, folder: int, source: Path) -> None:
    """Into the same file, not in its place: owner, mode and links of the user's file stay."""
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
        data = file.read(LARGEST_LOGIN + 1)
    if len(data) > LARGEST_LOGIN or not source.is_file():
        return
    with os.fdopen(os.open(source, os.O_WRONLY | os.O_CLOEXEC), "wb") as kept:
        kept.write(data)
        kept.truncate()
    os.unlink(name, dir_fd=folder)


def _folder(place: Place) -> int:
    """A descriptor of the folder that holds the place, reached and made step by step, no link followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    at = os.open(place.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in place.relative.parts[:-1]:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=at)
            below = os.open(part, flags, dir_fd=at)
        except OSError as error:
            raise PlacementRefusedError(
                f"{place.root / place.relative}: {part} is not a folder of the clone ({error.strerror})"
            ) from error
        finally:
            os.close(at)
        at = below
    return at
