"""JSON with places: where each member of an object begins and ends, so that one value can be changed in place."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"


class Value(NamedTuple):
    value: Any
    start: int
    end: int


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def value_at(text: str, start: int) -> Value:
    """The value that begins at or after `start`. The text was decoded as a whole before: it is sound."""
    start = _skip(text, start)
    value, end = _DECODER.raw_decode(text, start)
    return Value(value, start, end)


def members(text: str, start: int) -> dict[str, Value]:
    """The members of the object that begins at `start`; of a key given twice the last counts, as JSON readers do."""
    return {key.value: value for key, value in pairs(text, start)}


def pairs(text: str, start: int) -> list[tuple[Value, Value]]:
    """The keys and values of the object that begins at `start`, in order."""
    found: list[tuple[Value, Value]] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key = value_at(text, at)
        value = value_at(text, _skip(text, key.end) + 1)
        found.append((key, value))
        at = _after(text, value.end)
    return found


def elements(text: str, start: int) -> list[Value]:
    """The elements of the list that begins at `start`."""
    found = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        found.append(value_at(text, at))
        at = _after(text, found[-1].end)
    return found


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _after(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
