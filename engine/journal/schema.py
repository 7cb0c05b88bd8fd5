"""The tables of the journal, their format number, and how a connection to them is set up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FORMAT = 1
"""Rises with every change of the tables. The events' own schema is another number, kept in each row."""
APPLICATION = 0x64657674
PAGE = 4096
"""Fixed, because what reads a damaged file page by page cannot ask the file."""

TABLES = {
    "event": """CREATE TABLE event(
  seq INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, at REAL NOT NULL, schema INTEGER NOT NULL,
  type TEXT NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL, chain BLOB NOT NULL, UNIQUE(stream, version)) STRICT""",
    "snapshot": """CREATE TABLE snapshot(
  stream TEXT PRIMARY KEY, seq INTEGER NOT NULL, fingerprint TEXT NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL,
  chain BLOB NOT NULL) STRICT""",
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
}
COLUMNS = "seq, cast(stream AS BLOB), version, at, schema, cast(type AS BLOB), body, crc, chain"
INSERT = "INSERT INTO event VALUES(?, cast(? AS TEXT), ?, ?, ?, cast(? AS TEXT), ?, ?, ?)"

STEPS: Mapping[int, Callable[[apsw.Connection], None]] = {}
"""From format n to n + 1. Empty while there is only one format; run on a copy by `replace.migrate`."""


def create(path: Path) -> None:
    """A new, empty journal in a file of its own; the caller puts it in its place when it is whole."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("page_size", PAGE)
        connection.pragma("application_id", APPLICATION)
        connection.execute("BEGIN")
        for statement in TABLES.values():
            connection.execute(statement)
        set_format(connection, FORMAT)
        connection.execute("COMMIT")
    finally:
        connection.close()


def set_format(connection: apsw.Connection, number: int) -> None:
    """Kept twice, so that one flipped bit does not pass for a journal of the future."""
    connection.pragma("user_version", number)
    connection.execute("INSERT OR REPLACE INTO meta VALUES('format', ?)", (str(number),))


def formats(connection: apsw.Connection) -> tuple[int, int]:
    """The format as the header and as the table have it; they differ only in a damaged file."""
    header = connection.pragma("user_version")
    row = connection.execute("SELECT value FROM meta WHERE key = 'format'").get
    return int(header), int(row) if isinstance(row, str) and row.isdigit() else -1


def connect(path: Path, busy_ms: int) -> apsw.Connection:
    """A connection that may write but leaves the file and its log untouched until `settle` trusts it."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    guard(connection, busy_ms)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.wal_autocheckpoint(0)
    return connection


def guard(connection: apsw.Connection, busy_ms: int) -> None:
    """The file may come with a stranger's repository: nothing written in it is run."""
    connection.set_busy_timeout(busy_ms)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def settle(connection: apsw.Connection) -> None:
    """The file is whole: durable writing from here on."""
    if connection.pragma("journal_mode", "wal") != "wal":
        raise apsw.CantOpenError("its file system cannot hold a write-ahead log")
    connection.pragma("synchronous", "full")
    connection.pragma("fullfsync", 1)
    connection.pragma("journal_size_limit", 8 * 1024 * 1024)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    connection.wal_autocheckpoint(1000)
