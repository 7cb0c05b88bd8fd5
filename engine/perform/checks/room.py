"""The clean room: a folder that holds exactly one tree, brought from one to the next, never touched by an agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.perform.checks.trees import Trees
from engine.perform.checks.waivers import Objection


async def enter(trees: Trees, tree: str, folder: Path) -> None:
    """Make `folder` hold `tree` and nothing else: what an earlier run left must not be found by this one."""
    await asyncio.to_thread(trees.export, tree, folder)


async def changed_since(trees: Trees, tree: str, folder: Path) -> list[Objection]:
    """Tracked files that a check changed or removed while it ran. New files (caches, builds) are nobody's concern.

    The verdicts stay bound to the tree they were asked for; a check that writes to what it judges is shown to a human.
    """
    after = await asyncio.to_thread(trees.hash_folder, folder)
    return [
        Objection(
            rule="tree-changed",
            text=f"a check changed {change.path} while it ran ({change.change})",
            path=change.path,
        )
        for change in await asyncio.to_thread(trees.diff_files, tree, after)
        if change.change != "added"
    ][:20]
