"""Names of tests that are others in every run of one tree: a time, an address, a random number, a folder of the day.

Such a name is never guessed from its looks. Two runs of the same tree of the base have to differ in it; then what stays
of it is the name, and several that are alike are told apart by their order. A change can only be held to it, never
teach it: every one of the tests must be there as often as on the base.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine import files
from engine.core.model import Struct
from engine.perform.checks.run.measure import Measurement, Report

NAME = "moving-names.json"
MOVES = "…"
"""Stands for what moves."""
TOKEN = re.compile(r"[^\W_]+|.", re.DOTALL)
WORD = rf"(?:[^\W_]+|{MOVES})"
MOST = 200
"""Masks of one check; a suite that moves in more places than that is not the same suite twice."""


class Mask(Struct, frozen=True, kw_only=True):
    """What stays of a name, in pieces; between two of them stands one word, or (`loose`) anything."""

    pieces: tuple[str, ...]
    loose: bool = False

    @property
    def name(self) -> str:
        return MOVES.join(self.pieces)

    def pattern(self) -> re.Pattern[str]:
        between = ".*" if self.loose else WORD
        return re.compile(between.join(map(re.escape, self.pieces)), re.DOTALL)


def learn(first: Iterable[str], second: Iterable[str]) -> tuple[Mask, ...]:
    """What moves between the names of two runs; nothing where they are the same, or too different to be a pair."""
    before, after = list(dict.fromkeys(first)), list(dict.fromkeys(second))
    gone, come = _by_test(before, frozenset(after)), _by_test(after, frozenset(before))
    found: dict[Mask, None] = {}
    for test, old in gone.items():
        new = come.get(test, [])
        shapes = {_shape(id): id for id in new}
        alike = [id for id in old if _shape(id) in shapes]
        found |= dict.fromkeys(_shape(id) for id in alike)
        if alike:  # what numbers some parameters of a test numbers all of them, and another run moves others
            found |= dict.fromkeys(mask for id in before if id.startswith(test) and (mask := _shape(id)).pieces[1:])
        left = [id for id in old if id not in alike]
        wanted = [id for id in new if _shape(id) not in {_shape(one) for one in alike}]
        if len(left) == len(wanted):
            pairs = [_common(one, other) for one, other in zip(left, wanted, strict=True)]
            found |= dict.fromkeys(mask for mask in pairs if mask is not None)
    return tuple(found)[:MOST]


def numbered_otherwise(first: Sequence[str], second: Sequence[str]) -> tuple[Mask, ...]:
    """What moves where two runs of the same files have as many tests of each name, but for words with digits in them.

    Nothing where that does not explain every difference: a parameter that only one place has is no number.
    """
    numbered = {_shape(id) for id in first}
    masks = tuple(mask for mask in learn(first, second) if mask in numbered)
    same = sorted(names_that_stay(first, masks)) == sorted(names_that_stay(second, masks))
    return masks if masks and same else ()


def _by_test(ids: Iterable[str], known: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for id in ids:
        if id not in known:
            found[id[: _stem(id)]].append(id)
    return found


def _stem(id: str) -> int:
    """Where the part begins that a run may make: behind the bracket of a parametrised test, else behind its file."""
    bracket = id.find("[")
    if bracket >= 0:
        return bracket + 1
    place = re.match(r"[^\s:>]*\.\w+(?: > |::| )|[^:]*::", id)
    return place.end() if place else 0


def _shape(id: str) -> Mask:
    """Every word with a digit in it moves; the mask of a name without one is the name."""
    stem = _stem(id)
    return _mask(id[:stem], TOKEN.findall(id[stem:]), lambda word: any(map(str.isdigit, word)))


def _common(one: str, other: str) -> Mask | None:
    """The words in which two names differ, and every word with a digit; for a parameter of another form all of it."""
    stem = _stem(one)
    here, there = TOKEN.findall(one[stem:]), TOKEN.findall(other[stem:])
    same = sum(a == b for a, b in zip(here, there, strict=False))
    if len(here) == len(there) and same * 2 >= len(here):
        moved = [a != b or any(map(str.isdigit, a)) for a, b in zip(here, there, strict=True)]
        if all(word.isalnum() for word, moves in zip(here, moved, strict=True) if moves):
            turns = iter(moved)
            return _mask(one[:stem], here, lambda _word: next(turns))
    if one[:stem].endswith("[") and one.endswith("]") and other.endswith("]"):
        return Mask(pieces=(one[:stem], "]"), loose=True)
    return None


def _mask(stem: str, words: Sequence[str], moves: Callable[[str], bool]) -> Mask:
    pieces = [stem]
    for word in words:
        if moves(word):
            pieces.append("")
        else:
            pieces[-1] += word
    return Mask(pieces=tuple(pieces))


def settled(report: Report, masks: Sequence[Mask]) -> Report:
    """The report with the names that stay."""
    if not masks or not report.cases:
        return report
    names = names_that_stay(ids_of(report), masks)
    cases = tuple(replace(case, id=name) for case, name in zip(report.cases, names, strict=True))
    return replace(report, cases=cases, deselected=tuple(names_that_stay(report.deselected, masks)))


def names_that_stay(ids: Iterable[str], masks: Sequence[Mask]) -> list[str]:
    """Each by what stays of it; several that are alike then are numbered in their order."""
    patterns = [(mask.pattern(), mask.name) for mask in masks]
    seen: dict[str, int] = defaultdict(int)
    found = []
    for id in ids:
        stays = next((name for pattern, name in patterns if pattern.fullmatch(id)), "")
        seen[stays] += 1
        found.append(id if not stays else stays if seen[stays] == 1 else f"{stays} #{seen[stays]}")
    return found


def selectable(id: str) -> str:
    """What a runner can be asked for: the test of a name that moves, with all its parameters."""
    return id[: _stem(id)].rstrip("[:> ") if MOVES in id else id


def masks_of(folder: Path, check: str) -> tuple[Mask, ...]:
    """What is known of a check; `folder` is the checks' own folder in the state directory."""
    return tuple(_read(folder).get(check, ()))


def remember(folder: Path, check: str, masks: Iterable[Mask]) -> None:
    known = _read(folder)
    known[check] = list(dict.fromkeys((*known.get(check, ()), *masks)))[-MOST:]
    files.private_folder(folder)
    with contextlib.suppress(OSError):
        files.write(folder / NAME, msgspec.json.encode(known), durable=False)


def _read(folder: Path) -> dict[str, list[Mask]]:
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=dict[str, list[Mask]])
    except (OSError, msgspec.DecodeError):
        return {}


def settle(measured: Measurement, masks: Sequence[Mask]) -> Measurement:
    return replace(measured, report=settled(measured.report, masks)) if masks else measured


def may_move(before: Report, after: Report) -> bool:
    """A test of the one is not in the other, and something like it is: worth a second run of the base."""
    return before.counts_tests and bool(learn(ids_of(before), ids_of(after)))


def ids_of(report: Report) -> list[str]:
    return [case.id for case in report.cases]
