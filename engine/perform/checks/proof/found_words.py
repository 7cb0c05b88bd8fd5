"""Renames and moved files in other languages, read off the change: a declared word that became another. Pure."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from engine.core.grants import Grant, GrantKind
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned
from engine.perform.checks.proof.source_text import is_literal, tokens

SIMILAR = 0.6
"""Share of equal tokens by which a deleted file and a new one are the same file."""
MOST_TOKENS = 20_000
MOST_REPLACED = 1_000
"""Tokens of one replaced piece."""
_DECLARED = (
    r"(?:\b(?:function\*?|class|const|let|var|func|type|fn|struct|enum|trait|interface|def|static|async|get|set|mod)\s+"
    r"(?:\([^)]*\)\s*)?{word}\b|^\s*(?:[\w<>\[\]]+\s+)*{word}\s*\([^;]*\)\s*(?:throws\s+\w+\s*)?\{{|\bexports\.{word}\b|^\s*{word}\s*\(\)\s*\{{)"
)


def moved_files(subject: Sequence[Owned]) -> tuple[Grant, ...]:
    """Files that are gone and lie elsewhere now: the same bytes, or source of which most is the same."""
    found = [
        Grant(kind=GrantKind.MOVE, target=old.path, to=new.path, entry=f"move {old.path} to {new.path}")
        for old, new in _pairs(subject)
    ]
    return tuple(found)


def _pairs(subject: Sequence[Owned]) -> Iterator[tuple[Owned, Owned]]:
    gone = [one for one in subject if one.after is None and not one.python]
    new = [one for one in subject if one.before is None and not one.python]
    for one in gone:
        same = [other for other in new if other.after == one.before]
        ending = posixpath.splitext(one.path)[1]
        if not same and language_of(one.path):
            alike = [other for other in new if posixpath.splitext(other.path)[1] == ending]
            scored = sorted(alike, key=lambda other: _likeness(one, other), reverse=True)
            same = scored[:1] if scored and _likeness(one, scored[0]) >= SIMILAR else []
        if len(same) > 1:
            same = [other for other in same if posixpath.basename(other.path) == posixpath.basename(one.path)]
        if len(same) == 1:
            new.remove(same[0])
            yield one, same[0]


def _likeness(one: Owned, other: Owned) -> float:
    had, has = _lines(one.before), _lines(other.after)
    return difflib.SequenceMatcher(None, had, has).ratio() if had and has else 0.0


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _tokens(path: str, data: bytes | None) -> tuple[str, ...]:
    return tokens(path, (data or b"").decode("utf-8", "replace"))[:MOST_TOKENS]


def word_renames(subject: Sequence[Owned]) -> tuple[Grant, ...]:
    """Declared words of other languages that stand nowhere any more, each where another one stands now."""
    other = [one for one in subject if language_of(one.path) and not one.python]
    paths = {old.path: new for old, new in _pairs(subject)}
    pairs: dict[str, str] = {}
    clash: set[str] = set()
    for one in other:
        there = paths.get(one.path, one)
        if one.before is None or there.after is None:
            continue
        for old, new in _swapped(one.path, _lines(one.before), _lines(there.after)):
            if pairs.setdefault(old, new) != new:
                clash.add(old)
    left = {word for one in other for word in _tokens(one.path, one.after) if not is_literal(word)}
    had = {word for one in other for word in _tokens(one.path, one.before) if not is_literal(word)}
    return tuple(
        Grant(kind=GrantKind.RENAME, target=old, to=new, entry=f"rename {old} to {new}")
        for old, new in pairs.items()
        if old not in clash and old not in left and new not in had
        if _declares(old, (one.before for one in other)) and _declares(new, (one.after for one in other))
    )


def _swapped(path: str, before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Words that stand in each other's place: lines first, so that long files cost little."""
    for kind, start, stop, first, last in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if kind == "replace":
            old, new = (tokens(path, "\n".join(part)) for part in (before[start:stop], after[first:last]))
            yield from _replaced_words(old[:MOST_REPLACED], new[:MOST_REPLACED])


def _replaced_words(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, stop, first, last in matcher.get_opcodes():
        if kind == "replace" and stop - start == last - first:
            for old, new in zip(before[start:stop], after[first:last], strict=True):
                if old != new and re.fullmatch(r"[A-Za-z_$][\w$]*", old) and re.fullmatch(r"[A-Za-z_$][\w$]*", new):
                    yield old, new


def _declares(word: str, sources: Iterable[bytes | None]) -> bool:
    pattern = re.compile(_DECLARED.format(word=re.escape(word)), re.MULTILINE)
    return any(pattern.search((data or b"").decode("utf-8", "replace")) for data in sources)
