"""What can go wrong with the journal, by name: each error says what happened and where, and `hint` what to do next."""

# ruff: noqa: N818  the names say what happened; "Error" after each would say it again

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING

import apsw

from engine.core.model import MachineFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class JournalError(Exception):
    """Base of the journal's errors. Whatever was acknowledged before is safe."""

    fault: MachineFault | None = None
    """Which of the machine's faults it is, if it is one."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class JournalFull(JournalError):
    """No space left. Nothing of the refused append is kept; the same journal works on once there is space."""

    fault = MachineFault.DISK_FULL


class JournalReadOnly(JournalError):
    """The file, its folder or the file system cannot be written."""

    fault = MachineFault.STORE_FAULT


class JournalLocked(JournalError):
    """Another program keeps the database locked."""


class JournalDenied(JournalError):
    """The file or its folder may not be opened by this user."""


class JournalMissing(JournalError):
    """There is no journal to view yet."""


class JournalBroken(JournalError):
    """The disk or the system failed under the journal."""

    fault = MachineFault.STORE_FAULT


class JournalCorrupt(JournalError):
    """The file is damaged, and could not be restored or was only being viewed. Nothing was deleted."""


class JournalNotADatabase(JournalCorrupt):
    """The file is something else altogether."""


class JournalTooNew(JournalError):
    """A newer devteam wrote this journal."""


class JournalOnNetwork(JournalError):
    """The journal would lie on a network file system, where it cannot be kept safe."""


class JournalConflict(JournalError):
    """Somebody else appended to the journal while this engine held it."""


class UnreadableEvent(JournalError):
    """An event is intact but says something this version cannot read."""


class EngineRunning(JournalError):
    """Another engine works on this repository; viewing is possible."""


_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
RESTORE_HINT = "Start the engine (`devteam run`): it restores the journal from its backup and from what can be read."


def translate(error: apsw.Error | OSError, path: Path, system_errno: int = 0) -> JournalError:
    """The named form of an error of SQLite or of the system."""
    number = error.errno if isinstance(error, OSError) else system_errno
    match error:
        case apsw.FullError():
            return _full(path)
        case apsw.ReadOnlyError():
            return _read_only(path)
        case apsw.BusyError() | apsw.LockedError():
            return JournalLocked(
                f"The journal {path} is locked by another program.",
                "Close what has it open (a database browser, a `sqlite3` shell, a backup program) and try again.",
            )
        case apsw.NotADBError():
            return JournalNotADatabase(f"{path} is not a devteam journal: it is no SQLite database.", RESTORE_HINT)
        case apsw.CorruptError():
            return JournalCorrupt(f"The journal {path} is damaged ({error}).", RESTORE_HINT)
        case apsw.ConstraintError():
            return JournalConflict(
                f"Another process appended to the journal {path} while this engine held it.",
                "Stop every devteam of this repository, then start one: `devteam status` shows who runs.",
            )
    if number in _NO_SPACE:
        return _full(path)
    if number == errno.EROFS:
        return _read_only(path)
    if number in (errno.EACCES, errno.EPERM) or isinstance(error, apsw.PermissionsError | apsw.AuthError):
        return JournalDenied(
            f"The journal {path} may not be opened by this user.",
            f"Make it yours again: `ls -ld {path.parent} {path}`, then `chown`/`chmod u+rw`.",
        )
    return JournalBroken(
        f"The journal {path} could not be used: {error}.",
        "Look at the disk (`dmesg`, free space, permissions); then start again: nothing acknowledged is lost.",
    )


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the system leave this block by their name in this module."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise translate(error, path) from error


def _full(path: Path) -> JournalFull:
    return JournalFull(
        f"No space left for the journal {path}.",
        f"Free some space (`df -h {path.parent}`), then go on: nothing acknowledged is lost.",
    )


def _read_only(path: Path) -> JournalReadOnly:
    return JournalReadOnly(
        f"The journal {path} cannot be written: the file or its file system is read-only.",
        "Make it writable and start again; `devteam status` and `devteam log` can read it as it is.",
    )
