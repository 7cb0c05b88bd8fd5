"""Opens a journal for writing: place, format and the whole content are checked, what is damaged is restored."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import apsw
import msgspec

from engine.journal import place, replace, schema
from engine.journal.backup import backups
from engine.journal.errors import JournalTooNew
from engine.journal.mark import MarkFile, mark_path, read_mark
from engine.journal.recover import RecoveryReport, recover
from engine.journal.verify import Damage, Head, check_complete, check_tables

if TYPE_CHECKING:
    from pathlib import Path

    from engine.journal.mark import Mark


class Opened(msgspec.Struct):
    """A journal ready to be written."""

    connection: apsw.Connection
    head: Head
    mark: MarkFile
    recovery: RecoveryReport | None


def open_verified(path: Path, backup_dir: Path, stamp: str, busy_ms: int) -> Opened:
    """Raises the errors of engine.journal.errors, and those of SQLite and the system, which the caller names."""
    folder = path.parent
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
    place.refuse_network(folder, place.fs_type(folder.resolve(), place.mounts()))
    place.refuse_link(path)
    replace.finish(path)
    mark = read_mark(path)
    recovery = None
    try:
        if not path.exists():
            _create(path, backup_dir)
        connection, head = _connect(path, mark, stamp, busy_ms)
    except Damage as damage:
        recovery = recover(path, backup_dir, mark, str(damage), stamp)
        connection, head = _connect(path, None, stamp, busy_ms)
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
    replace.sync(made)
    made.replace(path)
    replace.sync(path.parent)


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
