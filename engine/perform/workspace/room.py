"""The clean room: a folder that holds exactly a tree, brought from one tree to the next instead of made anew."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from engine.globs import matcher
from engine.perform.workspace import followed, lanes, scan, trees
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import GitError
from engine.perform.workspace.store import Store


def export(store: Store, tree: str, dest: Path, paths: Iterable[str] = (), keep: Iterable[str] = ()) -> str:
    """Make `dest` (below the state directory) exactly `tree`, or its paths matching `paths`. Returns the tree it holds.

    Whatever else lies there is removed, ignored or not, except paths matching `keep`.
    """
    index = _index(store, dest)
    wanted = _part(store, tree, tuple(paths))
    try:
        _fill(store, wanted, dest, index, tuple(keep))
    except (OSError, GitError):
        index.unlink(missing_ok=True)
        store.grave.discard(dest)
        _fill(store, wanted, dest, index, tuple(keep))
    return wanted


def hash_room(store: Store, dest: Path) -> str:
    """The tree of the room's tracked files now: another id means that a check wrote to what it judged.

    Files a check adds (reports, caches) are not counted; they are gone with the next export.
    """
    index = _index(store, dest)
    if not index.exists():
        raise WorkspaceError(f"nothing was exported to {dest}")
    if (quick := followed.look(store, dest, None)) is not None:
        return quick.tree
    view = followed.catch_up(store, scan.view(store.git, index, dest))
    changed = view.git.run(*scan.CHANGED)
    if not changed and (held := scan.held(view)):
        return held  # every file is as it was put there: nobody need walk through them
    if any(change.new_mode == trees.ABSENT for change in trees.parse_raw(changed)):
        scan.heal(dest)  # gone, or in a folder that was locked
        changed = view.git.run(*scan.CHANGED)
    return scan.refresh(view, (), 0, untracked=False, changed=changed).tree


def _fill(store: Store, tree: str, dest: Path, index: Path, keep: tuple[str, ...]) -> None:
    stays = lanes.staying(dest, keep)
    if index.exists() and not _has_git(dest) and followed.bring(store, dest, tree, stays):
        return
    if dest.is_symlink() or (dest.exists() and not dest.is_dir()):
        store.grave.remove(dest)
    if not dest.is_dir():
        index.unlink(missing_ok=True)
        dest.mkdir(parents=True, mode=0o700)
    elif not index.exists():
        store.grave.discard(dest)
        dest.mkdir(parents=True, mode=0o700)
    for name in os.listdir(dest):  # noqa: PTH208 — git never lists a .git, so it goes first
        if name.lower() == ".git":
            store.grave.remove(dest / name)
    for item in scan.heal(dest):
        lanes.drop_odd(store, dest, item)
    view = followed.catch_up(store, scan.view(store.git, index, dest))
    lanes.set_tree(view, tree)
    followed.begin(store, view, tree, lambda: lanes.remove_untracked(store, view, stays))


def _has_git(dest: Path) -> bool:
    """A room has no .git of its own, so a watch does not look for one there."""
    return os.path.lexists(dest / ".git")


def _index(store: Store, dest: Path) -> Path:
    try:
        Path(os.path.abspath(dest)).relative_to(store.root)  # noqa: PTH100 — links are not to be followed
    except ValueError as problem:
        raise WorkspaceError(f"{dest} is not below the state directory {store.root}") from problem
    name = hashlib.sha256(os.fsencode(os.path.abspath(dest))).hexdigest()[:16]  # noqa: PTH100
    return store.index(f"room-{name}")


def _part(store: Store, tree: str, paths: tuple[str, ...]) -> str:
    if not paths:
        return trees.tree_of(store.git, tree)
    wanted = matcher(paths)
    chosen = {path: entry for path, entry in trees.entries(store.git, tree).items() if wanted(path)}
    with tempfile.TemporaryDirectory(dir=store.scratch) as folder:
        view = store.git.with_index(Path(folder) / "index")
        view.run("read-tree", "--empty")
        if chosen:
            trees.apply_entries(view, dict(chosen))
        return view.line("write-tree")
