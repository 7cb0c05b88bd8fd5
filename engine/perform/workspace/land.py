"""Landing: the user's branch moves forward to the sprint's work, only if their files are still those it started from.

What the user had not committed stays uncommitted when the sprint did not touch those files: the sprint's commits are
rebuilt on the user's HEAD without the snapshot. Otherwise the snapshot commit comes along, and the report says so.
Killed half-way, the same command goes on: each file is then either as before or as landed, and both are accepted.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from engine.core.clean import clean_line
from engine.perform.workspace import trees
from engine.perform.workspace.destroy import unlink_in_checkout
from engine.perform.workspace.facts import LandReport, Started, WorkspaceError
from engine.perform.workspace.git import GitError, nul_list
from engine.perform.workspace.ignore import write_atomic
from engine.perform.workspace.names import shown
from engine.perform.workspace.preflight import inspect
from engine.perform.workspace.repository import quoted
from engine.perform.workspace.start import OURS, branch_of, copy_index, ref_of, staged_tree, user_files
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, Change


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """Where the user's checkout and the sprint's history meet: at the start, and again after each landing."""

    head: str
    base: str
    tree: str
    index_tree: str
    branch: str


class Under(msgspec.Struct, frozen=True, kw_only=True):
    """A landing under way."""

    tip: str
    target: str
    index_tree: str
    included: bool


def land(store: Store, started: Started, apply: bool) -> LandReport:
    """Fast-forward, or say exactly what stands in the way and what can be done instead."""
    with store.lock:
        return _land(store, started, apply)


def write_patch(store: Store, started: Started, target: Path) -> LandReport:
    """The sprint's whole change as one patch file, for `git apply`."""
    anchor = _anchor(store, started)
    tip = _tip(store, started.sprint)
    data = trees.binary_patch(store.git, anchor.tree, trees.tree_of(store.git, tip))
    write_atomic(target, data, 0o644)
    return LandReport(ok=True, commit=tip, detail=f"patch written: git apply {quoted(target)}")


def _land(store: Store, started: Started, apply: bool) -> LandReport:
    sprint = started.sprint
    anchor, under = _anchor(store, started), _under(store, sprint)
    tip = _tip(store, sprint)
    if tip == anchor.base and under is None:
        return LandReport(ok=True, commit=anchor.head, branch=anchor.branch, detail="there is nothing to land")
    to_tree = trees.tree_of(store.git, tip)
    changes = trees.diff(store.git, anchor.tree, to_tree)
    target, included = _target(store, anchor, tip, changes)
    if under is not None and under.target != target:
        under = None  # the sprint went on after a landing that was broken off
    index, now_staged = _new_index(store, anchor, target, included)
    differs = _differs(store, anchor, under, target, changes, now_staged)
    offers = (f"git merge devteam/{sprint}", f"devteam land --sprint {sprint} --patch {sprint}.patch")
    facts = tuple(change.as_fact() for change in changes)
    if differs:
        detail = "not landed: " + differs[0] + (f" (and {len(differs) - 1} more)" if len(differs) > 1 else "")
        return LandReport(
            ok=False, commit=tip, branch=anchor.branch, detail=detail, differs=tuple(differs), offers=offers,
            changes=facts, keeps_uncommitted=not included,
        )  # fmt: skip
    detail = _detail(store, anchor, included, len(facts))
    if apply:
        _apply(
            store,
            sprint,
            anchor,
            Under(tip=tip, target=target, index_tree=now_staged, included=included),
            index,
            changes,
        )
    return LandReport(
        ok=True, landed=apply, commit=target, branch=anchor.branch, detail=detail, changes=facts,
        keeps_uncommitted=not included,
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


def _target(store: Store, anchor: Anchor, tip: str, changes: list[Change]) -> tuple[str, bool]:
    """(commit to land, whether the snapshot commit is part of it)."""
    if anchor.base == anchor.head:
        return tip, False
    mine = trees.diff(store.git, _tree(store, anchor.head), anchor.tree, lines=False)
    touched = {change.path for change in changes}
    folders = {parent for path in touched for parent in trees.parents(path)}
    own = {change.path for change in mine}
    if own & touched or own & folders or any(parent in touched for path in own for parent in trees.parents(path)):
        return tip, True
    back = {change.path: (change.old_mode, change.old) if change.old_mode != ABSENT else None for change in mine}
    parent = anchor.head
    for entry in reversed(trees.log(store.git, tip, f"^{anchor.base}")):
        tree = trees.edit(store.git, entry.tree, back, store.scratch)
        parent = _rebuilt(store, entry.commit, tree, parent)
    return parent, False


def _rebuilt(store: Store, commit: str, tree: str, parent: str) -> str:
    """The same commit (author, dates, message) with another tree and parent."""
    head, _, message = store.git.run("cat-file", "commit", commit).partition(b"\n\n")
    kept = [line for line in head.split(b"\n") if line.startswith((b"author ", b"committer ", b"encoding "))]
    lines = [b"tree " + tree.encode(), *([b"parent " + parent.encode()] if parent else []), *kept]
    data = b"\n".join(lines) + b"\n\n" + message
    return store.git.line("hash-object", "-t", "commit", "-w", "--stdin", stdin=data)


def _tree(store: Store, commit: str) -> str:
    if commit:
        return trees.tree_of(store.git, commit)
    return store.git.line("hash-object", "-t", "tree", "-w", "--stdin", stdin=b"")


def _new_index(store: Store, anchor: Anchor, target: str, included: bool) -> tuple[Path, str]:
    """The user's index as it will be: their staged edits kept, the rest moved on. Made on a private copy."""
    index = store.index("land")
    if included:
        user_files(store, index)
        before = anchor.tree
    else:
        copy_index(store.repo.git_dir, index)
        before = _tree(store, anchor.head)
    git = store.repo.git(index, store.git_objects)
    try:
        git.run("read-tree", "-i", "-m", before, trees.tree_of(store.git, target))
    except GitError:  # said in words by `_differs`: something is staged that was not
        return index, ""
    return index, git.line("write-tree")


# ── what stands in the way ─────────────────────────────────────────────────────────────────────────────────────────


def _differs(
    store: Store, anchor: Anchor, under: Under | None, target: str, changes: list[Change], now_staged: str
) -> list[str]:
    repo = store.repo
    report = inspect(repo)
    if report.refusal and not (under and _own_lock(store)):
        return [f"{report.refusal}: {report.command}"]
    if not report.branch and not report.refusal:
        return ["HEAD is detached: git switch -c NAME"]
    found = []
    head, branch = repo.head()
    here, there = (clean_line(name.removeprefix("refs/heads/")) or "no branch" for name in (branch, anchor.branch))
    if branch != anchor.branch:
        found.append(f"you are on {here}, the sprint started on {there}")
    if head != anchor.head and not (under and head == target):
        found.append(f"{here} has moved since: {anchor.head[:12] or 'no commit'} → {head[:12] or 'no commit'}")
    found += _files_differ(store, anchor, under, changes)
    staged = staged_tree(store, store.index("land"))
    if staged != anchor.index_tree and not (under and staged == under.index_tree):
        found += [f"staged since: {shown(change.path)}" for change in _theirs(store, anchor.index_tree, staged)] or []
    if not found and not now_staged:
        found.append("the index cannot be moved on: git status")
    return found


def _theirs(store: Store, before: str, after: str) -> list[Change]:
    return [c for c in trees.diff(store.git, before, after, lines=False) if c.path.split(b"/", 1)[0] != OURS]


def _files_differ(store: Store, anchor: Anchor, under: Under | None, changes: list[Change]) -> list[str]:
    seen, _ = user_files(store, store.index("land-look"))
    landed = {change.path: (change.new_mode, change.new) for change in changes}
    found = []
    for change in _theirs(store, anchor.tree, seen.tree):
        if under and landed.get(change.path) == (change.new_mode, change.new):
            continue
        found.append(f"{change.kind} since: {shown(change.path)}")
    scanned = trees.entries(store.git, seen.tree) if any(change.kind == "added" for change in changes) else {}
    for change in changes:
        if change.kind == "added" and change.path not in scanned and _in_the_way(store.repo.checkout, change.path):
            found.append(f"in the way: {shown(change.path)}")
    return found


def _in_the_way(checkout: Path, path: bytes) -> bool:
    """Something git does not track (an ignored file, a link for a folder) lies where a new file goes."""
    for parent in trees.parents(path):
        place = checkout / os.fsdecode(parent)
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return True
    return os.path.lexists(checkout / os.fsdecode(path))


# ── doing it ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _apply(store: Store, sprint: str, anchor: Anchor, under: Under, index: Path, changes: list[Change]) -> None:
    repo = store.repo
    folder = store.folder("sprints", sprint)
    repo.take(store.git, under.target, tuple(oid for oid in (anchor.head, under.tip) if oid != under.target))
    _pin(store, sprint, anchor)
    write_atomic(folder / "land.json", msgspec.json.encode(under))
    git = repo.git(index, store.git_objects)
    written = [change.path for change in changes if change.new_mode != ABSENT]
    for change in changes:
        if change.new_mode == ABSENT:
            unlink_in_checkout(repo.checkout, change.path)
    if written:
        git.run("checkout-index", "-f", "-u", "-z", "--stdin", stdin=nul_list(written))
    _install_index(store, index)
    head, _ = repo.head()
    if head != under.target:
        repo.move_branch(anchor.branch, under.target, anchor.head or repo.null, f"devteam: land {sprint}")
    done = Anchor(
        head=under.target, base=under.tip, tree=trees.tree_of(store.git, under.tip),
        index_tree=under.index_tree, branch=anchor.branch,
    )  # fmt: skip
    write_atomic(folder / "anchor.json", msgspec.json.encode(done))
    (folder / "land.json").unlink(missing_ok=True)


def _pin(store: Store, sprint: str, anchor: Anchor) -> None:
    if not anchor.head:
        return
    ref = ref_of(sprint, "backup", f"land-{anchor.head[:12]}")
    if ref not in store.repo.refs(ref):
        store.repo.update_refs([(ref, anchor.head, store.repo.null)], "devteam: before landing")


def _install_index(store: Store, index: Path) -> None:
    """Put the new index in place the way git does. The lock is a second name of our own file, so that one left
    behind by a kill is known to be ours."""
    git_dir = store.repo.git_dir
    ours, lock = git_dir / "index.devteam", git_dir / "index.lock"
    if _own_lock(store):
        lock.unlink()
    write_atomic(ours, index.read_bytes(), 0o644)
    try:
        os.link(ours, lock)
    except FileExistsError as problem:
        raise WorkspaceError(
            "another git is at work in the checkout", hint="devteam land", kind="transient"
        ) from problem
    lock.replace(git_dir / "index")
    ours.unlink(missing_ok=True)


def _own_lock(store: Store) -> bool:
    git_dir = store.repo.git_dir
    try:
        return (git_dir / "index.devteam").samefile(git_dir / "index.lock")
    except OSError:
        return False


def _tip(store: Store, sprint: str) -> str:
    tip = store.repo.resolve(branch_of(sprint))
    if not tip:
        raise WorkspaceError(f"the branch devteam/{sprint} is gone", hint="devteam resume", kind="recoverable")
    return tip


def _anchor(store: Store, started: Started) -> Anchor:
    try:
        return msgspec.json.decode((store.folder("sprints", started.sprint) / "anchor.json").read_bytes(), type=Anchor)
    except (OSError, msgspec.MsgspecError):
        return Anchor(
            head=started.head,
            base=started.base,
            tree=started.tree,
            index_tree=started.index_tree,
            branch=started.branch,
        )


def _under(store: Store, sprint: str) -> Under | None:
    try:
        return msgspec.json.decode((store.folder("sprints", sprint) / "land.json").read_bytes(), type=Under)
    except (OSError, msgspec.MsgspecError):
        return None
