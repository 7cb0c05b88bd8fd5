"""Finds the user's own secrets in files that are about to be committed. Only hashes of them are told."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from engine.perform.secrets.redact import forms
from engine.perform.workspace.secrets import Detector, Hit, line_of

_WORD = re.compile(r"[A-Za-z]+|[0-9]+|[a-z]+(?:[-_ ][a-z]+)?", re.ASCII)
WORD_LENGTH = 16
"""A value of letters only, or of digits only, is taken for a secret from here on: shorter it may be any word."""


def detector(values: Callable[[], Iterable[str]], stamp: Callable[[], object] = lambda: 0) -> Detector:
    """Finds these values, as they are or encoded (JSON, addresses, base64, hexadecimal).

    They are asked for once, and again when `stamp` changes; the old ones stay known.
    """
    known: dict[bytes, tuple[str, bool]] = {}

    @lru_cache(maxsize=1)
    def prepared(_stamp: object) -> re.Pattern[bytes] | None:
        for value in values():
            told = (hashlib.sha256(value.encode()).hexdigest()[:16], is_certain(value))
            for form in encodings(value):
                known.setdefault(form, told)
        ordered = sorted(known, key=lambda form: (-len(form), form))
        return re.compile(b"|".join(map(re.escape, ordered))) if ordered else None

    def detect(content: bytes) -> tuple[Hit, ...]:
        pattern = prepared(stamp())
        if pattern is None:
            return ()
        found: dict[str, Hit] = {}
        for match in pattern.finditer(content):
            value, certain = known[match[0]]
            if value not in found:
                found[value] = Hit(line=line_of(content, match.start()), value=value, certain=certain)
        return tuple(found.values())

    return detect


def is_certain(value: str) -> bool:
    """Long enough, or mixed enough, that it is in a file because somebody put it there."""
    return len(value) >= WORD_LENGTH or not _WORD.fullmatch(value)


def encodings(value: str) -> Iterator[bytes]:
    """The value as it may be written in a file."""
    for form in forms(value):
        yield form.encode()
    data = value.encode()
    if len(data) < WORD_LENGTH:
        return
    yield data.hex().encode()
    for shift in range(3):  # base64 of a text that has it somewhere: what does not depend on its neighbours
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            first, last = -(-8 * shift // 6), 8 * (shift + len(data)) // 6
            yield encode(b"\0" * shift + data)[first:last]
