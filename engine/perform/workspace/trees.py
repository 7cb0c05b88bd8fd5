"""Reading and making trees in the engine's own git directory: diffs, content, overlays, merges, history."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from engine.core.model import FileChange
from engine.core.vocabulary import ChangeKind
from engine.perform.workspace import git_service
from engine.perform.workspace.facts import LogEntry, WorkspaceError
from engine.perform.workspace.git import RAW_DIFF, Git, GitError, nul_split
from engine.perform.workspace.names import raw, shown
from engine.perform.workspace.tree_editing import edited
from engine.perform.workspace.unchanging import Kept

GITLINK = b"160000"
SYMLINK = b"120000"
ABSENT = b"000000"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """One path of a raw tree diff: (mode, object) before and after; ABSENT where there is none."""

    path: bytes
    old_mode: bytes
    old: bytes
    new_mode: bytes
    new: bytes
    added: int = 0
    removed: int = 0
    binary: bool = False

    @property
    def kind(self) -> ChangeKind:
        if self.old_mode == ABSENT:
            return "added"
        if self.new_mode == ABSENT:
            return "deleted"
        return "type" if self.old_mode[:2] != self.new_mode[:2] else "modified"

    def as_fact(self) -> FileChange:
        return FileChange(path=shown(self.path), change=self.kind, added=self.added, removed=self.removed)


def parse_raw(data: bytes) -> list[Change]:
    """Read `--raw -z`, with the `--numstat` records that may follow it."""
    changes: list[Change] = []
    counts: dict[bytes, tuple[int, int, bool]] = {}
    parts = iter(nul_split(data))
    for part in parts:
        if part.startswith(b":"):
            old_mode, new_mode, old, new, _ = part[1:].split(b" ", 4)
            changes.append(Change(next(parts), old_mode, old, new_mode, new))
        else:
            added, removed, path = part.split(b"\t", 2)
            binary = added == b"-"
            counts[path] = (0, 0, True) if binary else (int(added), int(removed), False)
    if not counts:
        return changes
    none = (0, 0, False)
    return [Change(c.path, c.old_mode, c.old, c.new_mode, c.new, *counts.get(c.path, none)) for c in changes]


_LISTED = ("-r", "-z", "--full-index", "--raw", "--numstat", *RAW_DIFF)
_PATCH = ("-r", "-p", "--full-index", *RAW_DIFF)
_diffs: Kept[tuple[Change, ...]] = Kept(64)


def diff(git: Git, before: str, after: str, lines: bool = True) -> list[Change]:
    """Every path that differs between two trees (or commits)."""
    old, new = tree_of(git, before), tree_of(git, after)
    if old == new:
        return []
    found = _diffs.get((git.git_dir, old, new, lines)) or _diffs.get((git.git_dir, old, new, True))
    if found is None:
        wanted = _LISTED if lines else tuple(word for word in _LISTED if word != "--numstat")
        found = tuple(parse_raw(git_service.diff(git, wanted, old, new)))
        _diffs.put((git.git_dir, old, new, lines), found, len(found))
    return list(found)


def patch(git: Git, before: str, after: str, path: str | None = None, cap: int = 1_000_000, context: int = 0) -> str:
    """A unified diff for people and prompts, cut at `cap` bytes with a line that says so."""
    if path is None and context:  # asked for now and then: no lasting process of its own
        wanted = (*_PATCH, f"-U{context}")
        status, out, err = git.status("diff-tree", *wanted, tree_of(git, before), tree_of(git, after), cap=cap + 1)
        if status:
            raise GitError(("diff-tree",), status, err)
    elif path is None:
        out = git_service.diff(git, _PATCH, tree_of(git, before), tree_of(git, after), cap + 1)
    else:
        status, out, err = git.status("diff-tree", *_PATCH, before, after, "--", fs_path(raw(path)), cap=cap + 1)
        if status:
            raise GitError(("diff-tree",), status, err)
    text = out[:cap].decode("utf-8", "replace")
    if len(out) <= cap:
        return text
    return text[: text.rfind("\n") + 1] + f"… diff cut at {cap} bytes\n"


def binary_patch(git: Git, before: str, after: str) -> bytes:
    """A patch that `git apply` can take, whole."""
    return git.run("diff-tree", "-r", "-p", "--binary", "--full-index", *RAW_DIFF, before, after, "--")


def patch_id(git: Git, before: str, after: str) -> str:
    """What a change does, whatever stands around it: its lines by file, without places, context and object names."""
    patch = git.run("diff-tree", "-r", "-p", "-U0", "--binary", "--full-index", *RAW_DIFF, before, after, "--")
    lines = (line for line in patch.split(b"\n") if not line.startswith((b"@@ ", b"index ")))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def parents(path: bytes) -> list[bytes]:
    """Every folder above a path, outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:depth]) for depth in range(1, len(parts))]


def fs_path(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


FEW = 100
"""New names that are put in their places one by one."""
_trees: Kept[str] = Kept(1000)
_names: Kept[tuple[str, ...]] = Kept(8)
_entries: Kept[Mapping[bytes, tuple[bytes, bytes]]] = Kept(8)


def tree_of(git: Git, commit: str) -> str:
    """The tree of a commit, or of a tree itself."""
    if len(commit) not in (40, 64):
        return git.line("rev-parse", "--verify", "--end-of-options", commit + "^{tree}")
    key = (git.git_dir, commit)
    found = _trees.get(key)
    if found is None:
        (object_,) = git_service.read(git, [commit.encode()])
        if object_ is None:
            raise GitError(("cat-file",), 128, f"object {commit} is missing")
        if object_.kind == "tree":
            found = object_.oid
        elif object_.kind == "commit" and object_.data.startswith(b"tree "):
            found = object_.data[5 : object_.data.index(b"\n")].decode()
        else:
            found = git.line("rev-parse", "--verify", "--end-of-options", commit + "^{tree}")
        _trees.put(key, found)
    return found


def since(git: Git, kept: Kept[T], wanted: str) -> tuple[T, list[Change]] | None:
    """What is kept of the tree that was asked for last in this repository, and what differs from it. None where there
    is none, or it is gone: another repository stands at that place by now, or this one was cleaned."""
    last = kept.newest(lambda key: key[0] == git.git_dir)
    if last is None:
        return None
    try:
        return last[1], diff(git, str(last[0][1]), wanted, lines=False)
    except GitError:
        kept.forget(last[0])
        return None


def entries(git: Git, tree: str) -> Mapping[bytes, tuple[bytes, bytes]]:
    """path → (mode, object) of every file of a tree, in git's order.

    Told by what differs from the tree that was asked for last: a repository of many files is listed once.
    """
    wanted = tree_of(git, tree)
    found = _entries.get((git.git_dir, wanted))
    if found is None:
        told = since(git, _entries, wanted)
        found = _listed(git, wanted) if told is None else _derived(*told)
        _entries.put((git.git_dir, wanted), found, len(found))
    return found


def names(git: Git, tree: str) -> tuple[str, ...]:
    """The paths of a tree, in git's order, as file names. The same object where no file came or went."""
    wanted = tree_of(git, tree)
    found = _names.get((git.git_dir, wanted))
    if found is None:
        told = since(git, _names, wanted)
        found = tuple(map(fs_path, entries(git, wanted))) if told is None else _renamed(*told)
        _names.put((git.git_dir, wanted), found, len(found))
    return found


def _renamed(names: tuple[str, ...], changes: list[Change]) -> tuple[str, ...]:
    """The names with those that came, in their places, and without those that went."""
    came = [change.path for change in changes if change.old_mode == ABSENT]
    gone = {fs_path(change.path) for change in changes if change.new_mode == ABSENT}
    if not came and not gone:
        return names
    found = [name for name in names if name not in gone] if gone else list(names)
    if len(came) > FEW:
        return tuple(map(fs_path, sorted([*map(os.fsencode, found), *came])))
    for path in came:
        found.insert(bisect_left(found, path, key=os.fsencode), fs_path(path))
    return tuple(found)


def _listed(git: Git, tree: str) -> dict[bytes, tuple[bytes, bytes]]:
    found: dict[bytes, tuple[bytes, bytes]] = {}
    for record in nul_split(git.run("ls-tree", "-r", "-z", "--full-tree", tree)):
        head, path = record.split(b"\t", 1)
        mode, _, oid = head.split(b" ", 2)
        found[path] = (mode, oid)
    return found


def _derived(known: Mapping[bytes, tuple[bytes, bytes]], changes: list[Change]) -> dict[bytes, tuple[bytes, bytes]]:
    found, grown = dict(known), False
    for change in changes:
        if change.new_mode == ABSENT:
            found.pop(change.path, None)
        else:
            grown = grown or change.path not in found
            found[change.path] = (change.new_mode, change.new)
    return dict(sorted(found.items())) if grown else found


def show(git: Git, tree: str, path: str, cap: int = 50_000_000) -> bytes:
    """The bytes of one file. Raises WorkspaceError when the tree has no such file."""
    name = raw(path)
    if b"\n" in name:  # a lasting process is asked by lines
        status, out, _ = git.status("cat-file", "blob", f"{tree}:{fs_path(name)}", cap=cap)
        if status == 0:
            return out
    else:
        found = git_service.read(git, [tree.encode() + b":" + name])[0]
        if found is not None and found.kind == "blob":
            return found.data[:cap]
    raise WorkspaceError(f"{path} is not a file of tree {tree[:12]}")


def blobs(git: Git, objects: Iterable[bytes]) -> dict[bytes, bytes]:
    """Contents of several objects."""
    wanted = list(dict.fromkeys(objects))
    found: dict[bytes, bytes] = {}
    for oid, object_ in zip(wanted, git_service.read(git, wanted), strict=True):
        if object_ is None:
            raise WorkspaceError(f"object {oid.decode()} is missing", hint="git fsck", kind="permanent")
        found[oid] = object_.data
    return found


def edit(git: Git, tree: str, changes: Mapping[bytes, tuple[bytes, bytes] | None]) -> str:
    """`tree` with some paths replaced, or removed where the value is None. A file may take a folder's place."""
    if not changes:
        return tree
    made = edited(git, tree_of(git, tree), changes)
    _trees.put((git.git_dir, made), made)  # what was just written is not asked for
    return made


def apply_entries(view: Git, changes: Mapping[bytes, tuple[bytes, bytes] | None]) -> None:
    """Put entries into an index, removals first: a file may take a directory's place."""
    gone = [b"0 " + b"0" * 40 + b"\t" + path + b"\0" for path, entry in changes.items() if entry is None]
    new = [entry[0] + b" " + entry[1] + b"\t" + path + b"\0" for path, entry in changes.items() if entry]
    view.run("update-index", "-z", "--replace", "--index-info", stdin=b"".join(gone + new))


def overlay(git: Git, tree: str, other: str, wanted: Iterable[bytes]) -> str:
    """`tree`, with the given paths as `other` has them."""
    chosen = set(wanted)
    differing = {
        change.path: (change.new_mode, change.new) if change.new_mode != ABSENT else None
        for change in diff(git, tree, other, lines=False)
        if change.path in chosen
    }
    return edit(git, tree, differing)


def merge(git: Git, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """(tree, ()) of a clean three-way merge of two commits, or ("", conflicting paths)."""
    status, out, err = git.status("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    if status == 0:
        return nul_split(out)[0].decode().strip(), ()
    if status == 1:
        return "", tuple(dict.fromkeys(shown(path) for path in nul_split(out)[1:] if path))
    if "usage:" in err or "not a git command" in err or "unknown option" in err:  # git before 2.38
        mine = {change.path for change in diff(git, git.line("merge-base", ours, theirs), ours, lines=False)}
        return "", tuple(shown(path) for path in sorted(mine)) or ("?",)
    raise GitError(("merge-tree",), status, err)


_FORMAT = "%H%x00%T%x00%P%x00%ct%x00%s%x00" + "%x00".join(
    f"%(trailers:key=Devteam-{key},valueonly,separator=%x2C)" for key in ("Task", "Effect", "Evidence")
)


def log(git: Git, *revisions: str, limit: int = 0) -> list[LogEntry]:
    """History, newest first, along first parents."""
    count = (f"--max-count={limit}",) if limit else ()
    data = git.run("rev-list", "--first-parent", "--no-commit-header", f"--format={_FORMAT}%x01", *count, *revisions)
    found = []
    for record in data.split(b"\x01\n"):
        if not record.strip():
            continue
        commit, tree, parents, at, subject, task, effect, evidence = record.decode("utf-8", "replace").split("\0")
        found.append(
            LogEntry(
                commit=commit.strip(),
                tree=tree,
                parent=parents.split(" ")[0],
                at=float(at),
                subject=subject,
                task=task.strip(),
                effect=effect.strip(),
                evidence=evidence.strip(),
            )
        )
    return found


def is_ancestor(git: Git, commit: str, of: str) -> bool:
    status, _, err = git.status("merge-base", "--is-ancestor", commit, of)
    if status in (0, 1):
        return status == 0
    raise GitError(("merge-base",), status, err)
