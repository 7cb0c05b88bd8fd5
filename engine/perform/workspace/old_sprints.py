"""What ended sprints left in the user's repository and in the engine's own objects, and its removal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.perform.workspace.branch import branch_of, checked_out, heads, ref_of
from engine.perform.workspace.git import GitError
from engine.perform.workspace.store import Store


def in_users_history(store: Store, commit: str) -> bool:
    """Whether one of the user's own branches, tags or remote branches has the commit."""
    places = ("refs/heads", "refs/tags", "refs/remotes")
    try:
        out = store.repo.git().run("for-each-ref", "--contains", commit, "--format=%(refname)", *places)
    except GitError:
        return False  # it is not even there
    names = out.decode("utf-8", "surrogateescape").splitlines()
    return any(not name.startswith("refs/heads/devteam/") for name in names)


def ends_of(store: Store, sprint: str) -> set[str]:
    """Where the sprint's branch and its mirror end: in two places where the user has own commits on the branch."""
    now = heads(store.repo, sprint)
    return {oid for oid in (now.tip, now.branch) if oid}


def is_checked_out(store: Store, sprint: str) -> bool:
    return bool(checked_out(store.repo, branch_of(sprint)))


def refs_of(store: Store, sprint: str) -> dict[str, str]:
    """Branch, mirror, base, baselines, kept trees, backups of rollbacks, what landings replaced. A name that another's
    begins with is not another's."""
    return store.repo.refs(branch_of(sprint), ref_of(sprint))


def holds_the_users(ref: str) -> bool:
    """What a landing replaced: files of the user's that may be nowhere else (`replaced.py`)."""
    return "/backup/land-" in ref


def drop_refs(store: Store, refs: dict[str, str]) -> None:
    """All or none, and only where they still are what they were when they were listed."""
    if refs:
        gone = [(name, store.repo.null, oid) for name, oid in sorted(refs.items())]
        store.repo.update_refs(gone, "devteam: cleaned")


def compact(store: Store, named: Iterable[str]) -> bool:
    """Keep of the engine's own objects what `named` reaches, in one pack. What the user's repository has is not ours.

    The new pack is whole before anything goes; where it cannot be made, everything stays."""
    old = list(store.git_objects.glob("[0-9a-f][0-9a-f]/[0-9a-f]*"))
    old += list((store.git_objects / "pack").glob("pack-*"))
    listed = store.git.run("cat-file", "--batch-check", stdin="".join(f"{oid}\n" for oid in named).encode())
    there = [line.split()[0] for line in listed.decode().splitlines() if not line.endswith(("missing", "ambiguous"))]
    theirs = store.repo.refs("refs/heads", "refs/tags", "refs/remotes").values()
    wanted = "".join(f"{oid}\n" for oid in there) + "".join(f"^{oid}\n" for oid in set(theirs))
    target = store.folder("git", "objects", "pack") / "pack"
    try:
        made = store.git.run("pack-objects", "-q", "--revs", "--local", str(target), stdin=wanted.encode())
    except GitError:
        return False
    kept = {f"pack-{name}" for name in made.decode().split()}
    for path in old:
        if path.stem not in kept:
            store.grave.remove(path)
    return True


def size_of(path: Path) -> tuple[int, int]:
    """Files and bytes at a place; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        return (1, path.lstat().st_size) if path.exists() or path.is_symlink() else (0, 0)
    count = total = 0
    todo = [path]
    while todo:
        for entry in todo.pop().iterdir():
            if entry.is_dir() and not entry.is_symlink():
                todo.append(entry)
            else:
                count, total = count + 1, total + entry.lstat().st_size
    return count, total
