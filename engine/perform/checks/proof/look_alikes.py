"""Words put together from letters of two alphabets: what is read is not what is there, and nobody can type it. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from engine.core.grants import Rule
from engine.perform.checks.proof.suspicious import Hit

_WORD = re.compile(r"[^\W\d_]{2,}")
_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK"})
"""Alphabets whose letters look like each other's."""


def look_alikes(before: bytes | None, after: bytes | None, words: str) -> list[Hit]:
    """The first word of this kind that came, and that the task does not have."""
    old, new = ((text or b"").decode("utf-8", "replace") for text in (before, after))
    if new.isascii():
        return []
    for word, line in _mixed(new):
        if word not in old and word not in words:
            text = f"{word!a} is put together from letters of two alphabets that look alike"
            return [(Rule.SUSPICIOUS_SOURCE, line, text)]
    return []


def _mixed(text: str) -> Iterator[tuple[str, int]]:
    for match in _WORD.finditer(text):
        if not match[0].isascii() and len({_alphabet(letter) for letter in match[0]} & _ALIKE) > 1:
            yield match[0], text.count("\n", 0, match.start()) + 1


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
