"""Rows: what agents said, as it is kept. What is older than the last few hundred rows lies compressed in blocks."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

BLOCK = 256
"""Rows in a block. All blocks are full, so that a row's number says where it lies."""
READ = 8
"""Blocks kept readable: what is on screen, and around it."""
CAPACITY = 100_000
"""Rows kept of all streams together; the log files have everything."""


class Row(NamedTuple):
    """One line of a stream. fold: 0 always shown, 1 only when unfolded, -1 only when folded."""

    style: str
    text: str
    fold: int = 0


class Block:
    """Rows that never change again: one packed string instead of hundreds of objects."""

    __slots__ = ("_packed", "_styles", "hidden")

    def __init__(self, rows: Sequence[Row]) -> None:
        self._styles = tuple(dict.fromkeys(row.style for row in rows))
        place = {style: at for at, style in enumerate(self._styles)}
        facts = array("I")
        for row in rows:
            facts.append(len(row.text))
            facts.append(place[row.style] * 3 + row.fold + 1)
        text = "".join(row.text for row in rows).encode("utf-8", "surrogatepass")
        self._packed = zlib.compress(facts.tobytes() + text, 1)
        self.hidden = (sum(row.fold == -1 for row in rows), sum(row.fold == 1 for row in rows))
        """Rows not shown when unfolded, and when folded."""

    def rows(self) -> list[Row]:
        raw = zlib.decompress(self._packed)
        facts = array("I", raw[: 8 * BLOCK])
        text = raw[8 * BLOCK :].decode("utf-8", "surrogatepass")
        out: list[Row] = []
        at = 0
        for length, kind in zip(facts[::2], facts[1::2], strict=True):
            out.append(Row(self._styles[kind // 3], text[at : at + length], kind % 3 - 1))
            at += length
        return out


class Rows:
    """Rows by number, counted from the first one ever added; the oldest blocks can be dropped, the numbers stay."""

    __slots__ = ("_blocks", "_gone", "_read", "_tail")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._blocks: list[Block] = []
        self._tail: list[Row] = []
        self._gone = 0
        self._read: dict[int, list[Row]] = {}
        self.extend(rows)

    @property
    def first(self) -> int:
        """Number of the oldest row that is kept."""
        return self._gone * BLOCK

    @property
    def end(self) -> int:
        """Number that the next row will have."""
        return (self._gone + len(self._blocks)) * BLOCK + len(self._tail)

    def __len__(self) -> int:
        return self.end - self.first

    def __iter__(self) -> Iterator[Row]:
        return self.since(self.first)

    def since(self, number: int) -> Iterator[Row]:
        """The rows from a number on."""
        number = max(number, self.first)
        for block in range(number // BLOCK, -(-self.end // BLOCK)):
            yield from self.block(block)[max(0, number - block * BLOCK) :]

    def extend(self, rows: Iterable[Row]) -> None:
        tail = self._tail
        tail.extend(rows)
        while len(tail) >= BLOCK:
            full = tail[:BLOCK]
            del tail[:BLOCK]
            self._keep_readable(self._gone + len(self._blocks), full)  # its end is about to be drawn
            self._blocks.append(Block(full))

    def shorten(self, rows: int) -> int:
        """Drop at least so many of the oldest rows, in whole blocks and never the newest ones; how many went."""
        blocks = max(0, min(-(-rows // BLOCK), len(self._blocks)))
        del self._blocks[:blocks]
        self._gone += blocks
        return blocks * BLOCK

    def block(self, number: int) -> Sequence[Row]:
        """A block's rows; of the last one as many as there are."""
        at = number - self._gone
        if at == len(self._blocks):
            return self._tail
        if not 0 <= at < len(self._blocks):
            return ()
        rows = self._read.pop(number, None)
        if rows is None:
            rows = self._blocks[at].rows()
        self._keep_readable(number, rows)
        return rows

    def _keep_readable(self, number: int, rows: list[Row]) -> None:
        self._read[number] = rows
        if len(self._read) > READ:
            del self._read[next(iter(self._read))]

    def shown(self, number: int, folded: bool) -> int:
        """How many of a block's rows are shown."""
        at = number - self._gone
        if 0 <= at < len(self._blocks):
            return BLOCK - self._blocks[at].hidden[folded]
        hidden = 1 if folded else -1
        return sum(row.fold != hidden for row in self.block(number))
