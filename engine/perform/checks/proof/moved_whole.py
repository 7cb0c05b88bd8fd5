"""Code that moved with its tests, JavaScript and Go: piece by piece the same program, and the same tests of it. Pure.

A piece is what stands at the left edge of a file, with all that belongs to it. Which file a piece stands in, what files
take from each other, and in Go by which package a name is called, is where things are; everything else is what they do.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.globs import matches
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.places import PROSE
from engine.perform.checks.proof.source_text import without_comments
from engine.perform.checks.proof.test_blocks import blocks_of

_TESTS = frozenset({Owner.TEST, Owner.NEW_TEST, Owner.SUPPORT, Owner.NEW_SUPPORT})
_PACKAGE = re.compile(r"^package\s+(\w+)\s*$", re.MULTILINE)
_BETWEEN_FILES = {
    "go": re.compile(r"^package\s+\w+[ \t]*$|^import\s*\([^)]*\)|^import\s+(?:\w+\s+)?\"[^\"]*\"", re.MULTILINE),
    "javascript": re.compile(
        r"^import\s+(?:[\w*{}\s,$]+?\s+from\s+)?[\"'][^\"'\n]+[\"'];?|^export\s*(?:\*|\{[^}]*\})\s*from\s*[\"'][^\"'\n]+[\"'];?"
        r"|^(?:const|let|var)\s+[\w${},:\s]+?=\s*require\([^)\n]*\)(?:\.\w+)*;?|^(?:module\.)?exports(?:\.\w+)?\s*=\s*(?:\{[^}]*\}|\w+);?"
        r"|^export\s*\{[^}]*\};?|^export\s+(?:default\s+)?(?=\w)|^[\"']use strict[\"'];?",
        re.MULTILINE,
    ),
}


def moved_whole(changed: Sequence[Owned]) -> tuple[str, ...]:
    """The test files of a change that does nothing but move things; empty where it does more, or moves no code."""
    code = [one for one in changed if language_of(one.path)]
    languages = {language_of(one.path) for one in code}
    if len(languages) != 1 or not languages <= set(_BETWEEN_FILES):
        return ()
    language = languages.pop()
    source = [one for one in code if one.owner is Owner.SUBJECT]
    tests = [one for one in code if one.owner in _TESTS]
    rest = [one for one in changed if one not in code and not matches(one.path, PROSE)]
    if len(source) + len(tests) < len(code) or not source or not tests:
        return ()
    if Counter(one.before for one in rest if one.before) != Counter(one.after for one in rest if one.after):
        return ()
    packages = _packages(code) if language == "go" else frozenset()
    there = {name for one in code if one.before is None for name in (_stem(one.path), _folder(one.path))}
    needed = {name for one in code for name in _needs(one.before, language)}
    if not {name for one in code for name in _needs(one.after, language)} <= needed | there:
        return ()  # something is taken from where nothing moved to
    for part in (source, tests):
        before = _pieces(((one.path, one.before) for one in part), language, packages)
        after = _pieces(((one.path, one.after) for one in part), language, packages)
        if before != after:
            return ()
    if not any(_pieces([(one.path, one.before)], language, packages) for one in source):
        return ()
    return tuple(one.path for one in (*tests, *rest) if one.owner is not Owner.SUBJECT)


_TAKEN = {
    "go": re.compile(r"^import\s+(?:\w+\s+)?\"([^\"]+)\"|^\t(?:\w+\s+)?\"([^\"\n]+)\"\s*$", re.MULTILINE),
    "javascript": re.compile(r"\bfrom\s*[\"']([^\"'\n]+)[\"']|\b(?:require|import)\s*\(?\s*[\"']([^\"'\n]+)[\"']"),
}


def _needs(data: bytes | None, language: str) -> set[str]:
    """The last word of each place that a file takes something from."""
    text = (data or b"").decode("utf-8", "replace")
    return {_stem("".join(groups)) for groups in _TAKEN[language].findall(text)}


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _folder(path: str) -> str:
    return posixpath.basename(posixpath.dirname(path))


def nothing_moved(changed: Sequence[Owned]) -> str:
    """A new file in which no piece of a program stands, where nothing was taken from anywhere: it only hands on."""
    code = [one for one in changed if one.owner is Owner.SUBJECT and language_of(one.path) in _BETWEEN_FILES]
    new = [one.path for one in code if one.before is None and one.after is not None]
    for one in code:
        language = language_of(one.path)
        before, after = (_pieces([(one.path, text)], language, frozenset()) for text in (one.before, one.after))
        if before - after or (one.before is None and after):
            return ""
    return new[0] if new else ""


def left_behind(one: Owned) -> list[str]:
    """Ids of the tests that a file had and has no more; the file itself, if it is gone."""
    if one.before is None:
        return []
    if one.after is None:
        return [one.path]
    had, has = ({block.name for block in blocks_of(one.path, text)} for text in (one.before, one.after))
    return [f"{one.path}::{name}" for name in sorted(had - has)]


def _packages(code: Iterable[Owned]) -> frozenset[str]:
    texts = [(text or b"").decode("utf-8", "replace") for one in code for text in (one.before, one.after)]
    return frozenset(name.removesuffix("_test") for text in texts for name in _PACKAGE.findall(text))


def _pieces(files: Iterable[tuple[str, bytes | None]], language: str, packages: frozenset[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    called = re.compile(rf"(?<![\w.\"])(?:{'|'.join(sorted(packages))})\.(?=[A-Z])") if packages else None
    for path, data in files:
        text = without_comments(path, (data or b"").decode("utf-8", "surrogateescape"))
        text = _BETWEEN_FILES[language].sub("", text)
        text = called.sub("", text) if called is not None else text
        piece: list[str] = []
        for line in text.splitlines():
            if line.strip() and not line[0].isspace() and line[0] not in "})]" and piece:
                found["\n".join(piece)] += 1
                piece = []
            if line.strip():
                piece.append(" ".join(line.split()))
        if piece:
            found["\n".join(piece)] += 1
    return found
