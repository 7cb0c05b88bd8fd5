"""An old test that asks for other values now, and for more: line by line, with its constants left open. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.source_text import tokens

_HIDES = re.compile(
    r"\b(?:skip\w*|todo|only|xfail|expectedFailure|return|raise|throw|if|else|elif|switch|case|match|for|while|try|except|catch|finally"
    r"|suppress|exit|panic|recover|defer|go|mock|patch|monkeypatch|setattr|spy\w*|stub\w*|import|require|lambda|global|del|eval|exec"
    r"|Parallel|concurrent|retry|approx|isclose|AlmostEqual|any|all|or)\b|=>|\|\||&&|(?<![=!<>])=(?!=)",
)
"""What a line that comes along may not do: whatever else happens around the assertions is asked about."""


def more_of_the_same(path: str, before: str, after: str) -> bool:
    """Each line of the test is there still, in its order and but for its constants; what came are further lines that do
    nothing but ask."""
    old, new = _lines(path, before), _lines(path, after)
    if not old or len(new) < len(old):
        return False
    heads = {shape[0] for shape, _ in old} if language_of(path) == "shell" else None
    at = 0
    for shape, line in new:
        if at < len(old) and shape == old[at][0]:
            at += 1
        elif heads is not None and shape[0] not in heads:
            return False  # a script has no assertions of its own: only what was called before asks again
        elif _HIDES.search(re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "''", line)):
            return False
    return at == len(old)


def _lines(path: str, text: str) -> list[tuple[tuple[str, ...], str]]:
    found = ((_shape(tokens(path, line), language_of(path)), line) for line in text.splitlines())
    return [(shape, line) for shape, line in found if shape]


def _shape(words: Sequence[str], language: str) -> tuple[str, ...]:
    """Constants are all the same, and so are as many of them as stand in a row. What a script puts together is none."""
    found: list[str] = []
    for word in words:
        constant = word[:1].isdigit() or word[:1] in "\"'`"
        if constant and language == "shell" and re.search(r"[$`]", word[1:]) and word[:1] != "'":
            constant = False
        if not constant:
            found.append(word)
            continue
        if found and found[-1] == "-":
            found.pop()
        if found[-2:] == ["§", ","]:
            found.pop()
        else:
            found.append("§")
    return tuple(found)
