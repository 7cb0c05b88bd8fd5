"""A look at what was touched in a folder that is known: those paths are read, and its tree is brought in line.

Raises LostError for whatever is not plainly a file or a link that came, went or was written to: see followed.py.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from engine.perform.workspace import git_service, scan, trees
from engine.perform.workspace.git import Git, nul_split
from engine.perform.workspace.ignore import Rules
from engine.perform.workspace.inotify import Heard, LostError
from engine.perform.workspace.known_folders import Followed
from engine.perform.workspace.store import Store
from engine.perform.workspace.tree_reading import FOLDER, Entry, entry, files_below, listed, topmost

MOST = 200
"""Paths of one look; more are quicker looked at by git, in one go."""
GITLINK, SYMLINK = trees.GITLINK, trees.SYMLINK
_PLAIN_GIT_NAMES = (b".gitignore", b".gitattributes", b".gitkeep", b".github", b".gitlab-ci.yml")


def left_out(git: Git, tree: str) -> Callable[[bytes], bool]:
    """Folders of installed packages and caches that nobody looks into, unless the tree has files there."""
    return lambda path: path.rpartition(b"/")[2] in scan.PRUNED and entry(git, tree, path) is None


class Look:
    """One look at what was touched."""

    def __init__(self, store: Store, known: Followed, rules: Rules | None, max_file: int, max_new: int) -> None:
        self._git, self._scratch, self._none = store.git, store.scratch, store.index("none")
        self._known, self._rules, self._max_file, self._max_new = known, rules, max_file, max_new
        self._changes: dict[bytes, Entry | None] = {}
        self._new: list[bytes] = []
        self._strange: set[bytes] = set()
        """Paths that may lie there and be no part of the tree."""
        self._real: dict[bytes, bool] = {b"": True}
        self._seen: set[bytes] = set()

    def run(self) -> list[bytes]:
        known = self._known
        if self._rules is not None and known.extras and known.rules not in (None, self._rules.path):
            raise LostError  # what was ignored may be none of that by now
        heard = known.watch.drain()
        for path in sorted(heard.touched):
            self._path(path, heard)
        self._take_new()
        known.tree = trees.edit(self._git, known.tree, self._changes)
        known.behind |= self._changes.keys()
        known.rules = self._rules.path if self._rules is not None else known.rules
        if heard.touched:
            self._keep_extras()
        return sorted(self._seen)

    def _path(self, path: bytes, heard: Heard) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        if len(self._seen) > MOST or _names_git(path):
            raise LostError
        was, now = entry(self._git, self._known.tree, path), self._status(path)
        if was is not None and was[0] == GITLINK:
            raise LostError
        if now is None:
            self._gone(path, was)
        elif stat.S_ISDIR(now.st_mode):
            self._folder(path, was, now, heard)
        elif was is not None and was[0] == FOLDER:
            raise LostError
        elif stat.S_ISREG(now.st_mode) or stat.S_ISLNK(now.st_mode) or (was is None and self._rules is None):
            self._file(path, was)
        else:
            raise LostError

    def _status(self, path: bytes) -> os.stat_result | None:
        above = path.rpartition(b"/")[0]
        if not self._is_real(above):
            return None
        try:
            return os.lstat(self._known.watch.top + b"/" + path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is_real(self, folder: bytes) -> bool:
        """Whether the way there is one of folders, without a link."""
        found = self._real.get(folder)
        if found is None:
            status = self._status(folder)
            found = self._real[folder] = status is not None and stat.S_ISDIR(status.st_mode)
        return found

    def _gone(self, path: bytes, was: Entry | None) -> None:
        if was is not None and was[0] == FOLDER:
            for below, found in files_below(self._git, was[1], path):
                self._gone(below, found)
        elif was is not None:
            if was[0] == GITLINK:
                raise LostError
            self._changes[path] = None
        self._strange.add(path)

    def _folder(self, path: bytes, was: Entry | None, now: os.stat_result, heard: Heard) -> None:
        if (was is not None and was[0] != FOLDER) or now.st_mode & 0o700 != 0o700:
            raise LostError
        if path not in heard.fresh:
            return
        self._strange.add(path)
        if was is None and self._rules is None:
            return  # all of it goes before anybody is shown this folder again
        skipped = left_out(self._git, self._known.tree)
        if skipped(path):
            return
        found = set(self._known.watch.enter(path, skipped, MOST))
        for below in sorted(found):
            self._path(below, heard)
        if was is not None:
            for below, entry_ in files_below(self._git, was[1], path):
                if below not in found:
                    self._seen.add(below)
                    self._gone(below, entry_)

    def _file(self, path: bytes, was: Entry | None) -> None:
        if was is None and self._rules is None:
            self._strange.add(path)
            return
        self._known.watch.see(path)  # before it is read
        if was is None:
            self._new.append(path)
            return
        now = self._read(path, 10 * self._max_file, was)
        if now != was:
            self._changes[path] = now

    def _take_new(self) -> None:
        """Files that the tree has not, unless they are ignored: by git, which knows the rules."""
        if not self._new or self._rules is None:
            return
        if not all(_is_plain_name(path) for path in self._new):
            raise LostError
        view = self._git.with_index(self._none, self._known.folder)
        asked = (os.fsdecode(path) for path in self._new)
        taken = nul_split(view.run("ls-files", "-z", "--others", *self._rules.arguments(), "--", *asked))
        if not set(taken) <= set(self._new) or (self._max_new and len(taken) > self._max_new):
            raise LostError
        self._strange |= set(self._new) - set(taken)
        for path in taken:
            self._changes[path] = self._read(path, self._max_file, None)

    def _read(self, path: bytes, cap: int, was: Entry | None) -> Entry:
        full = self._known.watch.top + b"/" + path
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            return self._stored(SYMLINK, os.readlink(full), was)  # noqa: PTH115
        if not stat.S_ISREG(status.st_mode) or not status.st_mode & 0o400 or (cap and status.st_size > cap):
            raise LostError
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(scan.MAX_FILE * 10 + 1)
        if len(data) > scan.MAX_FILE * 10:
            raise LostError
        return self._stored(b"100755" if status.st_mode & 0o100 else b"100644", data, was)

    def _stored(self, mode: bytes, data: bytes, was: Entry | None) -> Entry:
        named = hashlib.sha1 if len(self._known.tree) == 40 else hashlib.sha256  # git's names, not ours to choose
        oid = named(b"blob %d\0" % len(data) + data).hexdigest().encode()
        if was is None or was[1] != oid:
            git_service.write_object(self._git, data, self._scratch)
        return mode, oid

    def _keep_extras(self) -> None:
        known, kept = self._known, set[bytes]()
        for path in (*known.extras, *self._strange):
            outermost = topmost(self._git, known.tree, path)
            if not outermost and (found := entry(self._git, known.tree, path)) and found[0] == FOLDER:
                kept |= self._strangers(path, found[1])
            elif outermost and self._status(outermost) is not None:
                kept.add(outermost)
        known.extras = kept

    def _strangers(self, folder: bytes, tree: bytes) -> set[bytes]:
        """What lies in a folder of the tree and is no part of it."""
        return set(_beside(self._git, self._known.watch.top, folder, tree))


def _beside(git: Git, top: bytes, folder: bytes, tree: bytes) -> Iterator[bytes]:
    there = listed(git, tree)
    with os.scandir(top + b"/" + folder) as entries:
        for found in list(entries):
            path, was = folder + b"/" + found.name, there.get(found.name)
            if was is None:
                yield path
            elif was[0] == FOLDER and found.is_dir(follow_symlinks=False):
                yield from _beside(git, top, path, was[1])


def _names_git(path: bytes) -> bool:
    return any(part.lower() == b".git" for part in path.split(b"/"))


def _is_plain_name(path: bytes) -> bool:
    """Whether git takes the name for sure: nothing that could become .git on another system."""
    for part in path.split(b"/"):
        if any(char in part for char in (b"\\", b":", b"~")) or min(part) < 32:
            return False
        bare = bytes(char for char in part if char < 128).lower()
        if bare.startswith(b".git") and part not in _PLAIN_GIT_NAMES:
            return False
    return True
