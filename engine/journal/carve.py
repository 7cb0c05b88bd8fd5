"""Reads events out of a damaged file, page by page, without SQLite.

Every table leaf found in the database or in its write-ahead log is taken apart. Rows never change once written, so any
copy of a row that passes its CRC is the row; the hash chain then says which of them are the history. Trees, headers and
table definitions need not be readable.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

from engine.journal.rows import GENESIS, Row, follows, intact
from engine.journal.schema import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_LEAF = 0x0D
_MOST_LOCAL = PAGE - 35
_LEAST_LOCAL = (PAGE - 12) * 32 // 255 - 23
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGER_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_NOT_A_ROW = (IndexError, ValueError, TypeError, KeyError, struct.error)
"""What taking arbitrary bytes apart runs into."""

Pages = dict[int, memoryview]


def carve(database: Path) -> dict[int, list[Row]]:
    """Every intact row by its sequence, from the database and its log; several where copies differ."""
    images = [*_pages(database), *_frames(database.with_name(database.name + "-wal"))]
    newest, oldest = dict(images), dict(reversed(images))
    found: dict[int, list[Row]] = {}
    for _, page in images:
        if page[0] != _LEAF:
            continue
        for cell in _cells(page):
            row = _row(page, cell, newest) or _row(page, cell, oldest)
            if row is not None and row not in (copies := found.setdefault(row.seq, [])):
                copies.append(row)
    return found


def contiguous(rows: Mapping[int, Sequence[Row]], after: int = 0, chain: bytes = GENESIS) -> list[Row]:
    """The unbroken history that follows event `after`; of differing copies the one that fits, the later first."""
    history: list[Row] = []
    while True:
        row = next((copy for copy in reversed(rows.get(after + 1, ())) if follows(chain, copy)), None)
        if row is None:
            return history
        history.append(row)
        after, chain = row.seq, row.chain


def _view(path: Path) -> memoryview:
    if not path.is_file() or path.stat().st_size == 0:
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _pages(path: Path) -> Iterator[tuple[int, memoryview]]:
    view = _view(path)
    for number in range(1, len(view) // PAGE + 1):
        yield number, view[(number - 1) * PAGE : number * PAGE]


def _frames(path: Path) -> Iterator[tuple[int, memoryview]]:
    view, step = _view(path), _FRAME_HEADER + PAGE
    for offset in range(_WAL_HEADER, len(view) - step + 1, step):
        yield int.from_bytes(view[offset : offset + 4], "big"), view[offset + _FRAME_HEADER : offset + step]


def _cells(page: memoryview) -> tuple[int, ...]:
    count = min(int.from_bytes(page[3:5], "big"), (PAGE - 8) // 2)
    return struct.unpack_from(f">{count}H", page, 8)


def _row(page: memoryview, cell: int, pages: Pages) -> Row | None:
    try:
        size, at = _varint(page, cell)
        seq, at = _varint(page, at)
        row = _record(seq, _payload(page, at, size, pages))
        return row if intact(row) else None
    except _NOT_A_ROW:
        return None


def _payload(page: memoryview, at: int, size: int, pages: Pages) -> bytes:
    if size <= _MOST_LOCAL:
        return bytes(page[at : at + size])
    local = _LEAST_LOCAL + (size - _LEAST_LOCAL) % (PAGE - 4)
    if local > _MOST_LOCAL:
        local = _LEAST_LOCAL
    pieces, left = [page[at : at + local]], size - local
    after = int.from_bytes(page[at + local : at + local + 4], "big")
    # `left` falls with every page, and no row is larger than all pages: a ring of pages ends too.
    while left > 0 and len(pieces) <= len(pages):
        overflow = pages[after]
        pieces.append(overflow[4 : 4 + min(left, PAGE - 4)])
        left -= PAGE - 4
        after = int.from_bytes(overflow[:4], "big")
    return b"".join(pieces)


def _record(seq: int, payload: bytes) -> Row:
    end, at = _varint(payload, 0)
    values: list[bytes | int | float] = []
    data = end
    while at < end:
        kind, at = _varint(payload, at)
        size = (kind - 12) // 2 if kind >= 12 else _INTEGER_SIZES[kind]
        values.append(_value(kind, payload[data : data + size]))
        data += size
    _, stream, version, when, schema, name, body, crc, chain = values
    if not (
        isinstance(stream, bytes) and isinstance(name, bytes) and isinstance(body, bytes) and isinstance(chain, bytes)
    ):
        raise TypeError
    return Row(seq, stream, int(version), float(when), int(schema), name, body, int(crc), chain)


def _value(kind: int, raw: bytes) -> bytes | int | float:
    if kind >= 12:
        return raw
    if kind == 7:
        return float(struct.unpack(">d", raw)[0])
    return kind - 8 if kind in (8, 9) else int.from_bytes(raw, "big", signed=True)


def _varint(data: memoryview | bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise IndexError
