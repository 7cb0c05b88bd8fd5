"""One tree object, written as git writes it: a file of its own among the engine's objects.

`git mktree` looks for every object that a tree names, each time: in a folder of a thousand files that is a thousand
opens for one that changed. Here only what is new in it is looked for.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping

from engine import files
from engine.perform.workspace import git_service
from engine.perform.workspace.git import Git, GitError
from engine.perform.workspace.tree_reading import FOLDER, Entry, remember

SUBMODULE = b"160000"
UNCHANGING = 0o444
"""As git has its objects."""


def write(git: Git, entries: Mapping[bytes, Entry], new: Iterable[Entry], width: int = 40) -> str:
    """Name → entry as a tree, on the disk when this returns. `new` are the entries whose objects no tree that is there
    names: each must be there. `width`: letters of an object's name here."""
    _must_be_there(git, [(mode, oid) for mode, oid in new if mode != SUBMODULE])
    ordered = dict(sorted(entries.items(), key=_place))
    body = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid.decode()) for name, (mode, oid) in ordered.items())
    whole = b"tree %d\0" % len(body) + body
    name = (hashlib.sha1 if width == 40 else hashlib.sha256)(whole, usedforsecurity=False).hexdigest()
    if git.git_dir is None:
        raise GitError(("write-tree",), 128, "no git directory to write a tree to")
    objects = git.git_dir / "objects"
    path = objects / name[:2] / name[2:]
    if not (path.is_file() and path.stat().st_size):  # an empty one is what a power cut leaves
        if not path.parent.is_dir():
            path.parent.mkdir(exist_ok=True)
            files.sync(objects)
        files.write(path, zlib.compress(whole, 1), mode=UNCHANGING)
    remember(git, name.encode(), ordered)
    return name


def _place(item: tuple[bytes, Entry]) -> bytes:
    """git sorts a folder as if its name ended in a slash."""
    name, (mode, _) = item
    return name + b"/" if mode == FOLDER else name


def _must_be_there(git: Git, entries: list[Entry]) -> None:
    for (mode, oid), kind in zip(entries, git_service.kinds(git, [oid for _, oid in entries]), strict=True):
        if kind != ("tree" if mode == FOLDER else "blob"):
            said = f"it is a {kind}" if kind else "it is missing"
            raise GitError(("write-tree",), 128, f"object {oid.decode()} of mode {mode.decode()}: {said}")
