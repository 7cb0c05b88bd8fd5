"""What a room is given besides its tree, as one name: copied inputs by content, carried folders by what is in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.perform.process.spawning import Mount

DEEP = frozenset(("node_modules", "site-packages", "dist-packages", "lib", "lib64", "bin"))
"""Folders of an environment that are listed one level further: what is installed stands there by name."""
MOST = 20_000


def shape(checkout: Path, copy: Iterable[str], mounts: Iterable[Mount]) -> str:
    """Changes with the content of every copied input and with what is installed in a carried folder."""
    digest = hashlib.sha256()
    for pattern in sorted(set(copy)):
        digest.update(f"copy {pattern}\0".encode("utf-8", "surrogateescape"))
        for path in sorted(checkout.glob(pattern.lstrip("/"))):
            if path.is_file() and not path.is_symlink():
                digest.update(os.fsencode(path.relative_to(checkout)) + b"\0" + _content(path))
    for mount in sorted(mounts, key=lambda one: str(one.dest)):
        digest.update(f"{mount.dest}\0{mount.source}\0{mount.writable}\0".encode("utf-8", "surrogateescape"))
        for number, entry in enumerate(_installed(mount.source)):
            if number >= MOST:
                break
            digest.update(entry)
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b"unreadable"


def _installed(source: Path, depth: int = 0) -> Iterator[bytes]:
    """Names and times, two levels down and further where packages lie; a package that is installed or removed shows."""
    try:
        status = source.lstat()
    except OSError:
        return
    if not source.is_dir() or source.is_symlink():
        yield f"{source.name} {status.st_size} {status.st_mtime_ns}\0".encode("utf-8", "surrogateescape")
        return
    try:
        entries = sorted(os.scandir(source), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in ("__pycache__", ".cache", ".vite", ".vitest"):
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        yield f"{depth} {entry.name} {found.st_size} {found.st_mtime_ns}\0".encode("utf-8", "surrogateescape")
        wanted = depth < 1 or entry.name in DEEP or entry.name.startswith(("@", "python"))
        if wanted and depth < 5 and entry.is_dir(follow_symlinks=False):
            yield from _installed(Path(entry.path), depth + 1)
