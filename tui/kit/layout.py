"""Layout: which rows of the screen the lines of a stream take. Counted block by block, so that a width is changed or a
fold opened at once: blocks far from the screen have a guess until there is time to lay them out."""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len

from tui.kit.canvas import harmless
from tui.kit.paint import head_of
from tui.kit.rows import BLOCK, Row, Rows

_INDENT = re.compile(r" *(?:[│|▸±∴▲✘] +)?")
LAID = 16
"""Blocks whose rows are kept laid out: the ones on screen and around it."""


class Place(NamedTuple):
    """A row of the screen: a line, from one character to another; `end` is None for the line's last row."""

    line: int
    start: int
    end: int | None


class Laid:
    """A block laid out: for each row its line, and where in the line it begins."""

    __slots__ = ("lines", "starts", "taken")

    def __init__(self) -> None:
        self.lines = array("I")
        self.starts = array("I")
        self.taken = 0


class Layout:
    def __init__(self, rows: Rows, width: int, folded: bool) -> None:
        self.rows, self.width, self.folded = rows, width, folded
        self._first = rows.first // BLOCK
        self._laid: dict[int, Laid] = {}
        last = -(-rows.end // BLOCK)
        self._counts = [rows.shown(block, folded) for block in range(self._first, last)]
        self._guessed = set(range(self._first, last)) if width else set()
        self._sums: list[int] | None = None

    @property
    def total(self) -> int:
        sums = self._upto()
        return sums[-1] if sums else 0

    @property
    def guessed(self) -> bool:
        return bool(self._guessed)

    @property
    def behind(self) -> bool:
        """Rows it knows of are gone."""
        return self.rows.first > self._first * BLOCK

    def _upto(self) -> list[int]:
        """Rows up to the end of each block."""
        if self._sums is None:
            self._sums = list(accumulate(self._counts))
        return self._sums

    # ── keeping up ──

    def take(self) -> bool:
        """Lay out what is new, forget what is gone; true if the oldest rows went."""
        gone = self.rows.first // BLOCK - self._first
        if gone > 0:
            del self._counts[:gone]
            self._first += gone
            self._guessed = {block for block in self._guessed if block >= self._first}
            self._laid = {block: laid for block, laid in self._laid.items() if block >= self._first}
            self._sums = None
        last = -(-self.rows.end // BLOCK)
        for block in range(self._first + max(0, len(self._counts) - 1), last):
            if block - self._first == len(self._counts):
                self._counts.append(0)
            if block not in self._guessed:
                self._lay(block)
        return gone > 0

    def refine(self, seconds: float) -> bool:
        """Turn guesses into counts, the newest first, for about so long; true if any changed."""
        until = time.perf_counter() + seconds
        before = self.total
        while self._guessed and time.perf_counter() < until:
            self._lay(max(self._guessed))
        return self.total != before

    def firm(self, top: int, height: int) -> None:
        """No guesses among these rows: what is about to be drawn stays where it is."""
        row = max(0, top)
        while self._guessed and row < min(top + height, self.total):
            block = self._block_at(row)
            if block in self._guessed:
                self._lay(block)
            row = self._before(block + 1)

    def firm_end(self, height: int) -> None:
        """No guesses among the last rows."""
        block, seen = self._first + len(self._counts) - 1, 0
        while self._guessed and block >= self._first and seen < height:
            if block in self._guessed:
                self._lay(block)
            seen += self._counts[block - self._first]
            block -= 1

    def _lay(self, block: int) -> Laid:
        laid = self._laid.pop(block, None) or Laid()
        self._laid[block] = laid
        if len(self._laid) > LAID:
            del self._laid[next(iter(self._laid))]
        rows = self.rows.block(block)
        if laid.taken < len(rows):
            self._wrap(block, laid, rows)
        if block in self._guessed or self._counts[block - self._first] != len(laid.lines):
            self._guessed.discard(block)
            self._counts[block - self._first] = len(laid.lines)
            self._sums = None
        return laid

    def _wrap(self, block: int, laid: Laid, rows: Sequence[Row]) -> None:
        hidden, width = 1 if self.folded else -1, self.width
        lines, starts = laid.lines, laid.starts
        for number, row in enumerate(rows[laid.taken :], block * BLOCK + laid.taken):
            if row.fold == hidden:
                continue
            text = row.text
            lines.append(number)
            starts.append(0)
            if not width or (len(text) <= width and (text.isascii() or cell_len(text) <= width)):
                continue
            start, text = 0, harmless(text)
            for piece in wrapped(text, width, len(hanging(text, width)))[:-1]:
                start += len(piece)
                lines.append(number)
                starts.append(start)
        laid.taken = len(rows)

    # ── places ──

    def _block_at(self, row: int) -> int:
        return self._first + bisect_right(self._upto(), row)

    def _before(self, block: int) -> int:
        """Rows above a block."""
        at = block - self._first
        return self._upto()[at - 1] if at > 0 else 0

    def place(self, row: int) -> Place:
        """What a row of the screen shows."""
        block = self._block_at(min(row, self.total - 1))
        laid = self._lay(block)
        if not laid.lines:  # dropped since
            return Place(self.rows.first, 0, None)
        at = min(row - self._before(block), len(laid.lines) - 1)
        line, start = laid.lines[at], laid.starts[at]
        last = at + 1 >= len(laid.lines) or laid.lines[at + 1] != line
        return Place(line, start, None if last else laid.starts[at + 1])

    def row_of(self, line: int, start: int = 0) -> int:
        """The row that shows a character of a line; of a line that is hidden or gone, the next one's."""
        block = line // BLOCK
        if block < self._first or not self._counts:
            return 0
        block = min(block, self._first + len(self._counts) - 1)
        laid = self._lay(block)
        at = bisect_left(laid.lines, line)
        while at + 1 < len(laid.lines) and laid.lines[at + 1] == line and laid.starts[at + 1] <= start:
            at += 1
        return self._before(block) + at


def hanging(text: str, width: int) -> str:
    """What the further rows of a wrapped line begin with: its indent, and the bar it hangs on."""
    found = _INDENT.match(text)
    indent = found.group() if found is not None else ""
    return "".join(char if char in "│|" else " " for char in indent) if len(indent) <= width // 3 else ""


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """A long line in pieces of at most `width` cells, broken after a space where one is near.

    All but the first leave `hang` cells free for an indent.
    """
    pieces: list[str] = []
    rest = text
    while rest:
        if len(pieces) == 1:
            width -= hang
        piece = rest[:width] if rest.isascii() else head_of(rest, width)
        if len(piece) < len(rest):
            space = piece.rfind(" ")
            if space > len(piece) // 2:
                piece = piece[: space + 1]
        pieces.append(piece)
        rest = rest[len(piece) :]
    return pieces or [""]
