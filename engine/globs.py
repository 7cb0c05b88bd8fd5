r"""The one dialect of path globs, for scopes, protected lists, permissions, inputs and ignores: that of .gitignore.

- no slash (`*.py`, `Makefile`): matches at any depth; a slash at the start or inside anchors the pattern at the root;
- `*` and `?` stop at a slash, `[a-c]` is a class, `**` crosses directories (`src/**`, `**/test_*.py`, `a/**/b`);
- what names a directory takes everything below it, with or without a trailing slash: `src/auth` is `src/auth/**`;
- `!pattern` takes out again what an earlier one let in: the last match counts. `\` takes the next character as it is.

pathspec reads one pattern. Two differences from .gitignore, on purpose: a path below an excluded directory can be let
in again, and `.` is everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

Matcher = Callable[[bytes], bool]
Rule = tuple[bool, re.Pattern[bytes]]
"""(lets in, expression to match a path from its beginning)."""

_EVERYTHING = re.compile(rb".", re.DOTALL)
_ANY_FOLDER = re.compile(rb"/?\*+/")
_BELOW = re.compile(rb"[^/]+/")
_CLASS = re.compile(rb"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""In an expression: an escaped character, or a class."""
_NAMED = re.compile(rb"%b|(\(\?P<\w+>)" % _CLASS.pattern, re.DOTALL)
"""The same, or a group with a name: only one of each name may stand in an expression."""
_WILD = re.compile(r"[*?\[\\!]")


def matcher(patterns: Iterable[str]) -> Matcher:
    """A function that says whether a path is matched by the last word of these patterns."""
    return _matcher(tuple(patterns))


def matches(path: str, patterns: Iterable[str]) -> bool:
    return matcher(patterns)(path.encode("utf-8", "surrogateescape"))


def permits(path: str, patterns: Iterable[str]) -> bool:
    """As `matches`, for what allows something: a plain name is that one path, not every file of that name."""
    return matches(path, [one if _WILD.search(one) else "/" + one.lstrip("/") for one in patterns])


@lru_cache(maxsize=512)
def _matcher(patterns: tuple[str, ...]) -> Matcher:
    rules = [found for pattern in patterns if (found := rule(pattern.encode("utf-8", "surrogateescape")))]
    if all(lets_in for lets_in, _ in rules):  # the common case: one look
        return _any_of(expression for _, expression in rules)

    def decided(path: bytes) -> bool:
        return next((lets_in for lets_in, expression in reversed(rules) if expression.match(path)), False)

    return decided


def _any_of(expressions: Iterable[re.Pattern[bytes]]) -> Matcher:
    """One expression for all of them: paths are asked for by the ten thousand."""
    parts = [_NAMED.sub(lambda found: b"(?:" if found[1] else found[0], each.pattern) for each in expressions]
    if not parts:
        return lambda path: False
    whole = re.compile(b"|".join(b"(?:" + part + b")" for part in parts), re.DOTALL).match
    return lambda path: whole(path) is not None


def rule(line: bytes) -> Rule | None:
    """One line; None for an empty one, a comment, or a pattern that matches nothing."""
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    text = line.strip(b"\r\n")
    lets_in = not text.startswith(b"!")
    body = text.removeprefix(b"!")
    if body.rstrip() in (b".", b"./"):
        return lets_in, _EVERYTHING
    if _ANY_FOLDER.fullmatch(body):  # pathspec reads it as nothing at all
        return lets_in, _BELOW
    try:
        read = GitIgnoreSpecPattern((b"" if lets_in else b"!") + body.removeprefix(b"./"))
    except (GitIgnorePatternError, re.error):
        return None
    if read.regex is None:
        return None
    # Names may hold a line end; and unlike pathspec, git lets no class match a slash.
    return lets_in, re.compile(_CLASS.sub(_without_slash, read.regex.pattern), re.DOTALL)


def _without_slash(found: re.Match[bytes]) -> bytes:
    part = found[0]
    return part if not part.startswith(b"[") or part == b"[^/]" else b"(?!/)" + part


def may_meet(left: str, right: str) -> bool:
    """Whether one path could be matched by both patterns, be it there or not. In doubt (a class, an escape): yes."""
    return _meet(_parts(left), _parts(right))


@lru_cache(maxsize=2048)
def _parts(pattern: str) -> tuple[str, ...]:
    """The pattern by segments, as if it were anchored; what names a directory takes everything below it."""
    body = pattern.strip().removeprefix("!").removeprefix("./")
    if body in ("", "."):
        return ("**",)
    anchored = "/" in body.rstrip("/")
    segments = [segment for segment in body.split("/") if segment]
    return (*(() if anchored else ("**",)), *segments, "**")


@lru_cache(maxsize=4096)
def _meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    if not left or not right:
        return all(segment == "**" for segment in (*left, *right))
    if left[0] == "**":
        return _meet(left[1:], right) or _meet(left, right[1:])
    if right[0] == "**":
        return _meet(left, right[1:]) or _meet(left[1:], right)
    return _names_meet(left[0], right[0]) and _meet(left[1:], right[1:])


@lru_cache(maxsize=4096)
def _names_meet(left: str, right: str) -> bool:
    """The same for one segment: `*` is any run of characters, `?` any one."""
    if any(sign in left + right for sign in "[\\"):
        return True
    if not left or not right:
        return not (left + right).strip("*")
    if left[0] == "*":
        return _names_meet(left[1:], right) or _names_meet(left, right[1:])
    if right[0] == "*":
        return _names_meet(left, right[1:]) or _names_meet(left[1:], right)
    return (left[0] == right[0] or "?" in (left[0], right[0])) and _names_meet(left[1:], right[1:])
