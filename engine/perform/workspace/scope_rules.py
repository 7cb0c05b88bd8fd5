"""Rules of the scope that look at all of an attempt: its structure, its size, modes that no tree records."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from engine.core.clean import clean_line
from engine.core.model import Finding
from engine.core.vocabulary import Severity
from engine.perform.workspace import trees
from engine.perform.workspace.names import raw, shown
from engine.perform.workspace.trees import ABSENT, GITLINK, SYMLINK, Change


def finding(rule: str, path: bytes, text: str, severity: Severity = "error") -> Finding:
    return Finding(rule=rule, text=clean_line(f"{shown(path)} {text}"), path=shown(path), severity=severity)


def structure(attempt: list[Change]) -> list[Finding]:
    """A file where there was a folder, or the reverse; and the shape of a bare repository."""
    added = {change.path for change in attempt if change.kind == "added"}
    deleted = {change.path for change in attempt if change.kind == "deleted"}
    found = []
    for new, old in ((added, deleted), (deleted, added)):
        for path in new:
            for parent in trees.parents(path):
                if parent in old:
                    found += [
                        finding("type-change", item, "changed between file and folder") for item in (path, parent)
                    ]
    heads = [path[: -len(b"HEAD")] for path in added if path == b"HEAD" or path.endswith(b"/HEAD")]
    for folder in heads:
        inside = [path for path in added if path.startswith(folder)]
        if any(path.startswith((folder + b"objects/", folder + b"refs/")) for path in inside) or (
            folder + b"config" in added
        ):
            found += [finding("nested-repository", path, "is part of a repository inside this one") for path in inside]
    return found


def sizes(clone: bytes, attempt: list[Change], most: int) -> list[Finding]:
    sizes = []
    for change in attempt:
        if change.new_mode in (ABSENT, GITLINK, SYMLINK):
            continue
        try:
            sizes.append((os.lstat(clone + b"/" + change.path).st_size, change.path))
        except OSError:
            continue
    total = sum(size for size, _ in sizes)
    found = []
    over = f"the attempt has more than {most} (workspace.max_total_bytes)"
    for size, path in sorted(sizes, reverse=True):  # the largest go first until the rest fits
        if total <= most:
            break
        found.append(finding("too-large", path, f"has {size} bytes; {over}"))
        total -= size
    return found


def modes(clone: bytes, touched: Iterable[str]) -> list[Finding]:
    """Set-user-id and the like, which no tree records: taken off, and said."""
    found = []
    for path in map(raw, touched):
        try:
            mode = os.lstat(clone + b"/" + path).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX):
            os.chmod(clone + b"/" + path, stat.S_IMODE(mode) & 0o777)  # noqa: PTH101 — a regular file by lstat
            found.append(finding("mode", path, "had a set-user-id, set-group-id or sticky bit"))
    return found
