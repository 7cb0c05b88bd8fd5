"""A test that is gone and whose question another one asks: with its assertions, or for another answer. Pure.

A deprecated function keeps its test within `pytest.warns`. What is removed keeps the call, and it is refused now.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from engine.perform.checks.proof.asked_inputs import JUDGES
from engine.perform.checks.proof.integrity_python import Function
from engine.perform.checks.proof.python_names import Rename
from engine.perform.checks.proof.suspicious import dotted
from engine.perform.checks.proof.test_shape import EditKind, Unit, compare, plain

_LOOKS_ON = frozenset({"warns", "deprecated_call", "assertWarns", "assertWarnsRegex", "catch_warnings"})
"""What a failing assertion goes through unhindered."""
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def kept_inside(old: Unit, new: Unit, renames: tuple[Rename, ...] = ()) -> bool:
    """Whether everything the old test did and asserted is in the new one, some of it below a look at warnings."""
    if not (old.test and new.test and len(old.nodes) == len(new.nodes) == 1):
        return False
    one, other = plain(old.nodes[0]), plain(new.nodes[0])
    if not (isinstance(one, Function) and isinstance(other, Function)):
        return False
    one.name = other.name = "_"
    other.body = _bare(other.body)
    return compare(replace(old, nodes=(one,)), replace(new, nodes=(other,)), renames) is EditKind.STRONGER


def _bare(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in body:
        looks_on = isinstance(statement, ast.With) and all(
            isinstance(item.context_expr, ast.Call) and dotted(item.context_expr.func).rpartition(".")[2] in _LOOKS_ON
            for item in statement.items
        )
        found += _bare(statement.body) if looks_on and isinstance(statement, ast.With) else [statement]
    return found


def asks_the_same(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether every call of the program that the old tokens make is made by the new ones, with the same values."""
    asked = _asked(old)
    return bool(asked) and asked <= _asked(new)


def _asked(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Calls that judge nothing and give a value, each by its name and all that stands in its brackets."""
    found = set()
    for at, word in enumerate(words[:-1]):
        if words[at + 1] != "(" or not (word.isidentifier() or word.startswith("$")) or JUDGES.match(word):
            continue
        depth = 0
        for end in range(at + 1, len(words)):
            depth += (words[end] in _OPEN) - (words[end] in _CLOSE)
            if not depth:
                given = tuple(words[at : end + 1])
                if any(one[:1].isdigit() or one[:1] in "\"'`" for one in given):
                    found.add(given)
                break
    return frozenset(found)
