"""Submodules, filled from what the user has of them: the commit that the tree names, out of the local module's objects.

Nothing is fetched and no git of theirs is run: the objects are read through the engine's own git directory. A filled
submodule is shown read-only at its place, as a dependency is.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from engine.core.model import Struct
from engine.perform.process.spawning import Mount
from engine.perform.workspace import trees
from engine.perform.workspace.git import GitError, nul_split
from engine.perform.workspace.names import shown
from engine.perform.workspace.repository import alternate
from engine.perform.workspace.store import Store

DEEPEST = 5


class Submodules(Struct, frozen=True, kw_only=True):
    """What could be filled, and the paths of what could not (never fetched here)."""

    mounts: tuple[Mount, ...] = ()
    empty: tuple[str, ...] = ()


def fill(store: Store) -> Submodules:
    """Every submodule of the checkout's index at the commit named there."""
    repo = store.repo
    mounts: list[Mount] = []
    empty: list[str] = []
    for record in nul_split(repo.git().run("ls-files", "-z", "--stage")):
        head, _, name = record.partition(b"\t")
        if not head.startswith(b"160000"):
            continue
        path, commit = os.fsdecode(name), head.split(b" ")[1].decode()
        module = _module(repo.checkout / path, repo.common_dir / "modules" / path)
        dest = store.folder("submodules") / commit
        if dest.is_dir() or (module is not None and _export(store, module, commit, dest)):
            mounts.append(Mount(source=dest, dest=repo.checkout / path))
        else:
            empty.append(shown(name))
    return Submodules(mounts=tuple(mounts), empty=tuple(empty))


def _module(folder: Path, usual: Path) -> Path | None:
    """The git directory of a submodule: a folder of its own, or what its .git file names."""
    own = folder / ".git"
    if own.is_dir():
        return own
    try:
        text = own.read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return usual if (usual / "objects").is_dir() else None
    named = Path(os.path.realpath(folder / text.removeprefix("gitdir: ")))
    return named if (named / "objects").is_dir() else None


def _export(store: Store, module: Path, commit: str, dest: Path) -> bool:
    fresh = store.scratch / f"submodule-{uuid.uuid4().hex[:8]}"
    fresh.mkdir(mode=0o700)
    if not _write(store, module, commit, fresh, 0):
        store.grave.discard(fresh)
        return False
    fresh.rename(dest)
    return True


def _write(store: Store, module: Path, commit: str, folder: Path, depth: int) -> bool:
    objects = f"{alternate(store.repo.objects)}{os.pathsep}{alternate(module / 'objects')}"
    index = store.index(f"submodule-{uuid.uuid4().hex[:8]}")
    git = store.git.with_env(GIT_ALTERNATE_OBJECT_DIRECTORIES=objects).with_index(index, folder)
    try:
        git.run("read-tree", commit)
        git.run("checkout-index", "--all", "--force")
        for record in nul_split(git.run("ls-files", "-z", "--stage")):
            head, _, name = record.partition(b"\t")
            if head.startswith(trees.GITLINK) and depth < DEEPEST:
                path = os.fsdecode(name)
                (folder / path).mkdir(parents=True, exist_ok=True)
                inner = module / "modules" / path
                if (inner / "objects").is_dir():
                    _write(store, inner, head.split(b" ")[1].decode(), folder / path, depth + 1)
    except GitError:
        return False
    finally:
        index.unlink(missing_ok=True)
    return True
