"""An old test that was edited to ask something else: the answer to its old question is nobody's any more. Pure.

Where the task states what comes out, an old test may say so. With another input in the same call it says nothing about
the old one, and the old test, as it was, fails. Text only, so that every language with calls is read alike.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

JUDGES = re.compile(
    r"(?:assert\w*|expect\w*|equals?|deepEqual|strictEqual|deepStrictEqual|notEqual\w*|ok|is|same|like|match|throws|rejects"
    r"|raises|to[A-Z]\w*|test|it|describe|t|Errorf?|Fatalf?|Equal|approx|isclose|if|for|while|switch|parametrize|param)$"
)
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def asks_otherwise(old: Sequence[str], new: Sequence[str]) -> bool:
    """A value inside a call that judges nothing was replaced or taken away."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return any(
        _is_input(old, at)
        for kind, start, stop, _, _ in matcher.get_opcodes()
        if kind in ("replace", "delete")
        for at in range(start, stop)
        if _is_value(old[at])
    )


def _is_value(token: str) -> bool:
    return token[:1].isdigit() or token[:1] in "\"'`"


def _is_input(tokens: Sequence[str], at: int) -> bool:
    """The innermost call around a token, seen through brackets of lists and mappings, is one of the program's."""
    depth = 0
    for before in range(at - 1, -1, -1):
        token = tokens[before]
        if token in _CLOSE:
            depth += 1
        elif token in _OPEN and depth:
            depth -= 1
        elif token == "(":  # noqa: S105 (a bracket)
            name = tokens[before - 1] if before else ""
            if re.fullmatch(r"[A-Za-z_$][\w$]*", name):
                return not JUDGES.match(name)
    return False
