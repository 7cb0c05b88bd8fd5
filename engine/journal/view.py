"""Opens a journal for reading only: beside a running engine, and where nothing can be written at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

import apsw

from engine.journal.journal_errors import JournalMissing, named
from engine.journal.place import refuse_others
from engine.journal.schema import guard

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class View:
    """A read-only connection, and the private copy it reads where there had to be one."""

    def __init__(self, path: Path, busy_ms: int) -> None:
        refuse_others(path)
        if not path.exists():
            raise JournalMissing(
                f"There is no journal at {path} yet.", "Start with `devteam init`, then `devteam run`."
            )
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        self.path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.connection = self._connect(busy_ms)
        self.inode = path.stat().st_ino

    def _connect(self, busy_ms: int) -> apsw.Connection:
        try:
            return _open(self.path, "mode=ro", busy_ms)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # The log's index cannot be made here. Nobody writes either, else it would be there: read the file as it is,
            # or, where events are still in the log (the engine was killed), a private copy that can play it.
            log = self.path.with_name(self.path.name + "-wal")
            if not log.exists() or log.stat().st_size == 0:
                return _open(self.path, "immutable=1", busy_ms)
        self._copy = tempfile.TemporaryDirectory(prefix="devteam-view-")
        copied = Path(self._copy.name) / self.path.name
        for source, target in ((self.path, copied), (log, copied.with_name(log.name))):
            shutil.copyfile(source, target)
            target.chmod(0o600)
        return _open(copied, "mode=rw", busy_ms, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)

    def replaced(self) -> bool:
        """An engine restored or migrated the journal: the file under this connection is the old one."""
        try:
            return self.path.stat().st_ino != self.inode
        except OSError:
            return False

    def close(self) -> None:
        self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def _open(path: Path, mode: str, busy_ms: int, flags: int = _FLAGS) -> apsw.Connection:
    connection = apsw.Connection(f"{path.absolute().as_uri()}?{mode}", flags=flags)
    try:
        guard(connection, busy_ms)
        connection.pragma("schema_version")  # the first touch of the file
    except BaseException:
        connection.close()
        raise
    return connection


def open_view(path: Path, busy_ms: int) -> View:
    with named(path):
        return View(path, busy_ms)
