"""A row of the journal: what its CRC and the hash chain cover, byte for byte."""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

GENESIS = bytes(32)
"""The chain before the first event."""

_head = struct.Struct("<qqdqHI").pack


class Row(NamedTuple):
    """One event as stored. Stream and type are UTF-8 bytes, so that damage is seen before anything is decoded."""

    seq: int
    stream: bytes
    version: int
    at: float
    schema: int
    type: bytes
    body: bytes
    crc: int
    chain: bytes


def content(seq: int, stream: bytes, version: int, at: float, schema: int, kind: bytes, body: bytes) -> bytes:
    """The bytes that CRC and chain are taken of: every column, unambiguous in its lengths."""
    return _head(seq, version, at, schema, len(stream), len(kind)) + stream + kind + body


def link(previous: bytes, data: bytes) -> bytes:
    """The chain's next value. SHA-256 because it is the quickest here, with processor support."""
    return sha256(previous + data).digest()


def make(
    previous: bytes, seq: int, stream: bytes, version: int, at: float, schema: int, kind: bytes, body: bytes
) -> Row:
    data = content(seq, stream, version, at, schema, kind, body)
    return Row(seq, stream, version, at, schema, kind, body, crc32(data), link(previous, data))


def intact(row: Row) -> bool:
    """The row is as it was written; its place in the chain is another question."""
    return crc32(content(*row[:7])) == row.crc


def follows(previous: bytes, row: Row) -> bool:
    """The row is intact and is the one that came after `previous`."""
    data = content(*row[:7])
    return crc32(data) == row.crc and link(previous, data) == row.chain
