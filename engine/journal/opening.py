"""Opens a journal for writing: place, format and the whole content are checked, what is damaged is restored."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import apsw
import msgspec

from engine import files
from engine.journal import place, replace, schema
from engine.journal.backup import backups
from engine.journal.journal_errors import JournalTooNew
from engine.journal.mark import MarkFile, mark_path, read_mark
from engine.journal.recover import RecoveryReport, recover, refuse_older
from engine.journal.verify import Damage, Head, check_complete, check_tables

if TYPE_CHECKING:
    from pathlib import Path

    from engine.journal.mark import Mark


LOOKS = (0.05, 0.2)
"""Seconds before a journal that seems damaged is read again."""


class Opened(msgspec.Struct):
    """A journal ready to be written."""

    connection: apsw.Connection
    head: Head
    mark: MarkFile
    recovery: RecoveryReport | None


def open_verified(path: Path, backup_dir: Path, stamp: str, busy_ms: int) -> Opened:
    """The journal, verified and restored where it has to be. A read that fails once may be the disk's bad moment."""
    for pause in LOOKS:
        try:
            return _open_verified(path, backup_dir, stamp, busy_ms)
        except apsw.IOError:
            time.sleep(pause)
    return _open_verified(path, backup_dir, stamp, busy_ms)


def _open_verified(path: Path, backup_dir: Path, stamp: str, busy_ms: int) -> Opened:
    """Raises the errors of journal_errors, and those of SQLite and the system, which the caller names."""
    folder = path.parent
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
    place.refuse_network(folder, place.fs_type(folder.resolve(), place.mounts()))
    place.refuse_others(path)
    replace.finish(path)
    mark = read_mark(path)
    recovery = None
    try:
        if not path.exists():
            _create(path, backup_dir)
        connection, head = _looked_at_twice(path, mark, stamp, busy_ms)
        refuse_older(backup_dir, head, connection)
    except Damage as damage:
        recovery = recover(path, backup_dir, mark, str(damage), stamp)
        connection, head = _connect(path, None, stamp, busy_ms)
    if head.newer:
        connection.close()
        raise JournalTooNew(
            f"The journal {path} holds events of a newer devteam ({head.newer}).",
            "Update devteam to go on; devteam status, log and tui show it as far as this version understands it.",
        )
    path.chmod(0o600)
    schema.settle(connection)
    marker = MarkFile(path)
    marker.write(head.seq, head.chain)
    return Opened(connection=connection, head=head, mark=marker, recovery=recovery)


def _create(path: Path, backup_dir: Path) -> None:
    """A new journal, but only where there never was one: a file that is gone is damage like any other."""
    if mark_path(path).exists() or replace.beside(path, "-wal").exists() or backups(backup_dir):
        raise Damage("the file is gone")
    made = replace.making(path)
    schema.create(made)
    files.sync(made)
    made.replace(path)
    files.sync(path.parent)


def _looked_at_twice(path: Path, mark: Mark | None, stamp: str, busy_ms: int) -> tuple[apsw.Connection, Head]:
    """A journal is damaged when its content contradicts itself each time it is read. A disk that failed to read it once
    is not damage: SQLite cannot always tell the two apart, a second look can."""
    for pause in LOOKS:
        try:
            return _connect(path, mark, stamp, busy_ms)
        except Damage:
            with path.open("rb") as file:
                while file.read(1 << 20):  # a disk that fails says so here, by its own name
                    pass
            time.sleep(pause)
    return _connect(path, mark, stamp, busy_ms)


def _connect(path: Path, mark: Mark | None, stamp: str, busy_ms: int) -> tuple[apsw.Connection, Head]:
    """A verified connection, migrated where the format is older. On Damage no connection is left open."""
    if path.stat().st_size == 0:
        raise Damage("the file is empty")
    _check_access(path)
    connection = schema.connect(path, busy_ms)
    try:
        if check_format(connection, path) < schema.FORMAT:
            replace.migrate(path, connection, schema.STEPS, stamp=stamp)
            return _connect(path, mark, stamp, busy_ms)
        head = check_complete(connection, mark)
        _check_header(connection)
    except BaseException:
        connection.close()
        raise
    return connection, head


def check_format(connection: apsw.Connection, path: Path) -> int:
    """The format, if this version can read it. Raises Damage, JournalTooNew."""
    number = check_tables(connection)
    if number > schema.FORMAT:
        raise JournalTooNew(
            f"The journal {path} was written by a newer devteam (format {number}; this one knows {schema.FORMAT}).",
            "Update devteam to the version that was used last. Nothing was changed.",
        )
    return number


def _check_header(connection: apsw.Connection) -> None:
    if connection.readonly("main"):  # access was checked: one flipped bit in the header says so
        raise Damage("its header forbids writing")


def _check_access(path: Path) -> None:
    """Asked beforehand, because SQLite says "unable to open" to all of these."""
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
    for one, mode in ((path.parent, os.W_OK | os.X_OK), (path, os.R_OK | os.W_OK)):
        if not os.access(one, mode):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(one))
