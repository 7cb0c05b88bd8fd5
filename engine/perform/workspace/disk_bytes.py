"""What lies in the user's checkout at some paths, byte for byte: no bit, stat entry or filter of the index has a say.

git believes its index: an edit behind `assume-unchanged` or `skip-worktree`, or one with the old time and size, is not
there for it. Landing replaces files, so it reads them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.perform.workspace import packs, trees
from engine.perform.workspace.branch import ref_of
from engine.perform.workspace.git import Git, nul_list, nul_split
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import Change

ASSUMED, SKIPPED = "assume-unchanged", "skip-worktree"
Entry = tuple[bytes, bytes]
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Seen:
    """The disk at some paths."""

    raw: Mapping[bytes, Entry]
    """Mode and object of the very bytes, for what is there. Objects are in the engine's store."""
    differs: tuple[Change, ...]
    """Against the tree it was compared with, as git would store the bytes (line endings)."""
    unknown: frozenset[bytes] = frozenset()
    """Paths behind a filter (LFS), which is never run: nobody can say whether their bytes are those of the tree."""
    stamps: Mapping[bytes, Stamp] = field(default_factory=dict)

    def moved(self, checkout: Path) -> list[bytes]:
        """What was written to since."""
        return [path for path, stamp in self.stamps.items() if _stamp(checkout, path) != stamp]


def look(store: Store, tree: str, paths: Iterable[bytes]) -> Seen:
    """Read what is at these paths and compare it with `tree`."""
    repo = store.repo
    wanted = list(dict.fromkeys(paths))
    stamps = {path: _stamp(repo.checkout, path) for path in wanted}
    there = [path for path in wanted if (stamp := stamps[path]) is not None and not stat.S_ISDIR(stamp[0])]
    kept = {path: stamp for path, stamp in stamps.items() if stamp is not None}
    if not wanted:
        return Seen({}, ())
    raw = _added(store.git.with_index(_fresh(store, "bytes-raw"), repo.checkout), there)
    clean = repo.git(_fresh(store, "bytes-clean"), store.git_objects)
    clean.run("read-tree", tree)
    gone = [path for path in wanted if path not in set(there)]
    if gone:
        clean.run("update-index", "--force-remove", "-z", "--stdin", stdin=nul_list(gone))
    if there:
        clean.run("update-index", "--add", "--replace", "-z", "--stdin", stdin=nul_list(there))
    chosen = set(wanted)
    found = trees.diff(store.git, tree, clean.line("write-tree"), lines=False)
    absent = _left_out_by_sparse(repo.git(), gone)
    differs = tuple(change for change in found if change.path in chosen and change.path not in absent)
    return Seen(raw, differs, _filtered(repo.git(), wanted) if repo.drivers() else frozenset(), kept)


def hidden(git: Git) -> dict[bytes, str]:
    """Paths whose edits the index hides, and by which bit."""
    found = (record.split(b" ", 1) for record in nul_split(git.run("ls-files", "-z", "-v", "--full-name")))
    words = {b"S": SKIPPED, b"s": SKIPPED}
    return {path: words.get(tag, ASSUMED) for tag, path in found if tag == b"S" or tag.islower()}


def keep(store: Store, sprint: str, head: str, staged: str, seen: Seen, paths: Iterable[bytes]) -> str:
    """Pin what is about to be replaced, byte for byte, under a ref of the user's repository; returns its name.

    As in a stash, what was staged is the second parent: it may differ from the file, and goes with the old index.
    """
    taken = {path: seen.raw[path] for path in paths if path in seen.raw}
    repo = store.repo
    commit = head
    git = store.git.with_env(GIT_AUTHOR_DATE="@0 +0000", GIT_COMMITTER_DATE="@0 +0000")
    parents = ("-p", head) if head else ()
    if not head or staged != trees.tree_of(store.git, head):
        kept = git.line("commit-tree", staged, *parents, "-m", f"devteam: what you had staged when {sprint} landed")
        parents = (*parents, "-p", kept)
    if taken or len(parents) > 2:
        view = store.git.with_index(_fresh(store, "bytes-kept"))
        view.run("read-tree", "--empty")
        if taken:
            trees.apply_entries(view, taken)
        text = f"devteam: your files that landing {sprint} replaced"
        commit = git.line("commit-tree", view.line("write-tree"), *parents, "-m", text)
    if not commit:
        return ""
    ref = ref_of(sprint, "backup", f"land-{head[:12] or 'first'}-{commit[:8]}")
    if ref not in repo.refs(ref):
        with packs.taken(store, commit, (head,)):
            repo.update_refs([(ref, commit, repo.null)], "devteam: before landing")
    return ref


def _added(git: Git, paths: list[bytes]) -> dict[bytes, Entry]:
    """Paths into an empty index, and what they are there."""
    if not paths:
        return {}
    git.run("update-index", "--add", "-z", "--stdin", stdin=nul_list(paths))
    found: dict[bytes, Entry] = {}
    for record in nul_split(git.run("ls-files", "-z", "--stage", "--full-name")):
        head, path = record.split(b"\t", 1)
        mode, oid, _ = head.split(b" ", 2)
        found[path] = (mode, oid)
    return found


def _fresh(store: Store, name: str) -> Path:
    index = store.index(name)
    for path in (index, index.with_name(index.name + ".lock")):
        path.unlink(missing_ok=True)
    return index


def _stamp(checkout: Path, path: bytes) -> Stamp | None:
    """What a file is right now; None where there is none, or where a link stands for one of its folders."""
    here = os.fsencode(checkout)
    parts = path.split(b"/")
    try:
        for part in parts[:-1]:
            here += b"/" + part
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                return None
        found = os.lstat(here + b"/" + parts[-1])
    except OSError:
        return None
    return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns)


def _left_out_by_sparse(git: Git, gone: list[bytes]) -> set[bytes]:
    """Of the paths that are not there, those a sparse checkout leaves out: they are as they should be."""
    if not gone:
        return set()
    bits = hidden(git)
    return {path for path in gone if bits.get(path) == SKIPPED}


def _filtered(git: Git, paths: list[bytes]) -> frozenset[bytes]:
    told = nul_split(git.run("check-attr", "-z", "--stdin", "filter", stdin=nul_list(paths)))
    triples = zip(told[0::3], told[2::3], strict=True)
    return frozenset(path for path, value in triples if value not in (b"unspecified", b"unset"))
