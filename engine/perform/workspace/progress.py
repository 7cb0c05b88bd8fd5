"""Plan and progress in the commits (`workspace.commit_progress`): the sprint's own files below `.devteam/`.

They are the engine's to write, in the user's checkout, as the sprint goes on. A task's commit carries them as they are
with that task ticked; landing carries them as they are then, and never writes them: what lies on the disk is newer.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine import files
from engine.perform.workspace import trees
from engine.perform.workspace.git import nul_split
from engine.perform.workspace.start import OURS
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import Change

LARGEST = 1_000_000
"""A page of ours is small; anything larger below the sprint's folder is not one."""
PAGES = (".devteam/progress.txt", ".devteam/features.json", ".devteam/init.sh", ".devteam/.gitignore")
"""What the engine writes beside the sprint's folder; what is ignored is left out."""

SPRINTS = ".devteam/sprints"
_LEARNING = re.compile(rb"\.devteam/sprints/[^/]+/learnings/[^/]+\.md")

Ticked = Callable[[Path, bytes, str], bytes]


class Progress:
    """What is carried, and how a plan is ticked. `on` None: where the user has committed `.devteam/`."""

    def __init__(self, on: bool | None = None, ticked: Ticked = lambda _path, data, _task: data) -> None:
        self.on = on
        self.ticked = ticked
        self._tracked: tuple[int, bool] = (-1, False)

    def wanted(self, store: Store) -> bool:
        if self.on is not None:
            return self.on
        try:
            stamp = (store.repo.git_dir / "index").stat().st_mtime_ns
        except OSError:
            return False
        if self._tracked[0] != stamp:
            listed = store.repo.git().run("ls-files", "-z", "--", os.fsdecode(OURS))
            self._tracked = (stamp, bool(listed.strip(b"\0")))
        return self._tracked[1]


def with_pages(store: Store, sprint: str, progress: Progress, tree: str, task: str = "") -> str:
    """`tree` with the sprint's files as they are on the disk now, `task` ticked in its plan."""
    if not progress.wanted(store):
        return tree
    shared = [str(folder.relative_to(store.repo.checkout)) for folder in _learnings(store.repo.checkout)]
    listed = store.repo.git().run(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--",
        _folder(sprint), *PAGES, *shared,
    )  # fmt: skip
    pages: dict[bytes, tuple[bytes, bytes]] = {}
    for name in dict.fromkeys(nul_split(listed)):
        path = store.repo.checkout / os.fsdecode(name)
        found = _plain(path)
        if found is None:
            continue
        mode, data = found
        if task and path.parent.name == sprint:
            data = progress.ticked(path, data, task)
        pages[name] = (mode, data)
    oids = _written(store, [data for _mode, data in pages.values()])
    entries = {name: (mode, oid) for (name, (mode, _data)), oid in zip(pages.items(), oids, strict=True)}
    return trees.edit(store.git, tree, entries)


def _written(store: Store, contents: list[bytes]) -> list[bytes]:
    """Their object names, in one call however many they are."""
    with tempfile.TemporaryDirectory(dir=store.scratch, prefix="pages-") as folder:
        paths = []
        for number, data in enumerate(contents):
            paths.append(Path(folder) / str(number))
            files.write(paths[-1], data)
        named = "".join(f"{path}\n" for path in paths).encode()
        return store.git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=named).split()


def but_pages(changes: list[Change], sprint: str) -> list[Change]:
    """Changes of anything but these files: what landing compares, keeps and writes."""
    folder = os.fsencode(f"{_folder(sprint)}/")
    pages = [os.fsencode(page) for page in PAGES]
    return [
        change
        for change in changes
        if not change.path.startswith(folder) and change.path not in pages and not _LEARNING.fullmatch(change.path)
    ]


def _learnings(checkout: Path) -> list[Path]:
    """What agents and humans say of a learning stands in its file, whichever sprint it came from."""
    found = (checkout / SPRINTS).glob("*/learnings")
    linked = any((checkout / name).is_symlink() for name in (SPRINTS, ".devteam"))
    return [] if linked else sorted(one for one in found if one.is_dir() and not _linked(one))


def _linked(folder: Path) -> bool:
    return folder.is_symlink() or folder.parent.is_symlink()


def _folder(sprint: str) -> str:
    return f"{SPRINTS}/{sprint}"


def _plain(path: Path) -> tuple[bytes, bytes] | None:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return None
        return b"100755" if found.st_mode & stat.S_IXUSR else b"100644", path.read_bytes()
    except OSError:
        return None
