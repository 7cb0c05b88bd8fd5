"""The clean room: a folder that holds exactly one tree, used again and again, never by an agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from engine.core.model import Finding
from engine.perform.checks.trees import Trees
from engine.perform.contract import Mount


def enter(trees: Trees, tree: str, folder: Path, checkout: Path, mounts: Sequence[Mount], link: bool) -> None:
    """Make `folder` hold `tree` and nothing else.

    What earlier checks left (caches, builds, poisoned bytecode) goes: a later run must not find it. Without a sandbox that
    mounts dependencies beneath the tree, `link` puts links there instead.
    """
    folder.mkdir(parents=True, exist_ok=True)
    beneath = {
        m.dest.relative_to(checkout): m.source for m in mounts if m.dest != checkout and m.dest.is_relative_to(checkout)
    }
    sweep(folder, set(trees.files(tree)), {str(place) for place in beneath})
    trees.export(tree, folder)
    if link:
        for place, source in beneath.items():
            target = folder / place
            if not target.exists() and not target.is_symlink() and source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source)


def sweep(folder: Path, keep: set[str], places: set[str]) -> None:
    """Remove what is not in `keep`. Links are removed, never followed; `places` (mount points) are left alone."""
    folders = {str(parent) for path in keep for parent in Path(path).parents}

    def visit(here: str, prefix: str) -> None:
        with os.scandir(here) as entries:
            for entry in list(entries):
                path = prefix + entry.name
                if path in places or path == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    visit(entry.path, path + "/")
                    if path not in folders and not any(place.startswith(path + "/") for place in places):
                        _try_rmdir(entry.path)
                elif path not in keep:
                    os.unlink(entry.path)  # noqa: PTH108

    visit(str(folder), "")


def _try_rmdir(path: str) -> None:
    try:
        Path(path).rmdir()
    except OSError:
        return  # a mount point of its own, or something a check still holds: the export and the re-hash see what matters


def changed_since(trees: Trees, tree: str, folder: Path, severity: str) -> list[Finding]:
    """Tracked files that a check changed or removed while it ran. New files (caches, builds) are nobody's concern."""
    after = trees.hash_folder(folder)
    return [
        Finding(
            rule="tree-changed",
            text=f"a check changed {change.path} while it ran ({change.change}); the verdicts belong to the tree as it was before",
            path=change.path,
            severity=severity,
        )
        for change in trees.diff_files(tree, after)
        if change.change != "added"
    ][:20]
