"""Which places an entry of `allow:` names, and whether one entry gives what another asks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.core.grant_grammar import grants_of
from engine.core.grants import Grant, GrantKind


def answers(entry: str, asked: str) -> bool:
    """Whether an entry gives all that another one would: the same thing, or of its kind at a place that holds it."""
    given, wanted = grants_of((entry,)), grants_of((asked,))
    return bool(wanted) and all(any(_covers(one, other) for one in given) for other in wanted)


def _covers(one: Grant, other: Grant) -> bool:
    return one.kind is other.kind and _holds(one.target, other.target) and _holds(one.to, other.to)


def _holds(place: str, other: str) -> bool:
    """A place, or one inside it: a folder, a file of tests, a glob."""
    inside = other.startswith((f"{place.rstrip('/')}/", f"{place}::", f"{place}["))
    return not place or place == other or inside or _matches(other, place)


def _matches(path: str, glob: str) -> bool:
    """`*` and `?` as a shell has them, over folders too: wide enough to know a place again."""
    parts = (".*" if one == "*" else "." if one == "?" else re.escape(one) for one in glob)
    return re.fullmatch("".join(parts), path) is not None


PLACES = {
    GrantKind.EDIT: "target",
    GrantKind.EDIT_TESTS: "target",
    GrantKind.DELETE_TESTS: "target",
    GrantKind.SKIP_TESTS: "target",
    GrantKind.SUPPRESS: "to",
    GrantKind.ACCEPT: "to",
}
"""Where an entry names a file or a test of the tree."""


def places_of(entry: str) -> list[str]:
    """The files and tests that an entry names."""
    return [str(getattr(one, PLACES[one.kind])) for one in grants_of((entry,)) if one.kind in PLACES]


def unknown_place(entry: str, known: Iterable[str]) -> str:
    """The file or test that an entry names and that is none of these, nor holds one; empty where it names none."""
    places, there = places_of(entry), tuple(known)
    odd = [place for place in places if place and not any(_holds(place, one) or _holds(one, place) for one in there)]
    return odd[0] if odd and len(odd) == len(places) else ""
