"""Reading what a program prints: one line to one JSON object, and typed looks into it that never raise.

A line is hostile until shown otherwise: invalid UTF-8, half lines, NaN, numbers of a thousand digits, lone surrogates
and nesting bombs all come out as a value of the asked type or as its neutral one.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Iterator
from typing import Any

import msgspec

from engine.core.activity import OutputKind
from engine.perform.process.spawning import Output

MAX_DEPTH = 64
"""Deeper JSON than this is no answer of a program but an attack on the reader."""
SHOWN = 4_000
"""Characters of one event that are shown live; the raw stream keeps all."""

_WORD = string.ascii_letters + string.digits + "_.+/=-"
_LONGEST_WORD = 600
"""A secret is no longer than this: of a longer run of such characters only this much is taken back."""

_LIKE_AN_OBJECT = re.compile(rb"^[^\S\n]*\{[^\S\n]*[\"}][^\n]*", re.MULTILINE)
_NO_TEXT = bytes(byte for byte in range(32) if byte not in b"\b\t\n\f\r\x1b") + b"\x7f"
"""Bytes that no text has: where one in twenty is of these, it is none."""

_decoded = msgspec.json.Decoder().decode

Object = dict[str, Any]


def decode(line: bytes) -> Object | None:
    """The JSON object of one line, or None when the line is something else."""
    stripped = line.strip()
    if not stripped.startswith(b"{"):
        return None
    try:
        value = _decoded(stripped)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = _decode_odd(stripped)
    if not isinstance(value, dict):
        return None
    shallow = stripped.count(b"{") + stripped.count(b"[") <= MAX_DEPTH
    return value if shallow or not too_deep(value) else None


def _decode_odd(line: bytes) -> Any:
    """What the strict reader refuses but a program may well print: NaN, broken UTF-8, lone surrogates."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    return None if too_deep(value) else _printable(value)


def _whole(digits: str) -> int | float:
    """Python refuses to read integers of thousands of digits; here they are only too large, and the line lives on."""
    return int(digits) if len(digits) < 400 else math.inf


def _printable(value: Any) -> Any:
    """The same value with strings that can be written as UTF-8."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case dict():
            return {_printable(key): _printable(item) for key, item in value.items()}
        case list():
            return [_printable(item) for item in value]
        case _:
            return value


def too_deep(value: Any) -> bool:
    """Whether containers are nested deeper than MAX_DEPTH; walks level by level, so no recursion."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


def at(value: Any, path: str) -> Any:
    """The value at a dotted path ("part.tokens.input", "choices.0.text"); None where there is no such place."""
    for step in path.split("."):
        match value:
            case dict():
                value = value.get(step)
            case list() if step.isdigit() and len(step) < 6 and int(step) < len(value):
                value = value[int(step)]
            case _:
                return None
    return value


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(value: Any) -> int:
    """A sane token count: whole, not negative, below 10¹²; else 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    if isinstance(value, float) and (not math.isfinite(value) or value != int(value)):
        return 0
    return int(value) if 0 <= value < 10**12 else 0


def money(value: Any) -> float | None:
    """A sane amount in dollars: a finite number from 0 to 100,000; else None, which charges the reservation."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and 0 <= amount <= 100_000 else None


def epoch(value: Any) -> float | None:
    """A time in seconds since 1970 between 2001 and 2286 (milliseconds are recognised)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    if not math.isfinite(seconds):
        return None
    if 1e12 <= seconds < 1e13:
        seconds /= 1000
    return seconds if 1e9 <= seconds < 1e10 else None


def seconds(milliseconds: Any) -> float:
    """A span of time from milliseconds, at most a year; else 0."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
        return 0.0
    return milliseconds / 1000 if 0 <= milliseconds < 3.2e10 else 0.0


def status(value: Any) -> int:
    """An HTTP status, also when it came as text; else 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599 else 0


def shown(value: Any) -> str:
    """Any value as a short text for the live view."""
    if isinstance(value, str) and len(value) <= SHOWN and value.isascii():
        return value
    if isinstance(value, bytes):
        value = value[: SHOWN * 4].decode("utf-8", "replace")
    elif not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError, TypeError):
            value = "(cannot be shown)"
    words = str(value[: SHOWN + 1])
    if not words.isascii():
        words = words.encode("utf-8", "replace").decode("utf-8")
    return words if len(words) <= SHOWN else cut(words, SHOWN) + " …"


def parts(block: bytes) -> Iterator[tuple[bytes, bool]]:
    """A block of lines as its lines that begin like an object, one by one, and what lies between them; in order."""
    at = 0
    for line in _LIKE_AN_OBJECT.finditer(block):
        if line.start() > at:
            yield block[at : line.start() - 1], False
        yield line.group(), True
        at = line.end() + 1
    if at < len(block):
        yield block[at:], False


def pieces(block: bytes, kind: OutputKind) -> list[Output]:
    """Lines that are no events, for the live view: as many as fit into each piece, a long line cut as any event is.

    Of what is no text only the size is shown; the raw stream keeps all.
    """
    if len(block) > SHOWN and len(block) - len(block.translate(None, _NO_TEXT)) > len(block) // 20:
        return [Output(kind=kind, text=f"({len(block):,} bytes that are no text)")]
    words = block.decode("utf-8", "replace").replace("\r\n", "\n")
    found, at = [], 0
    while at < len(words):
        end = words.rfind("\n", at, at + SHOWN + 1)
        if len(words) - at <= SHOWN:
            end = len(words)
        elif end <= at:  # one line is longer than a piece
            end = words.find("\n", at)
            end = len(words) if end < 0 else end
        piece = words[at : min(end, at + SHOWN + 1)]
        if piece.strip():
            found.append(Output(kind=kind, text=piece if len(piece) <= SHOWN else shown(piece)))
        at = end + 1
    return found


def cut(words: str, length: int) -> str:
    """At most so many characters, cut between words: nobody recognises half a token, so nobody would redact it."""
    if len(words) <= length:
        return words
    begin = max(0, length - _LONGEST_WORD)
    return words[:begin] + words[begin:length].rstrip(_WORD)
