"""What a check finds carried beneath its room: programs by the checkout's path, package folders as tools want them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import Mount

WRITERS = ("vite", "ava", "find-cache-dir", "find-cache-directory", ".cache")
"""Packages that write into the folder that holds them (nyc, xo and loaders by find-cache-dir), and what they leave."""


def program_of(spec: CheckSpec, here: Path, checkout: Path) -> tuple[str, ...]:
    """A program that is carried, not part of the tree, is started by the checkout's path: it leads into the room."""
    program = spec.command[0] if spec.command else ""
    if "/" in program and not program.startswith("/") and not (here / program).exists():
        return (os.path.normpath(checkout / spec.folder / program), *spec.command[1:])
    return spec.command


def loosened(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    return tuple(
        replace(mount, loose=True)
        if mount.dest.name == "node_modules" and any((mount.source / name).exists() for name in WRITERS)
        else mount
        for mount in mounts
    )
