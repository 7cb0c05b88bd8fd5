"""Landing: the user's branch moves forward to the sprint's work, only if their files are still those it started from.

What the user had not committed stays uncommitted when the sprint did not touch those files: the sprint's commits are
rebuilt on the user's HEAD without the snapshot. Otherwise the snapshot commit comes along, and the report says so.
Killed half-way, the same command goes on: each file is then either as before or as landed, and both are accepted.
What is replaced is compared byte for byte (`disk_bytes.py`), and kept under a ref before it is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec.structs import replace

from engine import files
from engine.core.clean import clean_line
from engine.core.model import MachineFault
from engine.perform.workspace import branch as sprint_branch
from engine.perform.workspace import disk_bytes, packs, trees
from engine.perform.workspace.destroy import unlink_in_checkout
from engine.perform.workspace.disk_bytes import Seen
from engine.perform.workspace.facts import LandReport, Started, WorkspaceError
from engine.perform.workspace.git import GitError, nul_list, nul_split
from engine.perform.workspace.land_merge import rebuilt, to_merge
from engine.perform.workspace.land_obstacles import differences
from engine.perform.workspace.land_record import Anchor, Under, anchor_of, own_lock, under_way
from engine.perform.workspace.names import shown
from engine.perform.workspace.progress import Progress, but_pages, with_pages
from engine.perform.workspace.repository import quoted
from engine.perform.workspace.start import copy_index, staged_tree, user_files
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, Change


def land(store: Store, started: Started, apply: bool, progress: Progress) -> LandReport:
    """Fast-forward, or say exactly what stands in the way and what can be done instead."""
    with store.lock:
        return _land(store, started, apply, progress)


def write_patch(store: Store, started: Started, target: Path) -> LandReport:
    """The sprint's whole change as one patch file, for `git apply`."""
    anchor = anchor_of(store, started)
    tip = sprint_branch.head(store, started.sprint)
    whole = trees.tree_of(store.git, tip)
    # Plan and progress are on the disk already, and newer there.
    changes = trees.diff(store.git, anchor.tree, whole, lines=False)
    ours = {change.path for change in changes} - {change.path for change in but_pages(changes, started.sprint)}
    data = trees.binary_patch(store.git, anchor.tree, trees.overlay(store.git, whole, anchor.tree, ours))
    files.hand_over(target, data)
    return LandReport(ok=True, commit=tip, detail=f"patch written: git apply {quoted(target)}")


def name_to_merge(store: Store, started: Started) -> str:
    """What the user gives to `git merge` to take the sprint's work over by hand."""
    with store.lock:
        tip = sprint_branch.head(store, started.sprint)
        return to_merge(store, started.sprint, anchor_of(store, started), tip)


def _land(store: Store, started: Started, apply: bool, progress: Progress) -> LandReport:
    sprint = started.sprint
    anchor, under = anchor_of(store, started), under_way(store, sprint)
    if not anchor.branch:  # it started on a detached HEAD: the branch that the user has put there since
        anchor = replace(anchor, branch=store.repo.head()[1])
    tip = sprint_branch.head(store, sprint)
    if tip == anchor.base and under is None:
        return LandReport(ok=True, commit=anchor.head, branch=anchor.branch, detail="there is nothing to land")
    to_tree = trees.tree_of(store.git, tip)
    # Of plan and progress the disk is ahead of every commit: only the index moves there.
    changes = but_pages(trees.diff(store.git, anchor.tree, to_tree), sprint)
    if under is not None and under.tip == tip:
        target, included = under.target, under.included
    else:
        under = None  # the sprint went on after a landing that was broken off
        target, included = _target(store, sprint, anchor, tip, changes, progress)
        target = _closed(store, sprint, target, progress)
    index, now_staged = _new_index(store, anchor, target, included)
    seen = disk_bytes.look(store, anchor.tree, (change.path for change in changes))
    differs = differences(store, anchor, under, target, changes, now_staged, seen)
    facts = tuple(change.as_fact() for change in changes)
    if differs:
        by_hand = f"git merge {to_merge(store, sprint, anchor, tip)}"
        offers = (by_hand, f"devteam land --sprint {sprint} --patch {sprint}.patch")
        detail = "not landed: " + differs[0] + (f" (and {len(differs) - 1} more)" if len(differs) > 1 else "")
        return LandReport(
            ok=False, commit=tip, branch=anchor.branch, detail=detail, differs=tuple(differs), offers=offers,
            changes=facts, keeps_uncommitted=not included,
        )  # fmt: skip
    detail = _detail(store, anchor, included, len(facts))
    kept = ""
    if apply:
        wanted = Under(tip=tip, target=target, index_tree=now_staged, included=included)
        kept = _apply(store, sprint, anchor, wanted, index, changes, seen)
    return LandReport(
        ok=True, landed=apply, commit=target, branch=anchor.branch, detail=detail, changes=facts,
        keeps_uncommitted=not included, kept=kept,
    )  # fmt: skip


def _detail(store: Store, anchor: Anchor, included: bool, count: int) -> str:
    name = anchor.branch.removeprefix("refs/heads/")
    text = f"{count} {'file' if count == 1 else 'files'} onto {clean_line(name)}"
    if included:
        text += "; your uncommitted edits touch the same files and are in it as a commit of their own"
    if store.repo.drivers():
        text += "; filters (LFS) were not run on them"
    return text


# ── what would be landed ───────────────────────────────────────────────────────────────────────────────────────────


def _target(
    store: Store, sprint: str, anchor: Anchor, tip: str, changes: list[Change], progress: Progress
) -> tuple[str, bool]:
    """(commit to land, whether the snapshot commit is part of it)."""
    if anchor.base == anchor.head:
        return tip, False
    mine = trees.diff(store.git, _tree(store, anchor.head), anchor.tree, lines=False)
    touched = {change.path for change in changes}
    folders = {parent for path in touched for parent in trees.parents(path)}
    work = but_pages(mine, sprint)
    own = {change.path for change in work}
    if own & touched or own & folders or any(parent in touched for path in own for parent in trees.parents(path)):
        return tip, True
    put = work if progress.wanted(store) else mine
    back = {change.path: (change.old_mode, change.old) if change.old_mode != ABSENT else None for change in put}
    parent = anchor.head
    for entry in reversed(trees.log(store.git, tip, f"^{anchor.base}")):
        tree = trees.edit(store.git, entry.tree, back)
        parent = rebuilt(store, entry.commit, tree, parent)
    return parent, False


def _closed(store: Store, sprint: str, commit: str, progress: Progress) -> str:
    """The commit to land with plan and progress as they are now on top of it, if it does not have them so."""
    had = trees.tree_of(store.git, commit)
    tree = with_pages(store, sprint, progress, had)
    if tree == had:
        return commit
    # Dated by what it stands on: a landing that is taken up again makes the same commit.
    when = store.git.line("show", "-s", "--format=@%ct +0000", commit)
    git = store.git.with_env(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    return git.line("commit-tree", tree, "-p", commit, "-m", f"devteam: plan and progress of {sprint}")


def _tree(store: Store, commit: str) -> str:
    if commit:
        return trees.tree_of(store.git, commit)
    return store.git.line("hash-object", "-t", "tree", "-w", "--stdin", stdin=b"")


def _new_index(store: Store, anchor: Anchor, target: str, included: bool) -> tuple[Path, str]:
    """The user's index as it will be: their staged edits kept, the rest moved on. Made on a private copy."""
    index, moved = store.index("land"), trees.tree_of(store.git, target)
    if included:
        seen, _ = user_files(store, index)
        before = anchor.tree
        lands = {c.path: (c.new_mode, c.new) for c in trees.diff(store.git, before, moved, lines=False)}
        fresh = [
            c.path
            for c in trees.diff(store.git, before, seen.tree, lines=False)
            if c.kind == "added" and lands.get(c.path) != (c.new_mode, c.new)  # by a landing that was broken off
        ]
        _leave_out(store, index, fresh, anchor.index_tree)
    else:
        copy_index(store.repo.git_dir, index)
        before = _tree(store, anchor.head)
    git = store.repo.git(index, store.git_objects)
    try:
        git.run("read-tree", "-i", "-m", before, moved)
    except GitError:  # said in words by `land_obstacles`: something is staged that was not
        return index, ""
    return index, git.line("write-tree")


def _leave_out(store: Store, index: Path, fresh: list[bytes], staged: str) -> None:
    """Files that came after the sprint's start are no part of it: untracked, only intended to be added, or what the
    user had staged of them, as before. Added they would name contents that only the engine's own store has."""
    if not fresh:
        return
    git = store.repo.git(index, store.git_objects)
    git.run("update-index", "--force-remove", "-z", "--stdin", stdin=nul_list(fresh))
    had = trees.entries(store.git, staged)
    lines = [b" ".join(had[path]) + b"\t" + path for path in fresh if path in had]
    if lines:
        git.run("update-index", "-z", "--index-info", stdin=nul_list(lines))
    known = frozenset(nul_split(store.repo.git().run("ls-files", "-z", "--full-name")))
    if intended := [path for path in fresh if path in known and path not in had]:
        words = ("add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul")
        git.run("--literal-pathspecs", *words, stdin=nul_list(intended))


# ── doing it ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _apply(
    store: Store, sprint: str, anchor: Anchor, under: Under, index: Path, changes: list[Change], seen: Seen
) -> str:
    """Write it; returns the ref that has what was replaced."""
    known = tuple(oid for oid in (anchor.head, under.tip) if oid != under.target)
    with packs.taken(store, under.target, known):
        return _written(store, sprint, anchor, under, index, changes, seen)


def _written(
    store: Store, sprint: str, anchor: Anchor, under: Under, index: Path, changes: list[Change], seen: Seen
) -> str:
    repo = store.repo
    folder = store.folder("sprints", sprint)
    # All that the new index names must be in the user's own repository: git says so here, before anything is written.
    repo.git(index).run("write-tree")
    kept = disk_bytes.keep(store, sprint, anchor.head, anchor.index_tree, seen, (change.path for change in changes))
    # Before the lock: a lock that a kill leaves behind is then known to be this landing's.
    files.write(folder / "land.json", msgspec.json.encode(under))
    try:
        lock = _lock_index(store, index, anchor, under)
        if late := seen.moved(repo.checkout):
            lock.unlink()
            _too_late(shown(late[0]) + " was written to just now")
    except WorkspaceError:
        (folder / "land.json").unlink(missing_ok=True)
        raise
    git = repo.git(index, store.git_objects)
    bits = disk_bytes.hidden(git)
    skipped = {path for path, bit in bits.items() if bit == disk_bytes.SKIPPED}
    # What a sparse checkout leaves out moves on in the index only.
    written = [c.path for c in changes if c.new_mode != ABSENT and (c.path not in skipped or c.path in seen.raw)]
    anyway = ("--ignore-skip-worktree-bits",) if skipped.intersection(written) else ()
    for change in changes:
        if change.new_mode == ABSENT:
            unlink_in_checkout(repo.checkout, change.path)
    if written:
        git.run("checkout-index", "-f", "-u", *anyway, "-z", "--stdin", stdin=nul_list(written))
    _install_index(store, index, lock)
    head, _ = repo.head()
    if head != under.target:
        repo.move_branch(anchor.branch, under.target, anchor.head or repo.null, f"devteam: land {sprint}")
    done = Anchor(
        head=under.target, base=under.tip, tree=trees.tree_of(store.git, under.tip),
        index_tree=under.index_tree, branch=anchor.branch,
    )  # fmt: skip
    files.write(folder / "anchor.json", msgspec.json.encode(done))
    (folder / "land.json").unlink(missing_ok=True)
    return kept


def _lock_index(store: Store, index: Path, anchor: Anchor, under: Under) -> Path:
    """Keep every other git out before anything is written. The lock is a second name of our own file, so that one
    left behind by a kill is known to be ours."""
    git_dir = store.repo.git_dir
    ours, lock = git_dir / "index.devteam", git_dir / "index.lock"
    if own_lock(store):
        lock.unlink()
    files.write(ours, index.read_bytes(), mode=files.SHARED)
    try:
        os.link(ours, lock)
    except FileExistsError as problem:
        raise WorkspaceError(
            f"another git is at work in the checkout: it holds {lock}",
            hint="devteam land",
            kind="transient",
            fault=MachineFault.GIT_LOCKED,
        ) from problem
    # What was staged between our look and the lock would be lost with the old index.
    if staged_tree(store, store.index("land-locked")) not in (anchor.index_tree, under.index_tree):
        lock.unlink()
        _too_late("something was staged just now")
    return lock


def _too_late(what: str) -> NoReturn:
    raise WorkspaceError(f"{what}: nothing was landed", hint="devteam land", kind="transient")


def _install_index(store: Store, index: Path, lock: Path) -> None:
    """Put the new index, with the stat entries of the files just written, in place; then let others in again."""
    files.write(store.repo.git_dir / "index", index.read_bytes(), mode=files.SHARED)
    lock.unlink()
    (store.repo.git_dir / "index.devteam").unlink(missing_ok=True)
