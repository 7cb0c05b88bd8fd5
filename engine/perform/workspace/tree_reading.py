"""Single paths of a tree: only the folders above them are read, however large the tree is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.perform.workspace import git_service
from engine.perform.workspace.git import Git, GitError
from engine.perform.workspace.unchanging import Kept

FOLDER = b"40000"
Entry = tuple[bytes, bytes]
"""Mode, as a tree object writes it, and object."""
_listed: Kept[Mapping[bytes, Entry]] = Kept(500, 50_000)
"""A row takes a quarter of a kilobyte, and each iteration has folders of its own: a large one fills it alone."""
_MODES = {mode: mode for mode in (FOLDER, b"100644", b"100755", b"120000", b"160000")}


def listed(git: Git, tree: bytes) -> Mapping[bytes, Entry]:
    """One folder: name → entry, in git's order."""
    key = (git.git_dir, tree)
    found = _listed.get(key)
    if found is None:
        (object_,) = git_service.read(git, [tree])
        if object_ is None or object_.kind != "tree":
            raise GitError(("cat-file",), 128, f"tree {tree.decode()} is missing")
        found = dict(_parsed(object_.data, len(tree) // 2))
        remember(git, tree, found)
    return found


def remember(git: Git, tree: bytes, entries: Mapping[bytes, Entry]) -> None:
    """What a folder holds, in git's order: one that was just written is not read again."""
    _listed.put((git.git_dir, tree), entries, len(entries))


def _parsed(data: bytes, width: int) -> Iterator[tuple[bytes, Entry]]:
    at = 0
    while at < len(data):
        space, nul = data.index(b" ", at), data.index(b"\0", at)
        mode = data[at:space]
        yield data[space + 1 : nul], (_MODES.get(mode, mode), data[nul + 1 : nul + 1 + width].hex().encode())
        at = nul + 1 + width


def entry(git: Git, tree: str, path: bytes) -> Entry | None:
    """What is at a path: a file, a link, a folder, a submodule; None where there is nothing."""
    here: Entry = (FOLDER, tree.encode())
    for part in path.split(b"/"):
        if here[0] != FOLDER:
            return None
        found = listed(git, here[1]).get(part)
        if found is None:
            return None
        here = found
    return here


def files_below(git: Git, folder: bytes, path: bytes) -> Iterator[tuple[bytes, Entry]]:
    """All that is in a folder (by its object) and below; `path` is where it lies."""
    for name, found in listed(git, folder).items():
        if found[0] == FOLDER:
            yield from files_below(git, found[1], path + b"/" + name)
        else:
            yield path + b"/" + name, found


def topmost(git: Git, tree: str, path: bytes) -> bytes:
    """The outermost of a path and the folders above it that a tree has nothing at; empty where it has the path."""
    here = tree.encode()
    parts = path.split(b"/")
    for depth, part in enumerate(parts):
        found = listed(git, here).get(part)
        if found is None or (found[0] != FOLDER and depth < len(parts) - 1):
            return b"/".join(parts[: depth + 1])
        here = found[1]
    return b""
