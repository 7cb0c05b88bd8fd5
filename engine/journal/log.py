"""The journal: the log of every event, append-only, durable when `append` returns, verified when it is opened."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self
from zlib import crc32

import apsw
from msgspec import json

from engine.core.events import SCHEMA, Envelope, encode, type_of
from engine.journal import schema
from engine.journal.backup import backups, write_backup
from engine.journal.journal_errors import JournalBroken, JournalError, JournalReadOnly, translate
from engine.journal.opening import check_format, open_verified
from engine.journal.presence import Whereabouts, inode, whereabouts
from engine.journal.read import Reader, snapshot_content
from engine.journal.rows import Row, make
from engine.journal.verify import Damage, Head
from engine.journal.view import View, open_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from engine.core.events import Fact
    from engine.journal.mark import MarkFile
    from engine.journal.recover import RecoveryReport

BUSY_MS = 5000
"""How long a short lock of another program is waited for."""


class Journal(Reader):
    """One open journal. Its writer holds the EngineLock; any number may view beside it. For one thread at a time."""

    def __init__(self, path: Path, clock: Callable[[], float], backup_dir: Path, busy_ms: int) -> None:
        super().__init__()
        self.path = path
        self.recovery: RecoveryReport | None = None
        """What was damaged and restored when this journal was opened; None: nothing was."""
        self._clock = clock
        self._backup_dir = backup_dir
        self._busy_ms = busy_ms
        self._head = Head()
        self._mark: MarkFile | None = None
        self._view: View | None = None
        self._inode = 0

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Callable[[], float],
        backup_dir: Path,
        read_only: bool = False,
        busy_ms: int = BUSY_MS,
    ) -> Self:
        """Open for writing: made, verified, migrated and restored as needed; see `recovery`, and tell the user.

        Or for viewing, which changes nothing, sees what the writer commits and checks only what it reads.
        Raises JournalError.
        """
        journal = cls(path, clock, backup_dir, busy_ms)
        if read_only:
            journal._attach()
            return journal
        journal._open()
        return journal

    def _open(self) -> None:
        stamp = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y%m%dT%H%M%SZ")
        try:
            opened = open_verified(self.path, self._backup_dir, stamp, self._busy_ms)
        except (apsw.Error, OSError) as error:
            raise translate(error, self.path) from error
        self._connection, self._head, self._inode = opened.connection, opened.head, inode(self.path)
        self._mark, self.recovery, self._verified = opened.mark, opened.recovery, True

    @property
    def read_only(self) -> bool:
        return self._mark is None

    def append(self, stream: str, events: Sequence[Fact]) -> list[Envelope]:
        """Record events in one transaction: durable when this returns, none of them recorded when it raises."""
        self._writable()
        if not events:
            return []
        self._must_be_there()
        mark = self._writable()
        # + 0.0 makes a negative zero positive: SQLite would, and the CRC covers the bytes.
        name, at = stream.encode(), float(self._clock()) + 0.0
        seq, chain, version = self._head.seq, self._head.chain, self._head.versions.get(name, 0)
        rows: list[Row] = []
        for event in events:
            seq, version = seq + 1, version + 1
            row = make(chain, seq, name, version, at, SCHEMA, type_of(event).encode(), encode(event))
            chain = row.chain
            rows.append(row)
        with self._transaction():
            self._connection.executemany(schema.INSERT, rows)
        self._head.seq, self._head.chain, self._head.versions[name] = seq, chain, version
        mark.write(seq, chain)
        return [
            Envelope(seq=row.seq, stream=stream, at=at, event=event) for row, event in zip(rows, events, strict=True)
        ]

    def _must_be_there(self) -> None:
        """Somebody may have deleted the file: all of it is still open here, so it is written anew. One that was moved
        with its folder takes what is appended along."""
        if inode(self.path) == self._inode or whereabouts(self.path, self._inode) is not Whereabouts.GONE:
            return
        if not self.path.parent.is_dir():
            raise JournalBroken(
                f"The journal {self.path} is gone, and its folder too.", "Bring the folder back: nothing is recorded."
            )
        self.backup()
        self.close()
        self._open()

    def save_snapshot(self, stream: str, seq: int, state: bytes, fingerprint: str) -> None:
        """Keep a fold of the stream up to `seq`. `fingerprint` names the code that folded; any other ignores it."""
        self._writable()
        chain = self._chain_at(seq)
        if chain is None:
            raise JournalError(f"There is no event {seq} to take a snapshot at.")
        crc = crc32(snapshot_content(stream, seq, fingerprint, state, chain))
        with self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO snapshot VALUES(?, ?, ?, ?, ?, ?)",
                (stream, seq, fingerprint, state, crc, chain),
            )

    def tail(self, after: int) -> list[Envelope]:
        """What was appended after `after`; made to be polled by another process, some microseconds when nothing was."""
        if self._view is not None and self._view.replaced():
            self._view.close()
            self._attach()
        return list(self.read(after=after))

    def backup(self) -> Path:
        """An online backup into the backup folder, verified; the last three are kept."""
        try:
            return write_backup(self._connection, self._backup_dir)
        except Damage as damage:
            raise self._corrupt(str(damage)) from damage
        except (apsw.Error, OSError) as error:
            raise translate(error, self._backup_dir) from error

    def place(self) -> bytes:
        """Where the journal ends, as JSON. Nothing before it ever changes: the place alone is a copy of all of it."""
        return json.encode({"seq": self._head.seq, "chain": self._head.chain.hex()})

    def backups(self) -> list[Path]:
        """The backups there are, newest first."""
        return backups(self._backup_dir)

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
        elif self._mark is not None:
            self._connection.close()
            self._mark.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _attach(self) -> None:
        self._view = open_view(self.path, self._busy_ms)
        self._connection = self._view.connection
        try:
            with self._reading():
                check_format(self._connection, self.path)
        except JournalError:
            self._view.close()
            raise

    def _writable(self) -> MarkFile:
        if self._mark is None:
            raise JournalReadOnly(
                f"The journal {self.path} is only being viewed.", "The running engine writes it: send it a command."
            )
        return self._mark

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("COMMIT")
        except BaseException as error:
            number = connection.system_errno
            with contextlib.suppress(apsw.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, apsw.Error):
                raise translate(error, self.path, number) from error
            raise
