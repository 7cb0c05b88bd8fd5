r"""The globs of scopes and protected lists, and ignore rules, read the way .gitignore lines are.

- no slash (`*.py`, `Makefile`): matches at any depth; a slash at the start or inside anchors the pattern at the root;
- `*` and `?` stop at a slash, `[a-c]` is a class, `**` crosses directories (`src/**`, `**/test_*.py`, `a/**/b`);
- what names a directory takes everything below it, with or without a trailing slash: `src/auth` is `src/auth/**`;
- `!pattern` takes out again what an earlier one let in: the last match counts. `\` takes the next character as it is.

One difference from .gitignore, on purpose: a path below an excluded directory can be let in again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

Matcher = Callable[[bytes], bool]


def matcher(patterns: Iterable[str]) -> Matcher:
    """A function that says whether a path is matched by the last word of these patterns."""
    return _matcher(tuple(patterns))


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Matcher:
    rules = [rule for pattern in patterns if (rule := compile_rule(pattern.encode("utf-8", "surrogateescape")))]
    if not any(negated for negated, _, _ in rules):  # the common case: one look
        expressions = [expression for _, expression, _ in rules]
        return lambda path: any(expression.fullmatch(path) for expression in expressions)

    def matches(path: bytes) -> bool:
        for negated, expression, _ in reversed(rules):
            if expression.fullmatch(path):
                return not negated
        return False

    return matches


def compile_rule(pattern: bytes) -> tuple[bool, re.Pattern[bytes], bool] | None:
    """(negated, expression over whole paths, only directories) of one line; None for an empty one or a comment."""
    line = pattern.strip(b"\r\n")
    while line.endswith(b" ") and not line.endswith(b"\\ "):
        line = line[:-1]
    if not line or line.startswith(b"#"):
        return None
    negated = line.startswith(b"!")
    line = line.removeprefix(b"!").removeprefix(b"./")
    only_directory = line.endswith(b"/")
    body = line.rstrip(b"/")
    if not body:
        return (negated, re.compile(rb"(?s:.*)"), True) if line or pattern.strip() in (b"./", b".") else None
    if body == b".":
        return negated, re.compile(rb"(?s:.*)"), True
    anchored = b"/" in body
    expression = (b"" if anchored else rb"(?:.*/)?") + _translate(body.lstrip(b"/"))
    below = rb"/.*" if only_directory else rb"(?:/.*)?"
    return negated, re.compile(rb"(?s:" + expression + below + rb")"), only_directory


def _translate(body: bytes) -> bytes:
    out = bytearray()
    place, end = 0, len(body)
    while place < end:
        char = body[place : place + 1]
        if body.startswith(b"**", place) and (place == 0 or body[place - 1 : place] == b"/"):
            after = place + 2
            if body.startswith(b"/", after):
                out += rb"(?:.*/)?"
                place = after + 1
                continue
            if after == end:
                out += rb".+"
                place = after
                continue
        if char == b"*":
            out += rb"[^/]*"
        elif char == b"?":
            out += rb"[^/]"
        elif char == b"[" and (close := _class_end(body, place)) > 0:
            inside = body[place + 1 : close]
            negate = inside[:1] in (b"!", b"^")
            inner = (inside[1:] if negate else inside).replace(b"\\", b"\\\\").replace(b"[", b"\\[")
            out += rb"(?!/)[" + (b"^" if negate else b"") + inner + b"]"
            place = close
        elif char == b"\\" and place + 1 < end:
            place += 1
            out += re.escape(body[place : place + 1])
        else:
            out += re.escape(char)
        place += 1
    return bytes(out)


def _class_end(body: bytes, start: int) -> int:
    place = start + 1
    if body[place : place + 1] in (b"!", b"^"):
        place += 1
    return body.find(b"]", place + 1)
