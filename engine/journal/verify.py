"""Is every event there, unchanged and in its place? SQLite's own check, each row's CRC, the chain over all rows."""

from __future__ import annotations

import contextlib
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

import apsw
import msgspec

from engine.core.events import KNOWN_TYPES, SCHEMA
from engine.journal import schema
from engine.journal.rows import GENESIS, content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.journal.mark import Mark

DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError, apsw.MismatchError, UnicodeDecodeError)
"""What SQLite says of a damaged file; full, locked, denied and failing disks are other errors and pass through."""


_SHORT = frozenset({apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS})
"""Errors of reading that are the file's fault: it ends before its content does."""


class Damage(Exception):  # noqa: N818  it is a finding, not yet an error: recovery may mend it
    """What is wrong with a journal, in words."""


class Head(msgspec.Struct):
    """The end of a verified journal: what the next append builds on."""

    seq: int = 0
    chain: bytes = GENESIS
    versions: dict[bytes, int] = msgspec.field(default_factory=dict)
    marked: bool = True
    """False where the mark names an event that is not here, or another one."""
    newer: str = ""
    """The first kind of event that only a newer devteam knows."""


@contextlib.contextmanager
def finding_damage() -> Iterator[None]:
    """What SQLite says of a damaged file leaves this block as Damage."""
    try:
        yield
    except DAMAGE as error:
        raise Damage(f"SQLite reports: {error}") from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) in _SHORT:
            raise Damage("the file ends too early") from error
        raise


def check_tables(connection: apsw.Connection) -> int:
    """The tables are ours, exactly; returns the format. Raises Damage."""
    with finding_damage():
        header, table = schema.formats(connection)
        application = connection.pragma("application_id")
        stored = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    if min(header, table) > schema.FORMAT:
        return min(header, table)
    if header != table or application != schema.APPLICATION:
        raise Damage(f"its header is damaged (format {header}, table says {table})")
    if header == schema.FORMAT and stored != schema.TABLES:
        raise Damage("its table definitions are damaged")
    return header


def check(connection: apsw.Connection, mark: Mark | None = None) -> Head:
    """Verify everything; the head of what was found. Raises Damage with the first thing that is wrong."""
    with finding_damage():
        for problem in connection.execute("PRAGMA integrity_check(1)"):
            if problem[0] != "ok":
                raise Damage("SQLite reports: " + " ".join(str(problem[0]).split()))
        return _check_rows(connection, mark)


def _check_rows(connection: apsw.Connection, mark: Mark | None) -> Head:
    # Inlined rather than rows.follows: this loop is the time to resume.
    versions: dict[bytes, int] = {}
    last, chain, newer = 0, GENESIS, ""
    known = frozenset(kind.encode() for kind in KNOWN_TYPES)
    marked = mark is None or mark.seq == 0
    for row in connection.execute(f"SELECT {schema.COLUMNS} FROM event ORDER BY seq"):  # noqa: S608  a constant
        seq, stream, version, at, number, kind, body, crc, link = row
        if seq != last + 1:
            raise Damage(f"event {last + 1} is missing (the next one there is {seq})")
        data = content(seq, stream, version, at, number, kind, body)
        if crc32(data) != crc:
            raise Damage(f"event {seq} was changed after it was written (CRC)")
        if sha256(chain + data).digest() != link:
            raise Damage(f"event {seq} is not the one that followed event {last} (hash chain)")
        if version != versions.get(stream, 0) + 1:
            raise Damage(f"event {seq} has version {version}, expected {versions.get(stream, 0) + 1}")
        if (kind not in known or number > SCHEMA) and not newer:
            newer = kind.decode("utf-8", "replace")
        last, chain, versions[stream] = seq, link, version
        if mark is not None and seq == mark.seq:
            marked = link == mark.chain
    return Head(seq=last, chain=chain, versions=versions, marked=marked, newer=newer)


def check_complete(connection: apsw.Connection, mark: Mark | None) -> Head:
    """`check`, and nothing that was acknowledged is missing at the end."""
    head = check(connection, mark)
    if mark is not None and not head.marked:
        if head.seq < mark.seq:
            raise Damage(f"it ends at event {head.seq}, but event {mark.seq} was acknowledged")
        raise Damage(f"event {mark.seq} is not the one that was acknowledged")
    return head
