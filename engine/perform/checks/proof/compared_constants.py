"""What new code compares with, beside the constants of the test that proves it. Pure."""

from __future__ import annotations

import ast
import re

from engine.perform.checks import python_source
from engine.perform.checks.proof.source_tokens import constants, decisions

NATURAL = frozenset(
    {"7", "12", "13", "24", "28", "29", "30", "31", "60", "90", "100", "180", "255", "256", "360", "365"}
)
"""Numbers that the world has, not a test."""
WHOLE_CODE = re.compile(r"//|\bdivmod\(|\bint\(|->\s*(?:list\[)?int\b|\bround\(|\bcents?\b")


def adds_a_decision(before: bytes | None, after: bytes | None, python: bool = True) -> bool:
    """More branches, comparisons or look-ups than before: without one, code treats a value as those beside it."""
    return _decisions(after) > _decisions(before) if python else decisions(after) > decisions(before)


_ASKS_ITS_ARGUMENT = re.compile(
    "get|setdefault|pop|index|find|count|match|fullmatch|search|startswith|endswith|removeprefix|removesuffix|replace"
    "|translate|sub|partition|split|rsplit|[lr]?strip"
)
"""Calls that may do one thing for one value and another for the next, where they are given a constant."""


def _decisions(source: bytes | None) -> int:
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return 0
    return sum(map(_decides, ast.walk(tree)))


def _decides(node: ast.AST) -> bool:
    match node:
        case (
            ast.If() | ast.IfExp() | ast.Compare() | ast.BoolOp() | ast.match_case() | ast.ExceptHandler() | ast.While()
        ):
            return True
        case ast.Subscript(slice=ast.Constant(value=int()) | ast.Slice() | ast.UnaryOp()):
            return False
        case ast.Subscript() | ast.Dict(keys=[_, *_]):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=[*args]):
            return _ASKS_ITS_ARGUMENT.fullmatch(name) is not None and any(
                isinstance(one, ast.Constant) and len(str(one.value)) > 2 for one in args
            )
    return False


def compares_with(before: bytes | None, after: bytes | None, constant: str, python: bool = True) -> bool:
    """The new source has the constant (as written by `repr`) in more places than the old, and the old in none."""
    written = _written if python else constants
    return constant not in written(before) and constant in written(after)


def compares_more(before: bytes | None, after: bytes | None, constant: str, python: bool = True) -> bool:
    """The new source has the constant in more places than the old."""
    if not python:
        return compares_with(before, after, constant, python)
    return _all_written(before).count(constant) < _all_written(after).count(constant)


def _written(source: bytes | None) -> set[str]:
    return set(_all_written(source))


def _all_written(source: bytes | None) -> list[str]:
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [repr(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]


def holds_part(before: bytes | None, after: bytes | None, part: str, python: bool = True) -> bool:
    """A text is new in the source that has this number in it, and the signs around it: "1/2", "%20"."""
    written = _written if python else constants
    bare = part.strip("'\"")
    if len(bare) < 2 or bare.isdigit():
        return False
    had = written(before)
    return any(bare in one for one in written(after) - had) and not any(bare in one for one in had)


def whole_numbers(before: bytes | None) -> bool:
    """The old code computes in whole numbers on purpose."""
    return WHOLE_CODE.search((before or b"").decode("utf-8", "replace")) is not None


_ODD = re.compile(r"-?[\d_.]{4,}|(?:0x)?(?=[a-f]*\d)[0-9a-f]{6,}|[\w+/-]{20,}={0,2}", re.IGNORECASE)
"""A number of four digits and more, or a digest."""


def odd_constant(before: bytes | None, after: bytes | None, path: str) -> bool:
    """A constant is new that a rule seldom needs and a sum over the inputs of a test does: 753028."""
    written = _written if path.endswith(".py") else constants
    new = (constant.strip("'\"b") for constant in written(after) - written(before))
    return any(_ODD.fullmatch(text) is not None and text not in NATURAL for text in new)


def named_by(words: str, constant: str) -> bool:
    """The task itself speaks of this input, and not only in an example of a call."""
    bare = constant.strip("'\"b")
    prose = re.sub(r"\w+\([^()]*\)", " ", words)
    return bool(bare) and re.search(rf"(?<![\w.,/-]){re.escape(bare)}(?![\w/]|[.,]\d)", prose) is not None


def is_option(pin: str) -> bool:
    """`--length`: an option is what it is called, wherever the task has it; no other word could stand for it."""
    return pin.strip("'\"b").startswith("-")
