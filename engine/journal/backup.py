"""Backups of the journal: whole files, verified before an older one is let go, the last three kept."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import apsw

from engine import files
from engine.journal import replace
from engine.journal.verify import Head, check, check_tables, finding_damage

if TYPE_CHECKING:
    from pathlib import Path

KEEP = 3
_NAME = re.compile(r"journal-(\d{8})\.db")


def backups(folder: Path) -> list[Path]:
    """The backups there are, newest first. Numbered, not dated: a clock set back must not make an old one newest."""
    found = [path for path in folder.glob("journal-*.db") if _NAME.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(found, reverse=True)


def write_backup(connection: apsw.Connection, folder: Path) -> Path:
    """An online backup; readers go on meanwhile. Raises Damage, and keeps the old ones, if it is not whole."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = backups(folder)
    newest = _NAME.fullmatch(kept[0].name) if kept else None
    path = folder / f"journal-{int(newest[1]) + 1 if newest else 1:08d}.db"
    made = replace.making(path)
    try:
        replace.copy(connection, made)
        verify_file(made)
        made.replace(path)
        files.sync(folder)
    finally:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)
    for old in kept[KEEP - 1 :]:
        old.unlink(missing_ok=True)
    return path


def verify_file(path: Path) -> Head:
    """Verify a journal that nobody writes. Raises Damage."""
    connection = open_unchanging(path)
    try:
        check_tables(connection)
        return check(connection)
    finally:
        connection.close()


def open_unchanging(path: Path) -> apsw.Connection:
    """A connection to a file that nobody writes: no log, no lock, no trace beside it. Raises Damage."""
    with finding_damage():
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(path.absolute().as_uri() + "?immutable=1", flags=flags)
