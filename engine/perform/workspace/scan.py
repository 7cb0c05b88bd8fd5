"""From a folder to a tree: what is really in a work tree, seen through a private index with its stat cache.

Nothing in the folder is believed: not its .git, .gitignore or .gitattributes. Contents go in as raw bytes.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.perform.workspace import trees
from engine.perform.workspace.facts import Odd, Scan
from engine.perform.workspace.git import Git, nul_list, nul_split
from engine.perform.workspace.names import shown
from engine.perform.workspace.unchanging import Kept

MAX_FILE = 5_000_000
MANY = 200
CHANGED = ("diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all")
"""Asks which files of an index are no longer what it says."""
TOP = "."
"""Where no single path is meant."""
_LONGEST = 3500  # a path the kernel takes, with room for a name
PRUNED = frozenset((b"node_modules", b"__pycache__", b".venv", b".mypy_cache", b".ruff_cache", b".pytest_cache"))


@dataclass(frozen=True)
class View:
    """A work tree and the private index it is looked at with."""

    git: Git
    """Carries the index, the work tree and the git directory."""
    index: Path
    folder: Path
    ours: bool = False
    """Nobody but us ever writes this index, so that what is in it need not be asked again."""


def view(git: Git, index: Path, folder: Path) -> View:
    """Open a view. A lock left by a killed engine is removed: only engine-owned indexes come here."""
    lock = index.with_name(index.name + ".lock")
    for _ in range(60):  # a git that outlived a killed engine may still be at it: let it end
        if not lock.exists():
            break
        threading.Event().wait(0.05)
    lock.unlink(missing_ok=True)
    return View(git.with_index(index, folder), index, folder, ours=True)


_held: Kept[tuple[tuple[int, int, int], str]] = Kept(256)
"""By index: there are some for each lane and each sprint that this process has seen."""


def holds(seen: View, tree: str) -> None:
    """Remember which tree is in an index, until anybody writes to it."""
    stamp = _stamp(seen.index)
    if seen.ours and stamp is not None:
        _held.put((seen.index,), (stamp, tree))


def held(seen: View) -> str:
    """The tree that is in an index; empty: git has to be asked."""
    stamp, tree = _held.get((seen.index,)) or (None, "")
    return tree if stamp is not None and stamp == _stamp(seen.index) else ""


def _stamp(index: Path) -> tuple[int, int, int] | None:
    try:
        status = index.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def heal(folder: Path) -> list[Odd]:
    """Walk a folder an agent had: open up what it locked, name what no tree can hold. Links are never followed."""
    odd: list[Odd] = []
    top = os.fsencode(folder)
    todo = [top]
    start = len(top) + 1
    while todo:
        here = todo.pop()
        for entry in _entries(here):
            name = entry.name
            named_git = len(name) == 4 and name.lower() == b".git"
            if entry.is_file(follow_symlinks=False):  # first: nearly all of them are
                if named_git and here != top:
                    odd.append(_odd(here[start:], "nested-repository", "has a .git file of its own"))
            elif entry.is_dir(follow_symlinks=False):
                if named_git:
                    if here != top:
                        odd.append(_odd(here[start:], "nested-repository", "has a git repository of its own"))
                elif len(entry.path) > _LONGEST:
                    odd.append(_odd(entry.path[start:], "too-deep", "is nested too deeply"))
                elif name not in PRUNED:
                    todo.append(entry.path)
            elif named_git and here != top:
                odd.append(_odd(here[start:], "nested-repository", "has a .git file of its own"))
            elif not entry.is_symlink():
                odd.append(_odd(entry.path[start:], "special-file", "is neither a file nor a link"))
    return odd


def _entries(folder: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except PermissionError:
        os.chmod(folder, 0o700)  # noqa: PTH101 — the folder came from a walk that follows no link
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _odd(path: bytes, rule: str, text: str) -> Odd:
    return Odd(path=shown(path), rule=rule, text=text)


def refresh(
    seen: View,
    excludes: tuple[str, ...],
    max_file: int = MAX_FILE,
    untracked: bool = True,
    submodules: str = "all",
    leave_out: Callable[[bytes], bool] | None = None,
    max_new: int = 0,
    changed: bytes | None = None,
) -> Scan:
    """Bring the index in line with the folder and write its tree. `max_file` 0, `max_new` 0: no cap.

    `changed`: what git has just said to `CHANGED`."""
    odd: list[Odd] = []
    gone: list[bytes] = []
    fresh: list[bytes] = []
    if changed is None:
        changed = seen.git.run(*CHANGED[:-1], f"--ignore-submodules={submodules}")
    changes = trees.parse_raw(changed)
    others = nul_split(seen.git.run("ls-files", "-z", "--others", *excludes, "--")) if untracked else []
    for change in changes:
        if change.new_mode == trees.GITLINK and change.old_mode != trees.GITLINK:
            odd.append(Odd(path=shown(change.path), rule="nested-repository", text="became a repository", whole=True))
            gone.append(change.path)
        elif change.new_mode == trees.ABSENT and not _file_at(seen.folder, change.path):
            gone.append(change.path)
        else:
            _sort(seen.folder, change.path, fresh, gone, odd, 10 * max_file)
    if max_new and len(others) > max_new:
        # Not one of them is read: which ones were meant, nobody can say.
        some = ", ".join(shown(path) for path in others[:3])
        text = f"{len(others)} new files, more than {max_new} (workspace.max_files): {some} …"
        odd.append(Odd(path=TOP, rule="too-many", text=text, whole=True))
        others = []
    for path in others:
        if leave_out is not None and leave_out(path):
            continue
        if path.endswith(b"/"):
            text = "has a git repository of its own"
            odd.append(Odd(path=shown(path.rstrip(b"/")), rule="nested-repository", text=text, whole=True))
        else:
            _sort(seen.folder, path, fresh, [], odd, max_file)
    tree = held(seen) if not gone and not fresh else ""
    if gone or fresh:
        _held.forget((seen.index,))
    if gone:
        seen.git.run("update-index", "--force-remove", "-z", "--stdin", stdin=nul_list(gone))
    if fresh:
        odd += _add(seen, fresh)
    if not tree:
        tree = seen.git.line("write-tree")
        holds(seen, tree)
    return Scan(
        tree=tree,
        odd=tuple(odd),
        touched=tuple(shown(path) for path in [*gone, *fresh]),
    )


def _file_at(folder: Path, path: bytes) -> bool:
    """A file or link at `path`, with real directories all the way."""
    parts = path.split(b"/")
    here = os.fsencode(folder)
    for part in parts[:-1]:
        here += b"/" + part
        try:
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                return False
        except OSError:
            return False
    try:
        mode = os.lstat(here + b"/" + parts[-1]).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _sort(folder: Path, path: bytes, fresh: list[bytes], gone: list[bytes], odd: list[Odd], cap: int) -> None:
    full = os.fsencode(folder) + b"/" + path
    try:
        status = os.lstat(full)
    except OSError:
        gone.append(path)
        return
    if stat.S_ISDIR(status.st_mode):  # a submodule's folder
        fresh.append(path)
    elif not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        odd.append(_odd(path, "special-file", "is neither a file nor a link"))
        gone.append(path)
    elif cap and status.st_size > cap:
        odd.append(_odd(path, "too-large", f"has {status.st_size} bytes, more than {cap} (workspace.max_file_bytes)"))
        gone.append(path)
    else:
        if stat.S_ISREG(status.st_mode) and not status.st_mode & 0o400:
            os.chmod(full, 0o600 | (status.st_mode & 0o111))  # noqa: PTH101 — a regular file by lstat
        fresh.append(path)


def _add(seen: View, fresh: list[bytes]) -> list[Odd]:
    """Add paths; where git refuses one (a name that could become .git elsewhere), halve until it is found."""
    # Many contents go into one pack: a file of its own for each, synced, costs milliseconds each.
    options = ("-c", "core.bigFileThreshold=1") if len(fresh) > MANY else ()
    adding = ("update-index", "--add", "--replace", "-z", "--stdin")
    status, _, err = seen.git.status(*adding, stdin=nul_list(fresh), options=options)
    if status == 0 and "Ignoring path" not in err:  # git skips such a name without failing
        return []
    if len(fresh) > 1:
        middle = len(fresh) // 2
        return _add(seen, fresh[:middle]) + _add(seen, fresh[middle:])
    line = next((line for line in err.splitlines() if line.strip()), "").removeprefix("error: ")
    reason = "has a name that git does not take" if status == 0 or not line else f"is refused by git: {line}"
    return [_odd(fresh[0], "bad-name", reason)]
