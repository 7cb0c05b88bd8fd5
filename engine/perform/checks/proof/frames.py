"""What a change leaves alone, told by how its proofs failed on the base. Pure.

A test that only crashed there shows that a crash is over: where the old code answered, the answer stays. A test that
only missed an error shows that something is refused now: what is answered still is answered as it was. Tests that only
missed a name show that something is new: beside it everything is as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from engine.core.model import TaskSpec
from engine.perform.checks.run.measure import BAD, Case


class Frame(StrEnum):
    """What may differ beside the proofs."""

    NOTHING = "nothing was to change"
    CRASH = "the proof shows that a crash is over, and here the base did not crash"
    REFUSAL = "the proof shows that something is refused, and this is not"
    ADDITION = "the proof shows only that something is new, and this was there before"

    def broken(self, was: str, now: str) -> bool:
        """Whether another answer (by its shape) is one that this change was not to give."""
        if self is Frame.NOTHING:
            return not (was.startswith("!") and was == now)  # the words of an error are no answer
        if was.startswith("!"):
            return False
        return self is Frame.CRASH or not now.startswith("!")


_NOT_RAISED = re.compile(r"DID NOT RAISE|\bnot raised\b|Missing expected exception")
_OF_VALUES = re.compile(
    r"NoneType|not subscriptable|not iterable|unsupported operand|not supported between|indices must|has no len|"
    r"object is not callable|can only concatenate|must be str|argument must be|expected str"
)
"""Words of a TypeError or AttributeError that comes of a value, not of a name that is not there yet."""
_NAMES = frozenset({"ImportError", "ModuleNotFoundError", "NameError", "ReferenceError", "SyntaxError", "CollectError"})
_ASSERTED = frozenset({"AssertionError", "Failed", ""})


_ADDS = re.compile(
    r"(?:add|new|offer|introduce|provide|implement)\b|[\w.`]+\([^()]*\)`?$|(?:[a-z_]\w*\.)+[a-z_]\w*$", re.IGNORECASE
)


def adds(task: TaskSpec | None) -> bool:
    """Its title is about something new, and about nothing else: "Add total", `Shelf.count()`."""
    return task is not None and _ADDS.match(task.title.strip()) is not None


def frame_of(reds: Iterable[Case]) -> Frame | None:
    """The frame that all the failures on the base agree on."""
    found = {_of(case) for case in reds}
    return found.pop() if len(found) == 1 else None


def _of(case: Case) -> Frame | None:
    if case.outcome not in BAD:
        return None
    if _NOT_RAISED.search(case.text):
        return Frame.REFUSAL
    if case.error in _ASSERTED or case.error in _NAMES:
        return None  # of a file that cannot be loaded nothing is known
    if case.error in ("TypeError", "AttributeError") and not _OF_VALUES.search(case.text):
        return Frame.ADDITION
    return Frame.CRASH
