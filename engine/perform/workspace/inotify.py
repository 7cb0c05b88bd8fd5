"""The kernel's word on what was touched below a folder. The only place that speaks inotify.

Every folder is watched for its names, every file by its inode: a write is heard whichever name it went by (a hard link
elsewhere, a mapping in memory, whatever times are set afterwards). What happens before a watch is set is not heard, so
whoever reads a folder sets its watch first. Where anything may have been missed, it is said: the folder is lost.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x100, 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
ONLY_FOLDERS, NO_LINKS, IS_FOLDER = 0x1000000, 0x2000000, 0x40000000
OF_FOLDERS = CREATE | DELETE | MOVED_FROM | MOVED_TO | ATTRIB | DELETE_SELF | MOVE_SELF | ONLY_FOLDERS | NO_LINKS
OF_FILES = MODIFY | CLOSE_WRITE | ATTRIB | DELETE_SELF | MOVE_SELF | NO_LINKS
"""CLOSE_WRITE also comes when the last mapping of a file goes; MODIFY also when one is cut short by its name."""

TRUSTED = frozenset((0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E))
"""ext, xfs, btrfs, tmpfs, f2fs, zfs, bcachefs: all writing goes through this kernel, to one inode a file."""
AT_ONCE = 16
"""Folders that one engine watches: the user has 128 such queues by default, for all programs."""
_HEAD = struct.Struct("iIII")
_PIECE = 1 << 16

_lock = threading.Lock()
_taken = {"watches": 0, "folders": 0}


class LostError(Exception):
    """Something may have been missed, or cannot be watched: whoever asks has to look for himself."""


@dataclass
class Heard:
    """What was touched, relative to the folder."""

    touched: set[bytes] = field(default_factory=set)
    fresh: set[bytes] = field(default_factory=set)
    """Of these, the folders that came to their place: nothing in them was watched."""


class Watch:
    """All that is below one folder, but for its own .git."""

    def __init__(self, folder: Path) -> None:
        """Raises LostError where this system cannot watch the folder."""
        self.top = os.fsencode(folder)
        self._paths: dict[int, tuple[bytes, ...]] = {}
        """By watch; several names of one inode have one. A name that is gone may stay: it is looked for in vain."""
        self._folders: dict[int, bytes] = {}
        self._queue = _opened(self.top)
        self._held = [1, 0]
        """Folders and watches that are counted as ours."""
        self.close = weakref.finalize(self, _closed, self._queue, self._held)

    def enter(self, folder: bytes, leave_out: Callable[[bytes], bool], most: int) -> list[bytes]:
        """Watch a folder and all below it; its files and links, `most` of them. Raises LostError where it holds what
        only a look by hand tells apart: special files, repositories, locked folders."""
        found: list[bytes] = []
        todo = [folder]
        while todo:
            here = todo.pop()
            full = self.top + b"/" + here if here else self.top
            number = self._add(full, OF_FOLDERS)
            if number is None:
                continue
            self._folders[number] = here
            try:
                with os.scandir(full) as entries:
                    todo += self._among(here, list(entries), leave_out, found)
            except FileNotFoundError:
                continue
            except OSError as problem:
                raise LostError from problem
            if most and len(found) > most:
                raise LostError
        return found

    def _among(
        self, here: bytes, entries: list[os.DirEntry[bytes]], leave_out: Callable[[bytes], bool], found: list[bytes]
    ) -> list[bytes]:
        folders: list[bytes] = []
        before = here + b"/" if here else b""
        for entry in entries:
            path = before + entry.name
            if len(entry.name) == 4 and entry.name.lower() == b".git":
                if path != b".git":
                    raise LostError
            elif entry.is_file(follow_symlinks=False):
                if self._file(path, entry.path):
                    found.append(path)
            elif entry.is_symlink():  # its target cannot be written to, only its name be given to another
                found.append(path)
            elif not entry.is_dir(follow_symlinks=False):
                raise LostError
            elif not leave_out(path):
                folders.append(path)
        return folders

    def see(self, path: bytes) -> None:
        """Watch one file that came to its place. Raises LostError where it cannot be watched."""
        self._file(path, self.top + b"/" + path)

    def _file(self, path: bytes, full: bytes) -> bool:
        number = self._add(full, OF_FILES)
        if number is None:
            return False
        if number in self._folders:
            raise LostError
        known = self._paths.get(number, ())
        if path not in known:
            self._paths[number] = (*known, path)
        return True

    def _add(self, full: bytes, mask: int) -> int | None:
        number = int(_libc().inotify_add_watch(self._queue, full, mask))
        if number >= 0:
            if number not in self._paths and number not in self._folders:
                _count(self._held, 1)
            return number
        if ctypes.get_errno() == 2:  # gone meanwhile: its folder's watch has heard that
            return None
        raise LostError(os.strerror(ctypes.get_errno()))

    def watches_folder(self, path: bytes) -> bool:
        return path in self._folders.values()

    def drain(self) -> Heard:
        """All that was heard since the last time. Raises LostError where that is not all."""
        heard = Heard()
        while True:
            try:
                data = os.read(self._queue, _PIECE)
            except BlockingIOError:
                return heard
            at = 0
            while at < len(data):
                number, mask, _, size = _HEAD.unpack_from(data, at)
                at += _HEAD.size + size
                self._hear(heard, number, mask, data[at - size : at].rstrip(b"\0"))

    def _hear(self, heard: Heard, number: int, mask: int, name: bytes) -> None:
        if mask & (OVERFLOW | UNMOUNT):
            raise LostError
        folder = self._folders.get(number)
        if folder is None:
            heard.touched.update(self._paths.get(number, ()))
        elif name:
            path = folder + b"/" + name if folder else name
            if path == b".git":
                return
            heard.touched.add(path)
            if mask & IS_FOLDER and mask & MOVED_FROM and self.watches_folder(path):
                raise LostError  # the watches below it went along, under names that are no longer theirs
            if mask & IS_FOLDER and mask & (CREATE | MOVED_TO):
                heard.fresh.add(path)
        elif mask & MOVE_SELF or (not folder and mask & (DELETE_SELF | IGNORED)):
            raise LostError
        elif folder:
            heard.touched.add(folder)
        if mask & IGNORED:
            known = self._paths.pop(number, None) is not None or self._folders.pop(number, None) is not None
            _count(self._held, -known)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    return libc


@cache
def most_watches() -> int:
    """Half of what the kernel gives a user: editors and servers want some as well."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii")) // 2
    except (OSError, ValueError):
        return 0


def _opened(top: bytes) -> int:
    if not most_watches() or not _is_trusted(top):
        raise LostError
    with _lock:
        if _taken["folders"] >= AT_ONCE:
            raise LostError
        _taken["folders"] += 1
    queue = int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if queue < 0:
        with _lock:
            _taken["folders"] -= 1
        raise LostError(os.strerror(ctypes.get_errno()))
    return queue


def _is_trusted(top: bytes) -> bool:
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        return False
    told = ctypes.create_string_buffer(256)
    if _libc().statfs(top, told) != 0:
        return False
    return ctypes.c_long.from_buffer(told).value & 0xFFFFFFFF in TRUSTED


def _count(held: list[int], more: int) -> None:
    held[1] += more
    with _lock:
        _taken["watches"] += more
        if more > 0 and _taken["watches"] > most_watches():
            raise LostError


def _closed(queue: int, held: list[int]) -> None:
    with contextlib.suppress(OSError):
        os.close(queue)
    with _lock:
        _taken["folders"] -= held[0]
        _taken["watches"] -= held[1]
