"""A folder that can be written to though what it holds is read-only: private, with links to the real one beneath it.

Tools keep things beside the packages they use (vite its bundled settings and caches) and fail where they cannot. Links
lead to the packages, as pnpm lays them out; the real folder lies beneath under the same name, so they find each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

BENEATH = ".devteam"
KEPT_BY_TOOLS = (".cache", ".vite", ".vite-temp", ".vitest", ".tmp")
"""Made anew by whoever wants it."""


def loose_folder(source: Path, dest: Path) -> tuple[Path, list[str]]:
    """Where the real folder goes, and bubblewrap's options for the links."""
    beneath = dest / BENEATH / dest.name
    words = []
    for name, target in _links(source, f"{BENEATH}/{dest.name}"):
        words += ["--symlink", target, str(dest / name)]
    return beneath, words


def _links(source: Path, beneath: str) -> Iterator[tuple[str, str]]:
    """(name, target) of each entry. A link of theirs (a workspace's package) leads where it led."""
    for entry in sorted(os.scandir(source), key=lambda one: one.name):
        if entry.is_symlink():
            yield entry.name, os.readlink(entry.path)  # noqa: PTH115 - as it is written
        elif entry.name.startswith("@") and any(one.is_symlink() for one in os.scandir(entry.path)):
            for one in sorted(os.scandir(entry.path), key=lambda one: one.name):
                own = os.readlink(one.path) if one.is_symlink() else f"../{beneath}/{entry.name}/{one.name}"  # noqa: PTH115
                yield f"{entry.name}/{one.name}", own
        elif entry.name not in (*KEPT_BY_TOOLS, BENEATH):
            yield entry.name, f"{beneath}/{entry.name}"
