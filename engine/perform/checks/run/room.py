"""The clean room: a folder that holds exactly one tree, brought from one to the next, never touched by an agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from pathlib import Path

from engine import files
from engine.perform.checks.run.trees import Trees

LIVED_IN = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    ".git/objects/info/alternates": "",
    ".git/refs/heads/.keep": "",
}
"""What lies in a checkout besides its files. Only below .git: no tree holds that name, so no link leads elsewhere."""


async def enter(trees: Trees, tree: str, folder: Path) -> None:
    """Make `folder` hold `tree` and nothing else: what an earlier run left must not be found by this one."""
    await asyncio.to_thread(trees.export, tree, folder)


async def live_in(folder: Path) -> None:
    """As a checkout looks that somebody works in; the next `enter` clears it away."""
    for path, text in LIVED_IN.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(files.write, folder / path, text, durable=False)


def beside(folder: Path, known: Collection[str], most: int = 20_000) -> list[str]:
    """Files of a room that its tree does not have; folders that tools keep for themselves are not entered."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in ("node_modules", "__pycache__")]
        most -= len(names)
        inside = os.path.relpath(place, folder).replace(os.sep, "/")
        found += [path for name in names if (path := name if inside == "." else f"{inside}/{name}") not in known]
        if most < 0:
            break
    return found


async def written(trees: Trees, tree: str, folder: Path) -> list[str]:
    """Tracked files that a check changed or removed while it ran. New files (caches, builds) are nobody's concern."""
    after = await asyncio.to_thread(trees.hash_folder, folder)
    changes = await asyncio.to_thread(trees.diff_files, tree, after)
    return [change.path for change in changes if change.change != "added"][:20]
