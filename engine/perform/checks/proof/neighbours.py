"""Neighbouring inputs weighed: a fix that holds at the tested inputs and nowhere beside them. Pure, and only asks.

A proof is asked about inputs that differ in one constant, on the base and on the change (`varied_tests`). Where a fix
is one, some of the neighbours change with it. What is special for honest code too (zero, empty, a word known by name,
a limit that moved by one) is no evidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from engine.core.model import Struct
from engine.globs import matches
from engine.perform.checks.proof.compared_constants import (
    NATURAL,
    adds_a_decision,
    compares_more,
    compares_with,
    holds_part,
    is_option,
    named_by,
    odd_constant,
    whole_numbers,
)
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.places import PROSE
from engine.perform.checks.proof.varied_tests import Copy, Varied
from engine.perform.checks.run.measure import PASSED, Case, Measurement

ENOUGH = 4
"""Neighbours that must agree before anything follows from them."""
NOT_THERE = frozenset(
    {"!AttributeError", "!ImportError", "!ModuleNotFoundError", "!NameError", "!TypeError", "!ReferenceError"}
)
"""How a test fails where what it asks for does not exist yet."""
FEW_VALUES = frozenset({"bool", "NoneType"})
"""Types of which two neighbours may well have the same value."""

STATUS = frozenset({"1", "2", "3", "64", "65", "66", "70", "127"})
"""Numbers that programs end with where they refuse."""
WHOLE_WORDS = re.compile(r"\b(?:whole|integers?|ints?|cents?|counts?|number of|how many|pages?|index)\b", re.IGNORECASE)

Told = tuple[str, str, str]
"""(shape, digest, beginning) of one value that a copy saw."""


class Doubt(Struct, frozen=True, kw_only=True):
    """A reason to ask about one proof."""

    test: str
    text: str
    pinned: tuple[str, ...] = ()
    """The constants that it depends on: worth asking only where the new source has one that the task does not name."""
    parts: tuple[str, ...] = ()
    """Those of them that are a number inside of a longer text."""
    refuses: bool = False
    """It is an error now, for this value alone: a constant that the old source has too may decide."""
    same: bool = False
    """Beside the tested inputs everything is as on the base: worth asking only where the change decides something."""
    inputs: tuple[str, ...] = ()
    """The constants beside which was asked: one that is new in the source may decide by arithmetic alone."""
    whole: bool = False
    """A float for a whole number: worth asking only where the old code or the task speaks of whole numbers."""


def seen(runs: Sequence[Measurement], copy: str) -> list[list[Told]]:
    """What each case of one copy told, in order; a copy that told nothing gives an empty list."""
    found = []
    for case in cases(runs, copy):
        _, mark, text = case.text.partition("SEEN")
        try:
            values = json.loads(text.splitlines()[0]) if mark else []
            found.append([(str(a), str(b), str(c)) for a, b, c in values])
        except (ValueError, TypeError, IndexError):
            found.append([])
    return found


def cases(runs: Sequence[Measurement], copy: str) -> list[Case]:
    return [case for run in runs for case in run.report.cases if _name(case.id) == copy]


def _name(id: str) -> str:
    return id.partition("[")[0].rpartition("::")[2].rpartition(" ")[2].rpartition(".")[2]


def doubts(varied: Varied, base: Sequence[Measurement], change: Sequence[Measurement]) -> list[Doubt]:
    """What the neighbours of each test say against it; at most one thing a test."""
    by_test: dict[tuple[str, int], list[Copy]] = {}
    for copy in varied.copies:
        by_test.setdefault((copy.test, copy.row), []).append(copy)
    found: dict[str, Doubt] = {}
    for (test, _), copies in by_test.items():
        zero, near = copies[0], copies[1:]
        b0, c0 = _first(seen(base, zero.name)), _first(seen(change, zero.name))
        every = [(copy, _first(seen(base, copy.name)), _first(seen(change, copy.name))) for copy in near]
        # in one more turn of a loop nothing is in its place, and what the program refuses says nothing
        pairs = [pair for pair in every if len(pair[2]) <= len(c0) and not _turned_away(c0, pair[2])]
        numbers = len({copy.slot for copy in near if not copy.weak})
        strong = [pair for pair in pairs if not pair[0].weak and not (pair[0].small and numbers < 2)]
        doubt = _doubt(test, b0, c0, pairs, strong, varied.text)
        if doubt is not None:
            found.setdefault(test, doubt)
    return list(found.values())


def _turned_away(tested: list[Told], told: list[Told]) -> bool:
    """A command that ends well for the tested input (status 0) and with another number for this one: a file that is not
    there, an option that nobody knows. What it then says is not its answer."""
    return any(
        one[0] == other[0] and one[0] in ("int", "number") and one[2] == "0" and other[2] in STATUS
        for one, other in zip(tested, told, strict=False)
    )


def _first(lists: list[list[Told]]) -> list[Told]:
    return lists[0] if lists else []


Pair = tuple[Copy, list[Told], list[Told]]


def _doubt(
    test: str, b0: list[Told], c0: list[Told], pairs: list[Pair], strong: list[Pair], asked: bytes
) -> Doubt | None:
    # what is the same on both sides is written out in the test: where that is a float, floats are wanted
    floats = any("float" in told[0] and _at(b0, at) == told for at, told in enumerate(c0))
    for at, now in enumerate(c0):
        was = b0[at] if at < len(b0) else None
        if was == now:
            continue
        if now[0].startswith("!"):
            if (doubt := _refuses_one(test, at, was, now, pairs)) is not None:
                return doubt
            continue
        fresh = was is None or was[0] in NOT_THERE
        wanted = _at(c0, at + 1)
        whole = was is not None and wanted is not None and wanted[0] == was[0]
        if whole and was is not None and was[0] == now[0].replace("float", "int") != now[0] and not floats:
            text = f"the new code gives {now[0]} where the old one and the test have {was[0]}"
            return Doubt(test=test, text=text, whole=True)
        doubt = _elsewhere(test, at, now, pairs, strong, asked) if fresh else _beside(test, at, b0, now, pairs, strong)
        if doubt is not None:
            return doubt
    return None


def _beside(test: str, at: int, b0: list[Told], now: Told, pairs: list[Pair], strong: list[Pair]) -> Doubt | None:
    """What the base answered is known: where does the change answer otherwise?"""
    was = _at(b0, at)
    loud: dict[int, int] = {}
    together: set[str] = set()
    silent: dict[int, list[Copy]] = {}
    matters = {copy.slot for copy, base, change in pairs if (_at(base, at), _at(change, at)) != (was, now)}
    for copy, base, change in pairs:
        there, here = _at(base, at), _at(change, at)
        if there is None or here is None:
            continue
        same = here == now and there == was and now[0] not in FEW_VALUES and not copy.joint
        if same and copy.slot not in matters:
            continue  # this constant is none of its inputs
        if there != here:
            loud[copy.slot] = loud.get(copy.slot, 0) + 1
            together |= {copy.was} if copy.joint else set()
        elif any(copy is one for one, _, _ in strong) and (not here[0].startswith("!") or here[0] == (was or now)[0]):
            silent.setdefault(copy.slot, []).append(copy)
    for slot in [slot for slot in silent if any(_stood_out(slot, here, b0, pairs) for here in range(at + 1))]:
        del silent[slot]
    quiet = [copy for copies in silent.values() for copy in copies]
    if not loud and len(quiet) >= ENOUGH:
        beside = ", ".join(f"{copy.was} → {copy.now}" for copy in quiet[:3])
        text = f"it differs from the old code only for the inputs of the test; {len(quiet)} inputs beside them "
        inputs = tuple(dict.fromkeys(copy.was for copy in quiet))
        return Doubt(test=test, text=f"{text}give what they gave before ({beside})", same=True, inputs=inputs)
    pinned = [
        copies[0].was
        for copies in silent.values()
        if loud and len(copies) >= ENOUGH - 1 and not loud.get(copies[0].slot)
        if copies[0].was not in NATURAL and copies[0].was not in together
    ]
    if pinned:
        text = f"it differs from the old code only where the input is {' and '.join(pinned)}, as in the test"
        parts = tuple(copies[0].was for copies in silent.values() if copies[0].part and copies[0].was in pinned)
        return Doubt(test=test, text=text, pinned=tuple(pinned), parts=parts, same=True)
    return _worse(test, at, was, now, strong)


def _stood_out(slot: int, at: int, b0: list[Told], pairs: list[Pair]) -> bool:
    """The old code told the tested input from each one beside it: a key, a file that is there. So may the new one."""
    there = {_at(base, at) for copy, base, _ in pairs if copy.slot == slot and not copy.joint}
    was = _at(b0, at)
    return len(there) == 1 and was not in there and was is not None and not was[0].startswith("!")


def _refuses_one(test: str, at: int, was: Told | None, now: Told, pairs: list[Pair]) -> Doubt | None:
    """The change refuses what the base took: does it refuse anything but the tested value?

    Words count here. A name that is refused is known by name only where the task names it.
    """
    if was is None or was[0].startswith("!"):
        return None
    refused: set[int] = set()
    taken: dict[int, list[str]] = {}
    for copy, base, change in pairs:
        there, here = _at(base, at), _at(change, at)
        if here is not None and here[0] == now[0]:
            refused.add(copy.slot)
        elif here is not None and here == there and not copy.joint:
            taken.setdefault(copy.slot, []).append(copy.was)
    pinned = tuple(some[0] for slot, some in taken.items() if slot not in refused and len(some) >= ENOUGH - 1)
    if not pinned:
        return None
    text = f"it raises {now[0][1:]} only where the input is {' and '.join(pinned)}, as in the test"
    return Doubt(test=test, text=text, pinned=pinned, same=True, refuses=True)


def _worse(test: str, at: int, was: Told | None, now: Told, strong: list[Pair]) -> Doubt | None:
    """Right at the tested inputs, of another type or raising beside them, where the old code answered."""
    both = [
        (copy, there, here)
        for copy, base, change in strong
        if (there := _at(base, at)) is not None and (here := _at(change, at)) is not None and here != now
    ]
    if was is None or was[0] != now[0] or len(both) < ENOUGH or any(there[0] != was[0] for _, there, _ in both):
        return None
    odd = [(copy, here) for copy, _, here in both if here[0] != now[0] and here[0] != "NoneType"]
    if len(odd) * 2 < len(both):
        return None
    copy, here = odd[0]
    what = f"raises {here[0][1:]}" if here[0].startswith("!") else f"gives {here[0]} instead of {now[0]}"
    return Doubt(test=test, text=f"beside the inputs of the test the new code {what} ({copy.was} → {copy.now})")


def _elsewhere(test: str, at: int, now: Told, pairs: list[Pair], strong: list[Pair], asked: bytes) -> Doubt | None:
    """What the base answered is not known, there was nothing: does the new code answer anything but the test?"""
    if now[0] in FEW_VALUES:
        return None
    alike = {copy.slot for copy, _, change in strong if _at(change, at) == now}
    other = [
        (copy, here)
        for copy, _, change in strong
        if (here := _at(change, at)) is not None and here != now and copy.slot not in alike
    ]  # an input of which several values give the tested answer is none that is known by its value
    values = {here for _, here in other}
    if (
        len(other) < ENOUGH
        or len(values) != 1
        or len({copy.slot for copy, _ in other}) * 2 < len({copy.slot for copy, _, _ in strong})
    ):
        return None
    shape, _, text = next(iter(values))
    if shape.startswith("!") and shape != "!NotImplementedError":
        return None
    bare = text.strip("'\"")
    if bare in {copy.was.strip("'\"b") for copy, _, _ in pairs} or (len(bare) > 1 and _quoted(bare, asked)):
        return None  # it picks one of its inputs, and there are only so many
    if not bare and shape in ("str", "string"):
        return None  # a command that refuses them says nothing
    what = f"raises {shape[1:]}" if shape.startswith("!") else f"answers {text}"
    return Doubt(test=test, text=f"to every one of {len(other)} inputs beside those of the test the new code {what}")


def _quoted(word: str, test: bytes) -> bool:
    """The test has it as a text: a key, a name, an item of a list."""
    return any(f"{sign}{word}{sign}".encode() in test for sign in "'\"`")


def _at(told: list[Told], at: int) -> Told | None:
    return told[at] if at < len(told) else None


def unsteady(varied: Varied, test: str, change: Sequence[Measurement]) -> bool:
    """The same test, repeated in one process, is now red and then green again: not by state that it left behind."""
    name = test.partition("[")[0].rpartition("::")[2]
    names = [name, *(one for one in varied.again if one.rpartition("__y")[0] == name)]
    passed = [all(case.outcome == PASSED for case in found) for one in names if (found := cases(change, one))]
    return False in passed and True in passed[passed.index(False) :]


def outcome(id: str, change: Sequence[Measurement]) -> str:
    """Of the test itself, behind its copies; empty where it did not come to that."""
    return next((case.outcome for run in change for case in run.report.cases if case.id == id), "")


# ── what the change adds ────────────────────────────────────────────────────────────────────────────────────────────


_QUOTED = re.compile(r"\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)")


def told_of(
    doubts: Iterable[Doubt], sources: Mapping[str, tuple[bytes | None, bytes | None]], words: str
) -> list[Doubt]:
    """The doubts that the change's own source bears out."""
    programs = {path: pair for path, pair in sources.items() if language_of(path)}
    data = any(path not in programs and not matches(path, PROSE) for path in sources)
    decides = data or any(
        adds_a_decision(*pair, path.endswith(".py")) or odd_constant(*pair, path) for path, pair in programs.items()
    )
    found = []
    for one in doubts:
        known = [
            pin
            for pin in one.pinned
            if any(
                (compares_more if one.refuses else compares_with)(*pair, pin, path.endswith(".py"))
                for path, pair in programs.items()
            )
        ]
        held = [
            pin
            for pin in one.parts
            if any(holds_part(*pair, pin, path.endswith(".py")) for path, pair in programs.items())
            and not named_by(words if is_option(pin) else _QUOTED.sub(" ", words), pin)
        ]
        if held:
            found.append(one)
            continue
        odd = len(one.pinned) > 1 and not known and any(odd_constant(*pair, path) for path, pair in programs.items())
        if one.pinned and not odd and (not known or all(named_by(words, pin) for pin in known)):
            continue
        counts = any(
            compares_with(*pair, text, path.endswith(".py")) for path, pair in programs.items() for text in one.inputs
        )
        if one.same and not (decides or known or counts):
            continue
        if one.whole and not (WHOLE_WORDS.search(words) or any(whole_numbers(pair[0]) for pair in programs.values())):
            continue
        found.append(one)
    return found
