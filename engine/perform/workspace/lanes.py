"""A lane: one clone in the state directory that agents work in, reused from attempt to attempt.

The clone's files are set and read by the engine's own git through a private index; its own .git is dotgit.py's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from engine.globs import matcher
from engine.perform.workspace import dotgit, followed, scan
from engine.perform.workspace.dotgit import folder_of
from engine.perform.workspace.facts import Odd, Prepared, Scan, WorkspaceError
from engine.perform.workspace.git import GitError, nul_split
from engine.perform.workspace.ignore import DEPENDENCIES, Rules
from engine.perform.workspace.names import raw, shown
from engine.perform.workspace.store import Store


def view_of(store: Store, lane: int) -> scan.View:
    view = scan.view(store.git, store.index(f"lane-{lane}"), folder_of(store, lane))
    return followed.catch_up(store, view)


def prepare(
    store: Store, lane: int, tree: str, base: str, rules: Rules, copy: Iterable[str] = (), excludes: bytes = b""
) -> Prepared:
    """Give the lane's clone exactly the content of `tree`; ignored dependency folders and copied inputs stay."""
    clone = folder_of(store, lane)
    try:
        _set_files(store, lane, tree, rules, tuple(copy))
    except (OSError, GitError):
        # Whatever an agent did to it (immutable files, a broken index): a new clone always works.
        store.index(f"lane-{lane}").unlink(missing_ok=True)
        store.grave.discard(clone)
        _set_files(store, lane, tree, rules, tuple(copy))
    dotgit.set_git(store, lane, tree, base, excludes)
    return Prepared(tree=tree, base=base, path=clone)


def ensure_clone(store: Store, lane: int) -> None:
    """The lane's clone, still without files when it had to be made."""
    if not folder_of(store, lane).is_dir():
        store.index(f"lane-{lane}").unlink(missing_ok=True)
        dotgit.clone(store, lane)


def look(store: Store, lane: int, rules: Rules, max_file: int = scan.MAX_FILE, max_new: int = 0) -> Scan:
    """The lane's content as a tree, whatever the agent did to hide it."""
    clone = folder_of(store, lane)
    if not clone.is_dir() or clone.is_symlink():
        raise WorkspaceError(f"lane {lane} has no clone in {clone}", kind="recoverable")
    if (quick := followed.look(store, clone, rules, max_file, max_new)) is not None:
        return quick
    odd = scan.heal(clone)
    view = view_of(store, lane)
    try:
        if not view.index.exists():
            view.git.run("read-tree", rules.tree)
        seen = scan.refresh(view, rules.arguments(), max_file, max_new=max_new)
    except GitError:  # the private index is only a cache: from the base's tree it is made again
        view.index.unlink(missing_ok=True)
        view.git.run("read-tree", rules.tree)
        seen = scan.refresh(view, rules.arguments(), max_file, max_new=max_new)
    inside = [Odd(path=shown(link), rule="submodule", text="has files in it") for link in _filled(clone, rules)]
    known = {item.path for item in seen.odd}
    more = [item for item in [*odd, *inside] if item.path not in known]
    return Scan(tree=seen.tree, odd=(*seen.odd, *more), touched=seen.touched)


def set_tree(view: scan.View, tree: str) -> None:
    """Make the tracked files of a work tree exactly `tree`, overwriting what is in the way."""
    view.git.run("read-tree", "--reset", "-u", tree)
    scan.holds(view, tree)


def set_tracked(store: Store, lane: int, tree: str) -> None:
    """Give the lane's tracked files another tree; whatever else lies there stays."""
    if not followed.bring(store, folder_of(store, lane), tree, lambda _: True):
        set_tree(view_of(store, lane), tree)


def staying(folder: Path, keep: Iterable[str], rules: Rules | None = None) -> followed.Stays:
    """Of what no tree has: ignored dependency folders (with `rules`) and `keep`."""
    kept = matcher(keep)

    def stays(path: bytes) -> bool:
        if kept(path) or kept(path + b"/x"):
            return True
        if rules is None or os.fsdecode(path.rpartition(b"/")[2]) not in DEPENDENCIES:
            return False
        place = folder / os.fsdecode(path)
        return place.is_dir() and not place.is_symlink() and rules.ignores_folder(path)

    return stays


def remove_untracked(store: Store, view: scan.View, stays: followed.Stays) -> set[bytes]:
    """Remove everything the index does not know, unless it stays. Returns what did."""
    left = set()
    for path in nul_split(view.git.run("ls-files", "-z", "--others", "--directory", "--")):
        bare = path.rstrip(b"/")
        if stays(bare):
            left.add(bare)
        else:
            store.grave.remove_below(view.folder, bare)
    return left


def _set_files(store: Store, lane: int, tree: str, rules: Rules, copy: tuple[str, ...]) -> None:
    clone = folder_of(store, lane)
    stays = staying(clone, copy, rules)
    is_plain = not rules.gitlinks and store.index(f"lane-{lane}").exists()
    if is_plain and followed.bring(store, clone, tree, stays, rules):
        followed.tell_index(store, view_of(store, lane))
        return
    if clone.is_symlink() or (clone.exists() and not clone.is_dir()):
        store.grave.remove(clone)
    ensure_clone(store, lane)
    for item in scan.heal(clone):
        drop_odd(store, clone, item)
    view = view_of(store, lane)
    set_tree(view, tree)
    followed.begin(store, view, tree, lambda: remove_untracked(store, view, stays), rules)
    for link in _filled(clone, rules):
        store.grave.remove_below(clone, link)
        (clone / os.fsdecode(link)).mkdir(parents=True, exist_ok=True)


def drop_odd(store: Store, folder: Path, item: Odd) -> None:
    """Remove what git does not list: special files, and any spelling of .git below the top."""
    path = raw(item.path)
    if item.rule in ("special-file", "too-deep"):
        store.grave.remove_below(folder, path)
        return
    for name in os.listdir(folder / os.fsdecode(path)):  # noqa: PTH208
        if name.lower() == ".git":
            store.grave.remove_below(folder, path + b"/" + os.fsencode(name))


def _filled(clone: Path, rules: Rules) -> list[bytes]:
    """Submodule folders that hold something: git never looks into them, so the engine does."""
    found = []
    for link in rules.gitlinks:
        path = clone / os.fsdecode(link)
        if path.is_symlink() or (path.is_dir() and any(path.iterdir())):
            found.append(link)
    return found
