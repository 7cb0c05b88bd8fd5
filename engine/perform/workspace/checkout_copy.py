"""A copy of the user's checkout with all that a clone does not have, for one question: do the checks go as well there?

The user's files are only read. Which files of the copy a check read is seen by their access times: put before their
modification times, the first read moves them.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.model import Struct
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.ignore import LITTER
from engine.perform.workspace.store import Store

OURS = frozenset((".git", ".devteam"))
CACHES = frozenset(name.decode().rstrip("/") for name in LITTER if name.endswith(b"/") and b"*" not in name)
DAY = 86_400 * 10**9
MOST_BYTES = 4 * 10**9
ALIKE = 12
"""More copied files of one folder than this are named by a pattern."""


class Copied(Struct, frozen=True, kw_only=True):
    folder: Path
    files: dict[str, int]
    """Path to the access time it was given."""


def is_cache(path: str) -> bool:
    """What tools leave behind as they go: no check reads it to judge somebody."""
    name = path.rpartition("/")[2]
    return name in CACHES or name.endswith((".pyc", ".pyo", ".swp", ".egg-info")) or name.startswith(".coverage")


def copy_checkout(store: Store, dest: Path, leave: Iterable[Path] = ()) -> Copied:
    """Every file of the checkout but git's, ours, caches and what is carried; links as links."""
    checkout = store.repo.checkout
    left = {os.fspath(path) for path in leave}
    store.grave.discard(dest)
    dest.mkdir(parents=True, mode=0o700)
    files: dict[str, int] = {}
    size = 0
    for source, relative in _walk(os.fspath(checkout), left):
        target = dest / relative
        status = os.lstat(source)
        if stat.S_ISDIR(status.st_mode):
            target.mkdir(exist_ok=True)
        elif stat.S_ISLNK(status.st_mode):
            target.symlink_to(Path(source).readlink())
        elif stat.S_ISREG(status.st_mode):
            size += status.st_size
            if size > MOST_BYTES:
                raise WorkspaceError(f"{checkout} holds more than {MOST_BYTES // 10**9} GB besides its dependencies")
            try:
                shutil.copyfile(source, target)
            except PermissionError:
                continue
            target.chmod(stat.S_IMODE(status.st_mode) | 0o200)
            before = status.st_mtime_ns - DAY
            os.utime(target, ns=(before, status.st_mtime_ns))
            files[relative] = before
    return Copied(folder=dest, files=files)


def _walk(top: str, left: set[str]) -> Iterator[tuple[str, str]]:
    pending = [top]
    while pending:
        here = pending.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.path in left or (here == top and entry.name in OURS):
                continue
            folder = entry.is_dir(follow_symlinks=False)
            if folder and entry.name in CACHES:
                continue
            yield entry.path, os.path.relpath(entry.path, top)
            if folder:
                pending.append(entry.path)


def arm(copied: Copied) -> None:
    """Every access time before its modification time again, for the next check."""
    for relative, before in copied.files.items():
        try:
            os.utime(copied.folder / relative, ns=(before, os.lstat(copied.folder / relative).st_mtime_ns))
        except OSError:
            continue


def read_files(copied: Copied) -> frozenset[str]:
    """The files that were read since the copy was made; empty where access times do not move."""
    found = set()
    for relative, before in copied.files.items():
        try:
            if os.lstat(copied.folder / relative).st_atime_ns > before:
                found.add(relative)
        except OSError:
            continue
    return frozenset(found)


def as_patterns(files: Iterable[str]) -> tuple[str, ...]:
    """Paths for workspace.copy; many files of one folder as one pattern."""
    folders: dict[str, list[str]] = {}
    for path in sorted(files):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    named: list[str] = []
    for folder, paths in folders.items():
        suffixes = {os.path.splitext(path)[1] for path in paths}  # noqa: PTH122
        if len(paths) <= ALIKE or not folder:
            named += [_literal(path) for path in paths]
        else:
            named += [f"{_literal(folder)}/*{suffix}" for suffix in sorted(suffixes)]
    return tuple(dict.fromkeys(named))


def _literal(path: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)
