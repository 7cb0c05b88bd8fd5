"""The mark: a small file beside the journal that says how far events were acknowledged.

SQLite drops a damaged end of its write-ahead log without a word, so the journal alone cannot tell that acknowledged
events are gone. The mark is written after each commit without a sync: it may lag after a power cut, which is harmless
(it is a lower bound), and it survives the death of the process. A mark that is damaged itself is ignored.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

if TYPE_CHECKING:
    from pathlib import Path


class Mark(msgspec.Struct, frozen=True):
    seq: int
    chain: bytes


def mark_path(journal: Path) -> Path:
    return journal.with_name(journal.name + "-mark")


def _encode(seq: int, chain: bytes) -> bytes:
    text = b"%020d %s" % (seq, chain.hex().encode())
    return b"%s %08x\n" % (text, crc32(text))


def read_mark(journal: Path) -> Mark | None:
    try:
        data = mark_path(journal).read_bytes()
        text, crc = data[:85], int(data[86:94], 16)
        if len(data) == 95 and crc32(text) == crc:
            return Mark(seq=int(text[:20]), chain=bytes.fromhex(text[21:].decode("ascii")))
    except (OSError, ValueError):
        pass
    return None


class MarkFile:
    """The open mark of the one writer."""

    def __init__(self, journal: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(mark_path(journal), flags, 0o600)

    def write(self, seq: int, chain: bytes) -> None:
        # In place and of one length, so that a full disk does not stop it. Failing, it only lags.
        with contextlib.suppress(OSError):
            os.pwrite(self._fd, _encode(seq, chain), 0)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
