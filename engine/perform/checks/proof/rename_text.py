"""A rename or a move in files of other languages, by words and by the paths in strings. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from engine.core.grants import Grant, GrantKind
from engine.perform.checks.proof.source_text import JAVASCRIPT, TOKEN, masked, tokens, without_comments

TEST_WORDS = frozenset({"test", "it", "describe", "suite", "context", "only", "skip", "each"})
SUFFIXES = (".py", ".pyi", *JAVASCRIPT)


def rewrite_text(path: str, source: bytes, grants: Iterable[Grant]) -> bytes:
    """Another language: the last word of the name wherever it stands as a word, and paths of modules in strings."""
    text = source.decode("utf-8", "surrogateescape")
    for grant in grants:
        if grant.kind not in (GrantKind.RENAME, GrantKind.MOVE):
            continue
        if "/" in grant.target:
            text = _moved_path(path, text, grant.target, grant.to)
            continue
        if "/" in grant.to:
            continue  # the name stays, its place is another file
        old, new = (word.replace("::", ".").rpartition(".")[2] for word in (grant.target, grant.to))
        if old != new and re.fullmatch(r"[\w$-]+", old):
            text = _replaced_word(path, text, old, new)
    return text.encode("utf-8", "surrogateescape")


def _replaced_word(path: str, text: str, old: str, new: str) -> str:
    """In code, not in strings; a string that is the name alone (a key, a mock's name) is taken too."""
    mask = masked(path, text)
    pattern = re.compile(rf"(?<![\w$-]){re.escape(old)}(?![\w$-])")
    out, at = [], 0
    for match in pattern.finditer(text):
        quoted = text[match.start() - 1 : match.start()] in ("'", '"', "`") and text[match.end() : match.end() + 1] in (
            "'",
            '"',
            "`",
        )
        if mask[match.start() : match.end()] == match.group(0) or (quoted and not old.isidentifier()):
            out.append(text[at : match.start()] + new)
            at = match.end()
    return "".join(out) + text[at:]


def _moved_path(path: str, text: str, old: str, new: str) -> str:
    """`require('../src/a')` and whole paths; relative ones are counted from the test's own folder."""
    here = posixpath.dirname(path)
    spellings = {old: new}
    for strip in ("", *(suffix for suffix in SUFFIXES if old.endswith(suffix))):
        before, after = (name.removesuffix(strip) if strip else name for name in (old, new))
        for shorten in ("", "/index"):
            if shorten and not before.endswith(shorten):
                continue
            pair = [posixpath.relpath(name.removesuffix(shorten), here or ".") for name in (before, after)]
            was, now = (one if one.startswith(".") else f"./{one}" for one in pair)
            spellings[was] = now

    def swap(match: re.Match[str]) -> str:
        return match.group(1) + spellings.get(match.group(2), match.group(2)) + match.group(1)

    return re.sub(r"([\"'`])([^\"'`\n]+)\1", swap, text)


def equal_but_for(path: str, old: bytes, new: bytes, grants: Iterable[Grant]) -> bool:
    """Whether the change's text is the base's with the old names replaced and nothing else, layout aside."""
    pairs = _pairs(grants)
    if not pairs:
        return False
    before, after = (tokens(path, data.decode("utf-8", "replace")) for data in (old, new))
    if len(before) != len(after):
        return False
    together = zip(before, after, strict=True)
    return all(was == now or any(_swapped(was, now, *pair) for pair in pairs) for was, now in together)


def _pairs(grants: Iterable[Grant]) -> list[tuple[str, str]]:
    return [(g.target, g.to) for g in grants if g.kind in (GrantKind.RENAME, GrantKind.MOVE)]


def replayed(path: str, old: bytes, new: bytes) -> bytes:
    """The base's text with the change's tokens, the names of tests as they were: ids must not move."""
    text = old.decode("utf-8", "surrogateescape")
    plain = without_comments(path, text)
    now = tokens(path, new.decode("utf-8", "surrogateescape"))
    out, at, last = [], 0, ("", "")
    for match, word in zip(TOKEN.finditer(plain), now, strict=True):
        title = match.group(0)[:1] in "\"'`" and last[1] == "(" and last[0] in TEST_WORDS
        out.append(text[at : match.start()] + (match.group(0) if title else word))
        at, last = match.end(), (last[1], match.group(0))
    return ("".join(out) + text[at:]).encode("utf-8", "surrogateescape")


def _swapped(was: str, now: str, old: str, new: str) -> bool:
    """One token under one rename: the word itself, or the path or word inside a string."""
    words = {(old, new), (old.rpartition(".")[2], new.rpartition(".")[2])}
    words |= {(posixpath.basename(old), posixpath.basename(new)), (old.replace(".", "/"), new.replace(".", "/"))}
    for suffix in SUFFIXES:
        if old.endswith(suffix):
            words.add((old.removesuffix(suffix), new.removesuffix(suffix)))
    if was == now:
        return True
    if was[:1] in "\"'`":
        if any(a and was.replace(a, b) == now for a, b in words):
            return True
        # a relative path to a moved file ends in the same way it did, under the new folder
        return any(a.rpartition("/")[2] in was and b.rpartition("/")[2] in now and "/" in a for a, b in words)
    return any((was, now) == pair for pair in words)
