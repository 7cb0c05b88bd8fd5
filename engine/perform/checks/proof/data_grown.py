"""Data that holds all that it held, and more. Pure."""

from __future__ import annotations

import json

from engine.perform.checks.proof.told_words import MOST, lines_of


def grown(before: bytes | None, after: bytes | None) -> bool:
    """Everything that was there still is, in order; something was added: more cases for the same tests."""
    if before is None or after is None or len(after) > MOST:
        return False
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        return False
    try:
        had, has = json.loads(old), json.loads(new)
    except ValueError:
        lines = iter(lines_of(new))
        return all(line in lines for line in lines_of(old))
    return _holds(had, has)


def _holds(had: object, has: object) -> bool:
    if isinstance(had, dict) and isinstance(has, dict):
        return all(key in has and _holds(value, has[key]) for key, value in had.items())
    if isinstance(had, list) and isinstance(has, list):
        rest = iter(has)
        return all(any(_holds(one, other) for other in rest) for one in had)
    return had == has and type(had) is type(has)
