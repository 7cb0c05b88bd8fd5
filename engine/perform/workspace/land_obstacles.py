"""What stands in the way of a landing, one line each: every file that is not as it was when the sprint started, and
what lies where a new one goes. A new file that nothing lands on stays where it is.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.core.clean import clean_line
from engine.perform.workspace import disk_bytes, trees
from engine.perform.workspace.disk_bytes import Seen
from engine.perform.workspace.land_record import Anchor, Under, own_lock
from engine.perform.workspace.names import shown
from engine.perform.workspace.preflight import inspect
from engine.perform.workspace.repository import Repository
from engine.perform.workspace.start import OURS, staged_tree, user_files
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, Change


def differences(
    store: Store,
    anchor: Anchor,
    under: Under | None,
    target: str,
    changes: list[Change],
    now_staged: str,
    seen: Seen,
) -> list[str]:
    repo = store.repo
    report = inspect(repo)
    if report.refusal and not (under and own_lock(store)):
        return [f"{report.refusal}: {report.command}"]
    if not report.branch and not report.refusal:
        return ["HEAD is detached: git switch -c NAME"]
    found = []
    head, branch = repo.head()
    here, there = (clean_line(name.removeprefix("refs/heads/")) or "no branch" for name in (branch, anchor.branch))
    if branch != anchor.branch:
        found.append(f"you are on {here}, the sprint started on {there}: git switch {there}")
    if head != anchor.head and not (under and head == target):
        found.append(f"{here} has moved since: {anchor.head[:12] or 'no commit'} → {head[:12] or 'no commit'}")
    found += _files_differ(store, anchor, changes, seen)
    staged = staged_tree(store, store.index("land"))
    if staged != anchor.index_tree and not (under and staged == under.index_tree):
        found += [f"staged since: {shown(change.path)}" for change in _theirs(store, anchor.index_tree, staged)] or []
    if not found and not now_staged:
        found.append("the index cannot be moved on: git status")
    return found


def _theirs(store: Store, before: str, after: str) -> list[Change]:
    return [c for c in trees.diff(store.git, before, after, lines=False) if c.path.split(b"/", 1)[0] != OURS]


def _files_differ(store: Store, anchor: Anchor, changes: list[Change], seen: Seen) -> list[str]:
    look, _ = user_files(store, store.index("land-look"))
    landed = {change.path: (change.new_mode, change.new) for change in changes}
    changed = {change.path: change for change in _theirs(store, anchor.tree, look.tree)}
    bits = disk_bytes.hidden(store.repo.git())
    behind = {c.path: c for c in seen.differs if c.path not in seen.unknown and c.path not in changed}
    found = []
    for path, change in (changed | behind).items():
        if landed.get(path) == (change.new_mode, change.new):
            continue  # there already, byte for byte: by a landing that was broken off, or by a session in the checkout
        if change.kind == "added":
            continue  # a note, an editor's swap file: nothing lands on it (what is in the way is said below)
        hidden = f", which git was told not to see ({bits[path]})" if path in bits else ""
        found.append(f"{change.kind} since: {shown(path)}{hidden}")
    return found + _obstacles(store.repo, changes, seen)


def _obstacles(repo: Repository, changes: list[Change], seen: Seen) -> list[str]:
    """What lies where new files go, and new files that this file system takes for one another."""
    leaving = {change.path for change in changes if change.new_mode == ABSENT}
    found = []
    for change in changes:
        if change.kind != "added" or seen.raw.get(change.path) == (change.new_mode, change.new):
            continue
        if in_the_way(repo.checkout, change.path, leaving):
            found.append(f"in the way: {shown(change.path)}")
    if repo.setting("core.ignorecase").lower() == "true":
        names: dict[str, bytes] = {}
        for path in (change.path for change in changes if change.new_mode != ABSENT):
            other = names.setdefault(os.fsdecode(path).casefold(), path)
            if other != path:
                found.append(f"one file here, two in the sprint: {shown(other)}, {shown(path)}")
    return found


def in_the_way(checkout: Path, path: bytes, leaving: set[bytes]) -> bool:
    """Something lies where a new file goes that is not known to go first: an ignored file, a link for a folder."""
    for parent in trees.parents(path):
        place = checkout / os.fsdecode(parent)
        if parent not in leaving and (place.is_symlink() or (place.exists() and not place.is_dir())):
            return True
        if parent in leaving and not place.is_dir():
            return False  # a file that makes room for a folder of its name
    place = checkout / os.fsdecode(path)
    if place.is_dir() and not place.is_symlink():
        files = (Path(folder, name).relative_to(checkout) for folder, _, names in os.walk(place) for name in names)
        return any(os.fsencode(file) not in leaving for file in files)
    return os.path.lexists(place)
