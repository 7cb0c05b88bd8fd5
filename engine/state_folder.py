"""Which state folder is a repository's: named by an id that the repository itself carries, so that it may be moved.

The id lies in the git directory: no clone and no stranger's repository brings one along. The folder remembers whose it
is. A copy made with `cp -r` carries the id of its original: while that is still there, the copy gets a folder of its
own, named after its own place, so that two copies that start at the same moment never look at one name. Finding reads
only; `claim` writes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path

from engine import files
from engine.core.model import Struct

ID = "devteam-id"
"""In the git directory."""
SIGN = "devteam-engine"
"""There too: held by the engine that is at work, it says which state folder that one uses."""
OWNER = "checkout"
"""In the state folder: the inode of the git directory and the path of the checkout, a line each."""
POINTER = b"gitdir: "
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,80}\Z")
SMALL = 5000


class Owner(Struct, frozen=True):
    """Whose a state folder was when it was last used."""

    inode: int
    checkout: Path


def find(parent: Path, checkout: Path, fresh: str) -> Path:
    """The state folder of a checkout, `fresh` its name where it has none yet; nothing is made on disk."""
    here = Path(os.path.realpath(checkout))
    if (running := _at_work(here)) is not None:
        return running
    carried = carried_id(here)
    if carried and not _anothers(parent / carried, here, carried=True):
        return parent / carried
    name, number = fresh, 1
    while _anothers(parent / name, here, carried == name):
        number += 1
        name = f"{fresh}-{number}"
    return parent / name


def claim(folder: Path, checkout: Path) -> None:
    """Have the repository carry its id, and the folder remember whose it is. Where the git directory cannot be
    written, the folder goes on being found by its path."""
    here = Path(os.path.realpath(checkout))
    place = git_dir(here)
    if place is None:
        return
    mine = Owner(_inode(place), here)
    if owner_of(folder) != mine:
        files.write(folder / OWNER, f"{mine.inode}\n".encode() + os.fsencode(here) + b"\n")
    if carried_id(here) != folder.name:
        with contextlib.suppress(PermissionError):
            files.write(place / ID, f"{folder.name}\n", mode=files.SHARED)


def moved_from(folder: Path, checkout: Path) -> Path | None:
    """Where the repository was when its state was last used, if it is somewhere else now."""
    owner = owner_of(folder)
    return None if owner is None or owner.checkout == Path(os.path.realpath(checkout)) else owner.checkout


def sign_of(checkout: Path) -> Path | None:
    place = git_dir(Path(os.path.realpath(checkout)))
    return None if place is None else place / SIGN


def state_of_engine(sign: Path) -> Path | None:
    """Where the engine that put up this sign keeps its state; None: none runs. For viewers."""
    try:
        fd = os.open(sign, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        words = os.pread(fd, 10_000, 0)
        return Path(os.fsdecode(words[:-1])) if words.endswith(b"\n") else None
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _at_work(here: Path) -> Path | None:
    """The state folder of the engine that is at work here, wherever its environment had it; this user's own only."""
    sign = sign_of(here)
    found = None if sign is None else state_of_engine(sign)
    with contextlib.suppress(OSError, ValueError):
        if found is not None and found.is_absolute() and found.lstat().st_uid == os.getuid():
            owner = owner_of(found)
            return found if owner is not None and owner.checkout == here else None
    return None


def _anothers(folder: Path, here: Path, carried: bool) -> bool:
    """Whether the folder is in use by another repository than the one at `here`."""
    owner = owner_of(folder)
    if owner is None or (carried and owner.checkout == here):
        return False
    if carried:  # the one it was last used for still carries it: `here` is the copy
        return carried_id(owner.checkout) == folder.name
    place = git_dir(here)
    return place is not None and owner.inode != _inode(place)


def owner_of(folder: Path) -> Owner | None:
    inode, _, path = _read(folder / OWNER).partition(b"\n")
    if not inode.isdigit() or not path.endswith(b"\n"):
        return None
    return Owner(int(inode), Path(os.fsdecode(path[:-1])))


def carried_id(checkout: Path) -> str:
    """The id a repository carries; empty: none yet."""
    place = git_dir(checkout)
    name = "" if place is None else _read(place / ID).decode("ascii", "replace").strip()
    return name if NAME.match(name) else ""


def git_dir(checkout: Path) -> Path | None:
    """The git directory of a checkout, by its `.git` folder or the pointer of a linked worktree or submodule."""
    entry = checkout / ".git"
    if entry.is_dir():
        return entry
    text = _read(entry)
    if not text.startswith(POINTER):
        return None
    place = checkout / os.fsdecode(text.removeprefix(POINTER).strip())
    return place if place.is_dir() else None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(SMALL)
    except OSError:
        return b""


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
