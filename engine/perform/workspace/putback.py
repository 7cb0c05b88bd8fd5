"""Putting back: out-of-bounds paths return to what they were, and what was taken out is kept for the user to see.

The order makes a kill harmless: the report and the patch are written first, then the lane is changed. Asked again, a
lane that is as the report left it gets the same report.
"""

from __future__ import annotations

import os
from collections.abc import Set
from pathlib import Path

import msgspec

from engine import files
from engine.globs import Matcher
from engine.perform.workspace import dotgit, lanes, trees
from engine.perform.workspace.facts import Odd, Scan, ScopeReport
from engine.perform.workspace.git import nul_split
from engine.perform.workspace.ignore import Rules
from engine.perform.workspace.names import raw
from engine.perform.workspace.scan import View
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, Change

Entries = dict[bytes, tuple[bytes, bytes] | None]


def folder_for(store: Store, effect: str) -> Path:
    return store.root.joinpath("aside", *(clean_name(part) for part in effect.split("/")))


def plan(store: Store, before: str, base: str, seen: Scan, bad: set[bytes], forbidden: Matcher) -> str:
    """The tree with the bad paths as they were before; as the base has them where even that was out of bounds."""
    targets: Entries = {}
    for change in trees.diff(store.git, seen.tree, before, lines=False):
        if change.path in bad:
            targets[change.path] = _after(change)
    for change in trees.diff(store.git, before, base, lines=False):
        if change.path in bad and forbidden(change.path):
            targets[change.path] = _after(change)
    return trees.edit(store.git, seen.tree, _closed(store, seen.tree, targets))


def _after(change: Change) -> tuple[bytes, bytes] | None:
    return (change.new_mode, change.new) if change.new_mode != ABSENT else None


def _closed(store: Store, tree: str, targets: Entries) -> Entries:
    """A file that comes back needs its folders to be folders, and nothing below itself."""
    back = {path for path, entry in targets.items() if entry is not None}
    if not back:
        return targets
    ways = {parent for path in back for parent in trees.parents(path)}
    closed = dict(targets)
    for path in trees.entries(store.git, tree):
        if path not in closed and (path in ways or any(parent in back for parent in trees.parents(path))):
            closed[path] = None
    return closed


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the question it answers."""

    before: str
    base: str
    report: ScopeReport


def keep(
    store: Store,
    folder: Path,
    seen: Scan,
    before: str,
    base: str,
    report: ScopeReport,
    leaked: Set[bytes] = frozenset(),
) -> None:
    """The patch that would bring everything back in, but for files with a secret in them, and the report."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    shown_tree = trees.overlay(store.git, seen.tree, report.tree, leaked) if leaked else seen.tree
    if report.tree != shown_tree:
        files.write(folder / "put-back.patch", trees.binary_patch(store.git, report.tree, shown_tree))
    files.write(folder / "report.json", msgspec.json.encode(Kept(before=before, base=base, report=report)))


def kept(folder: Path, before: str, base: str) -> ScopeReport | None:
    """The report already given to this very question, if there is one."""
    try:
        found = msgspec.json.decode((folder / "report.json").read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return None
    return found.report if (found.before, found.base) == (before, base) else None


def apply(store: Store, lane: int, seen: Scan, tree: str, folder: Path, rules: Rules) -> None:
    """Change the lane: what no tree can hold is moved out, the rest becomes `tree`."""
    clone = dotgit.folder_of(store, lane)
    view = lanes.view_of(store, lane)
    for item in seen.odd:
        if item.rule == "too-many":
            _move_out_new(store, view, rules, folder / "files")
        else:
            _move_out(store, clone, item, folder / "files")
    lanes.set_tracked(store, lane, tree)


def _move_out_new(store: Store, view: View, rules: Rules, files: Path) -> None:
    """Every new file, whole folders at a time."""
    listing = ("ls-files", "-z", "--others", "--directory", "--no-empty-directory")
    for path in nul_split(view.git.run(*listing, *rules.arguments(), "--")):
        name = os.fsdecode(path.rstrip(b"/"))
        if os.path.lexists(view.folder / name):
            store.grave.set_aside(view.folder / name, files / name)


def _move_out(store: Store, clone: Path, item: Odd, files: Path) -> None:
    path = raw(item.path)
    place, target = clone / os.fsdecode(path), files / os.fsdecode(path)
    if item.rule == "nested-repository" and not item.whole:  # its .git goes; its files are judged as files
        if place.is_dir() and not place.is_symlink():
            for name in os.listdir(place):  # noqa: PTH208
                if name.lower() == ".git":
                    store.grave.set_aside(place / name, target / "git")
    elif item.rule in ("special-file", "too-deep"):
        store.grave.remove_below(clone, path)
    elif os.path.lexists(place):
        store.grave.set_aside(place, target)
        if item.rule == "submodule":
            place.mkdir()


def clean_name(text: str) -> str:
    """The name of a folder or a ref from an id."""
    kept_chars = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in text)
    return kept_chars.replace("..", "-").strip(".").removesuffix(".lock") or "unnamed"
