"""Kinds of work that have nothing to show, as `proof:` names them: a change called so has to be so. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class HarmlessKind(StrEnum):
    """What `proof: none (KIND)` says that a change is."""

    DOCS = "docs"
    """Documents, comments, docstrings: the program means the same."""
    LAYOUT = "layout"
    TYPES = "types"
    TESTS = "tests"
    """Tests alone."""
    DEPENDENCIES = "dependencies"
    GENERATED = "generated"
    SETTINGS = "settings"
    REMOVAL = "removal"
    MOVE = "move"
    """Names and places; the tests of the base, rewritten, hold it."""
    REFACTORING = "refactoring"


_NONE = re.compile(r"none\s*\(([a-z, ]+)\)")


def kinds_of(proof: str) -> tuple[HarmlessKind, ...]:
    """The kinds a task's `proof` is bound to; none where it is `none` in the user's own words, or wanted."""
    match = _NONE.fullmatch(proof)
    words = [word.strip() for word in match[1].split(",")] if match else []
    return tuple(HarmlessKind(word) for word in words if word in set(HarmlessKind))


def known_proof(words: str) -> str | None:
    """What a plan may write behind `proof:`, in one spelling; None: nobody understands it."""
    word = " ".join(words.strip().strip("`*.").lower().split())
    if word in ("none", "required", ""):
        return word
    match = _NONE.fullmatch(word)
    if match is None:
        return None
    kinds = [kind.strip() for kind in match[1].split(",")]
    return bound(HarmlessKind(kind) for kind in kinds) if set(kinds) <= set(HarmlessKind) else None


def bound(kinds: Iterable[HarmlessKind]) -> str:
    """`proof: none`, bound to kinds."""
    words = list(dict.fromkeys(kind.value for kind in kinds))
    return f"none ({', '.join(words)})" if words else "none"


HELD_BY_TESTS = frozenset({HarmlessKind.MOVE, HarmlessKind.REFACTORING})
"""Nothing in the change itself shows that it is so: only tests that still pass do."""


def held_by_tests(proof: str) -> bool:
    """Whether such a proof is worth nothing where no test runs. In the user's own words (`none`) it is their word."""
    return bool(HELD_BY_TESTS & set(kinds_of(proof)))


def nothing_to_show(proof: str) -> bool:
    """Whether the plan says so, bound or not."""
    return proof == "none" or bool(kinds_of(proof))
