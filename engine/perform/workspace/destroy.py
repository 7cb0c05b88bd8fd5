"""Removal: the one audited module. A test over the source keeps it the only one.

`Grave` removes only strictly below one directory of the engine's own (the state directory); every step down is taken
with a directory file descriptor and O_NOFOLLOW, so that no symbolic link, however planted, leads out of it.
`unlink_in_checkout` is the only removal in a user's checkout: one regular file or link, for landing, never a folder
that is not empty.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from pathlib import Path

from engine.perform.workspace.facts import WorkspaceError

_DEEPEST = 60
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Grave:
    """Removes what lies below `root`, and nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        if self.root == Path("/") or self.root == Path(os.path.realpath(Path.home())):
            raise WorkspaceError(f"{root} cannot be a state directory")

    def remove(self, path: Path) -> None:
        """Remove a file, a link or a whole folder below the root. Missing is fine."""
        parts = self._inside(path)
        with contextlib.ExitStack() as stack:
            descriptor = os.open(self.root, _DIRECTORY)
            stack.callback(os.close, descriptor)
            for part in parts[:-1]:
                descriptor = _step(descriptor, part)
                if descriptor < 0:
                    return
                stack.callback(os.close, descriptor)
            _remove_at(descriptor, parts[-1])

    def remove_below(self, folder: Path, relative: bytes) -> None:
        """Remove `relative` (a path as git gives it) below `folder`; no link or file on the way is passed through."""
        parts = [part for part in relative.split(b"/") if part]
        if not parts or any(part in (b".", b"..") for part in parts):
            raise WorkspaceError(f"cannot remove {relative!r}")
        self.remove(folder.joinpath(*(os.fsdecode(part) for part in parts)))

    def set_aside(self, path: Path, aside: Path) -> None:
        """Move instead of removing: for what may be large, or what the user should still see. Both below the root."""
        self._inside(path)
        self._inside(aside)
        aside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = aside
        while os.path.lexists(target):
            target = aside.with_name(f"{aside.name}.{uuid.uuid4().hex[:8]}")
        try:
            path.rename(target)
        except PermissionError:  # a folder that goes to another one must be writable itself, and the one it is in
            self._open_up(path.parent)
            self._open_up(path)
            path.rename(target)

    def discard(self, path: Path) -> None:
        """Remove a whole folder; what refuses to go (an immutable file) is left under trash/ and is in nobody's way."""
        try:
            path.lstat()
        except PermissionError:
            self._open_up(path.parent)
        except OSError:
            return
        if not os.path.lexists(path):
            return
        trash = self.root / "trash" / uuid.uuid4().hex
        self.set_aside(path, trash)
        with contextlib.suppress(OSError):
            self.remove(trash)

    def _open_up(self, folder: Path) -> None:
        """Take back what an agent locked: modes of a folder below the root."""
        if folder == self.root:
            return
        parts = self._inside(folder)
        with contextlib.ExitStack() as stack:
            descriptor = os.open(self.root, _DIRECTORY)
            stack.callback(os.close, descriptor)
            for part in parts:
                descriptor = _step(descriptor, part)
                if descriptor < 0:  # a file or a link has no mode that is in the way
                    return
                stack.callback(os.close, descriptor)
            _make_writable(descriptor)

    def _inside(self, path: Path) -> tuple[str, ...]:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 — Path.resolve would follow the links
        try:
            parts = absolute.relative_to(self.root).parts
        except ValueError:
            parts = ()
        if not parts:
            raise WorkspaceError(f"{path} is not below {self.root}: nothing is removed there")
        return parts


def _step(descriptor: int, name: str) -> int:
    """Open a directory entry; -1 when it is missing or no directory (a link is none)."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=descriptor)
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return -1
        if problem.errno == errno.EACCES:
            os.chmod(name, 0o700, dir_fd=descriptor)
            return os.open(name, _DIRECTORY, dir_fd=descriptor)
        raise


def _remove_at(parent: int, name: str) -> None:
    """Depth first without recursion: an agent can nest folders deeper than Python's stack."""
    if not _is_folder_left(parent, name):
        return
    top = _open_folder(parent, name)
    stack = [(top, parent, name, os.listdir(top))]  # noqa: PTH208 — (descriptor, its parent's, its name, what is left in it)
    try:
        while stack:
            here, above, own, names = stack[-1]
            if not names:
                stack.pop()
                os.close(here)
                os.rmdir(own, dir_fd=above)
                continue
            entry = names.pop()
            if not _is_folder_left(here, entry):
                continue
            if len(stack) > _DEEPEST:  # open descriptors are few: go on with it from the top
                flat = uuid.uuid4().hex
                os.rename(entry, flat, src_dir_fd=here, dst_dir_fd=top)
                stack[0][3].append(flat)
                continue
            below = _open_folder(here, entry)
            stack.append((below, here, entry, os.listdir(below)))  # noqa: PTH208
    finally:
        for descriptor, _, _, _ in stack:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _is_folder_left(parent: int, name: str) -> bool:
    """Unlink an entry, or remove an empty folder; True when it is a folder with something in it."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return False
    except (IsADirectoryError, PermissionError):
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            return not _removed_when_empty(parent, name)
        _make_writable(parent)
        os.unlink(name, dir_fd=parent)
    return False


def _removed_when_empty(parent: int, name: str) -> bool:
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _open_folder(parent: int, name: str) -> int:
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    _make_writable(descriptor)
    return descriptor


def _make_writable(descriptor: int) -> None:
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & 0o700 != 0o700:
        os.fchmod(descriptor, mode | 0o700)


def unlink_in_checkout(checkout: Path, relative: bytes) -> None:
    """Take one landed deletion out of the user's checkout, and the folders it leaves empty."""
    parts = [os.fsdecode(part) for part in relative.split(b"/")]
    if any(part in ("", ".", "..", ".git") for part in parts):
        raise WorkspaceError(f"cannot remove {relative!r}")
    with contextlib.ExitStack() as stack:
        chain = [os.open(checkout, _DIRECTORY)]
        stack.callback(os.close, chain[0])
        for part in parts[:-1]:
            try:
                chain.append(os.open(part, _DIRECTORY, dir_fd=chain[-1]))
            except (FileNotFoundError, NotADirectoryError):
                return
            except OSError as problem:
                if problem.errno == errno.ELOOP:
                    return
                raise
            stack.callback(os.close, chain[-1])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=chain[-1])
        for depth in range(len(parts) - 2, -1, -1):
            try:
                os.rmdir(parts[depth], dir_fd=chain[depth])
            except OSError:
                return
