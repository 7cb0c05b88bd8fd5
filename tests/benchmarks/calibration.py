"""A fixed piece of work, done turn by turn with what is measured: CPU time itself grows on a loaded machine.

Half of it is the interpreter at work on fresh objects, half are starts of a program that does nothing, as in an
iteration. The least that a piece ever took is what it costs on this machine when it is quiet; a measured time divided
by how much dearer the pieces beside it were is the time on a quiet machine.
"""

from __future__ import annotations

import os
import resource
import statistics
from pathlib import Path

PROGRAM = "/bin/true"
STARTS = 3
ROUNDS = 40
FIRST = 150
"""Pieces at the start, to find the least."""


def used() -> float:
    """CPU seconds of this process and of the children it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def _of_children() -> float:
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return theirs.ru_utime + theirs.ru_stime


def piece() -> float:
    """Do it once; the CPU milliseconds that it took."""
    before = used()
    for number in range(ROUNDS):
        made = {f"{number}.{key}": (key, str(key), [key]) for key in range(40)}
        sorted(made.items(), key=lambda entry: entry[1][1])
    for _ in range(STARTS):
        os.waitpid(os.posix_spawn(PROGRAM, [PROGRAM], {}), 0)
    Path("/proc/self/status").read_bytes()
    return (used() - before) * 1000


class Reference:
    """The pieces of one measurement."""

    def __init__(self) -> None:
        self._least = min(piece() for _ in range(FIRST))
        self._beside: list[float] = []
        self.spent = 0.0
        """CPU seconds of the pieces beside the measurement: not its own."""
        self.spent_by_children = 0.0
        """Of that, what the programs took."""

    def take(self) -> None:
        before, children = used(), _of_children()
        self._beside.append(piece())
        self.spent += used() - before
        self.spent_by_children += _of_children() - children

    @property
    def dearer(self) -> float:
        """How much more a piece cost beside the measurement than on a quiet machine."""
        return self.dearer_in(0, len(self._beside))

    def dearer_in(self, first: int, last: int) -> float:
        """The same for a part of the pieces."""
        part = self._beside[first:last]
        return statistics.fmean(part) / min(self._least, *self._beside) if part else 1.0
