"""A tree with some paths changed: only the folders above them are read and written, however large the tree is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.perform.workspace import tree_writing
from engine.perform.workspace.git import Git
from engine.perform.workspace.tree_reading import FOLDER, Entry, listed


@dataclass
class _Folder:
    """What changes below one folder; a name is in one of the two."""

    files: dict[bytes, Entry | None] = field(default_factory=dict)
    folders: dict[bytes, _Folder] = field(default_factory=dict)


def edited(git: Git, tree: str, changes: Mapping[bytes, Entry | None]) -> str:
    """`tree` (by its object name) with each path as given, or without it where None is given."""
    top = _Folder()
    for path, entry in sorted(changes.items(), key=lambda item: item[1] is not None):  # removals first
        here = top
        *above, name = path.split(b"/")
        for part in above:
            here = here.folders.setdefault(part, _Folder())
        here.files[name] = (entry[0].lstrip(b"0"), entry[1]) if entry is not None else None
    made = _write(git, tree.encode(), top, len(tree))
    return made.decode() if made is not None else tree_writing.write(git, {}, (), len(tree))


def _write(git: Git, tree: bytes | None, changed: _Folder, width: int) -> bytes | None:
    """The folder's new tree; None when nothing is left in it."""
    before: Mapping[bytes, Entry] = listed(git, tree) if tree is not None else {}
    now = dict(before)
    new: list[Entry] = []
    for name, entry in changed.files.items():
        if entry is not None:
            now[name] = entry
            new += [entry] if entry != before.get(name) else []
        elif name in now and now[name][0] != FOLDER:  # a path that is a folder by now is not the file that goes
            del now[name]
    for name, below in changed.folders.items():
        there = now.get(name)
        is_folder = there is not None and there[0] == FOLDER
        if not is_folder and not _adds(below):
            continue
        made = _write(git, there[1] if there is not None and is_folder else None, below, width)
        if made is None:
            del now[name]
        else:
            now[name] = (FOLDER, made)
    if now == before and tree is not None:
        return tree
    return tree_writing.write(git, now, new, width).encode() if now else None


def _adds(changed: _Folder) -> bool:
    return any(entry is not None for entry in changed.files.values()) or any(map(_adds, changed.folders.values()))
