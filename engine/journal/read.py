"""Reading the journal: what the writer and every viewer share. A viewer checks each row as it reads it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from zlib import crc32

import apsw
import msgspec

from engine.core.events import Envelope, Unknown, decode
from engine.journal import schema
from engine.journal.journal_errors import RESTORE_HINT, JournalCorrupt, UnreadableEvent, translate
from engine.journal.mark import read_mark
from engine.journal.rows import content
from engine.journal.verify import Damage, check_complete, finding_damage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = 1000
"""Rows fetched at a time: no statement stays open in between, so that a slow reader never holds a checkpoint up."""

_ALL = f"SELECT {schema.COLUMNS} FROM event WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608  a constant
_STREAM = f"SELECT {schema.COLUMNS} FROM event WHERE stream = ? AND version > ? ORDER BY version LIMIT ?"  # noqa: S608
_VERSION = "SELECT version FROM event WHERE stream = ? AND seq <= ? ORDER BY version DESC LIMIT 1"
_LAST = "SELECT max(seq) FROM event"
_LAST_AT = "SELECT at FROM event ORDER BY seq DESC LIMIT 1"
_LAST_OF = "SELECT seq FROM event WHERE stream = ? ORDER BY version DESC LIMIT 1"
_STREAMS = """WITH RECURSIVE s(x) AS (SELECT min(stream) FROM event UNION ALL
  SELECT (SELECT min(stream) FROM event WHERE stream > x) FROM s WHERE x IS NOT NULL)
  SELECT x FROM s WHERE x IS NOT NULL"""
_SNAPSHOT = "SELECT seq, fingerprint, body, crc, chain FROM snapshot WHERE stream = ?"


class Reader:
    """The reading half of a journal."""

    path: Path
    _connection: apsw.Connection
    _verified: bool = False
    """Every row was checked when the journal was opened, so reading need not do it again."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}

    def read(self, stream: str | None = None, after: int = 0, limit: int | None = None) -> Iterator[Envelope]:
        """Events after sequence `after`, in order, of one stream or of all. Raises JournalCorrupt, UnreadableEvent."""
        sql, at = (_ALL, after) if stream is None else (_STREAM, self._int(_VERSION, stream, after))
        where = () if stream is None else (stream,)
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            with self._reading():
                rows: list[Any] = self._connection.execute(sql, (*where, at, size)).fetchall()
            yield from self._envelopes(rows)
            if len(rows) < size:
                return
            at = rows[-1][0] if stream is None else rows[-1][2]
            left = None if left is None else left - size

    def last_seq(self, stream: str | None = None) -> int:
        """The sequence of the last event; 0 where there is none."""
        return self._int(_LAST) if stream is None else self._int(_LAST_OF, stream)

    def last_at(self) -> float:
        """When the last event was recorded; 0 where there is none."""
        with self._reading():
            found = self._connection.execute(_LAST_AT).get
        return float(found) if isinstance(found, int | float) else 0.0

    def streams(self) -> list[str]:
        """The streams there are, by name."""
        with self._reading():
            return [str(row[0]) for row in self._connection.execute(_STREAMS)]

    def load_snapshot(self, stream: str, fingerprint: str | None) -> tuple[int, bytes] | None:
        """The stream's snapshot, if it can be read, is whole, of this fingerprint (None: of any) and of this history:
        it is only ever a cache. Where the disk fails for good, the reading of the events says so."""
        with contextlib.suppress(apsw.Error, UnicodeDecodeError):
            for seq, made_by, body, crc, chain in self._connection.execute(_SNAPSHOT, (stream,)):
                whole = crc32(snapshot_content(stream, seq, made_by, body, chain)) == crc
                if whole and fingerprint in (None, made_by) and self._chain_at(seq) == chain:
                    return seq, body
        return None

    def verify(self) -> int:
        """Check everything again, and that nothing acknowledged is missing; the number of events. Raises
        JournalCorrupt."""
        mark = read_mark(self.path)  # first: an engine may go on meanwhile
        with self._reading():
            return check_complete(self._connection, mark).seq

    def _envelopes(self, rows: list[Any]) -> Iterator[Envelope]:
        # With the verification at open, this loop is the time to resume.
        names, verified = self._names, self._verified
        for seq, stream, version, at, schema_number, kind, body, crc, _ in rows:
            if not verified and crc32(content(seq, stream, version, at, schema_number, kind, body)) != crc:
                raise self._corrupt(f"event {seq} was changed after it was written (CRC)")
            name = names.get(stream)
            if name is None:
                name = names[stream] = stream.decode()
            try:
                event = decode(body)
            except msgspec.MsgspecError as error:
                if not verified and (unknown := _as_unknown(kind, body)) is not None:
                    yield Envelope(seq=seq, stream=name, at=at, schema=schema_number, event=unknown)
                    continue
                raise UnreadableEvent(
                    f"Event {seq} ({kind.decode()}) of {self.path} cannot be read by this version: {error}.",
                    "Use the devteam version that wrote it, or report this: the event itself is intact.",
                ) from error
            yield Envelope(seq=seq, stream=name, at=at, schema=schema_number, event=event)

    def _int(self, sql: str, *values: str | int) -> int:
        with self._reading():
            found = self._connection.execute(sql, values).get
        return found if isinstance(found, int) else 0

    def _chain_at(self, seq: int) -> bytes | None:
        found = self._connection.execute("SELECT chain FROM event WHERE seq = ?", (seq,)).get
        return found if isinstance(found, bytes) else None

    def _corrupt(self, words: str) -> JournalCorrupt:
        return JournalCorrupt(f"The journal {self.path} is damaged: {words}.", RESTORE_HINT)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            with finding_damage():
                yield
        except Damage as damage:
            raise self._corrupt(str(damage)) from damage
        except apsw.Error as error:
            raise translate(error, self.path, self._connection.system_errno) from error


def _as_unknown(kind: bytes, body: bytes) -> Unknown | None:
    """An intact event with a value that only a newer version knows: viewers pass over it, the engine refuses it."""
    try:
        return Unknown(type=kind.decode(), raw=msgspec.json.decode(body, type=dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def snapshot_content(stream: str, seq: int, fingerprint: str, body: bytes, chain: bytes) -> bytes:
    """What the CRC of a snapshot covers."""
    return b"\0".join((stream.encode(), b"%d" % seq, fingerprint.encode(), chain, body))
