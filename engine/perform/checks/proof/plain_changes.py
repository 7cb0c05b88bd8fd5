"""What a change shows itself to be, by its files alone: documents, tests, settings, names. Pure.

The plan may leave open that there is nothing to show. Where the change can be nothing else (no statement of the program
differs), and the words of the task fit, there is nothing to show all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from engine.core.harmless import HarmlessKind
from engine.core.model import TaskSpec
from engine.globs import matches
from engine.perform.checks.proof.file_grants import LOCKS
from engine.perform.checks.proof.found_names import FoundNames
from engine.perform.checks.proof.golden import stated
from engine.perform.checks.proof.harmless import Source, outside
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.moved_whole import moved_whole
from engine.perform.checks.proof.names_only import names_only
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.owners import keeps_examples
from engine.perform.checks.proof.places import ELSEWHERE, MANIFESTS, PROSE, SETTINGS
from engine.plans.leanings import DOCS, LAYOUT, asks_for_more, leans, orders_removal, shows_something, spoken

BESIDE = frozenset({Owner.TEST, Owner.SUPPORT, Owner.DATA, Owner.NEW_TEST, Owner.NEW_SUPPORT})
WORDS = {
    HarmlessKind.DOCS: "documents and comments alone",
    HarmlessKind.LAYOUT: "layout alone",
    HarmlessKind.TYPES: "annotations alone",
    HarmlessKind.TESTS: "tests alone",
    HarmlessKind.SETTINGS: "settings alone",
    HarmlessKind.MOVE: "names and places alone",
    HarmlessKind.REMOVAL: "something is taken away, and nothing else is other than it was",
    HarmlessKind.REFACTORING: "work on how it is made, and the tests of the base watch over what was touched",
}


def plain_kind(
    task: TaskSpec, changed: Sequence[Owned], found: FoundNames, wanted: bool, files: Collection[str]
) -> HarmlessKind | None:
    """The kind of work that the change is and the words of the task fit; None: it may be more than that."""
    if shows_something(task):
        return None
    text = "\n".join((task.title, task.description, *task.accept))
    source = [one for one in changed if one.owner is Owner.SUBJECT and language_of(one.path)]
    tests = [one for one in changed if one.owner in BESIDE]
    rest = [one for one in changed if one not in source and one not in tests]
    if not all(keeps_examples(one.before, one.after) for one in source if one.after is not None):
        return None  # examples in documentation are tests
    kinds: list[HarmlessKind] = []
    if not _outside(HarmlessKind.DOCS, source):
        kinds += _without_statements(tests, [one for one in rest if not _said(one, text)])
    elif not _outside(HarmlessKind.TYPES, source) and not tests:
        kinds.append(HarmlessKind.TYPES)
    moves = any(one.before is None or one.after is None for one in source) and not tests
    asked = wanted if found else moves and leans(HarmlessKind.MOVE, task.title, text)
    if source and asked and not asks_for_more(task.title) and names_only(changed, found, files):
        return HarmlessKind.MOVE
    if source and leans(HarmlessKind.MOVE, task.title, text) and moved_whole(changed):
        return HarmlessKind.MOVE
    prose = all(matches(one.path, PROSE) for one in rest)
    if source and prose and orders_removal(task.title) and not _outside(HarmlessKind.REMOVAL, source):
        return HarmlessKind.REMOVAL
    if source and not rest and _steering_remarks(source):
        kinds.append(HarmlessKind.SETTINGS)
    for kind in kinds:
        if source and task.accept and kind in _CLEAR and not _CLEAR[kind].search(text):
            continue  # a remark in the source is no answer to a criterion
        if kind is HarmlessKind.DOCS and (missing_words(task, [(one.before, one.after) for one in rest])):
            continue
        if leans(kind, task.title, text) or (kind is HarmlessKind.SETTINGS and _all_spoken(rest, task, text)):
            return kind
    return None


_TEXT = re.compile(r"\"([^\"\n]{3,80})\"|“([^”\n]{3,80})”")


def missing_words(task: TaskSpec, documents: Sequence[tuple[bytes | None, bytes | None]]) -> list[str]:
    """Of what the criteria quote: what the documents had not, and have not now."""
    if not documents:
        return []
    had = _folded(b"\n".join(text or b"" for pair in documents for text in pair))
    quoted = ["".join(groups) for told in task.accept for groups in _TEXT.findall(told)]
    return [one for one in quoted if _folded(one.encode()) not in had]


def _folded(text: bytes) -> str:
    return " ".join(re.findall(r"\w+", text.decode("utf-8", "replace").lower()))


def _outside(kind: HarmlessKind, source: Sequence[Owned]) -> str:
    return outside([kind], (Source(path=one.path, before=one.before, after=one.after) for one in source))


_CLEAR = {HarmlessKind.DOCS: DOCS, HarmlessKind.LAYOUT: LAYOUT}
_REMARKS = re.compile(
    r"noqa|type: ignore|pragma|pylint|pyright|mypy|nolint|eslint|ts-|nosec|fmt:|isort|ruff|coding[:=]"
)


def _steering_remarks(source: Sequence[Owned]) -> bool:
    """Comments that a tool reads."""
    pairs = [
        ((one.before or b"").decode("utf-8", "replace"), (one.after or b"").decode("utf-8", "replace"))
        for one in source
    ]
    return any(len(_REMARKS.findall(old)) != len(_REMARKS.findall(new)) for old, new in pairs)


def _said(one: Owned, text: str) -> bool:
    """Data of the program that says now what the task says."""
    return one.owner is Owner.SUBJECT and not matches(one.path, PROSE) and stated(one.before, one.after, text)


def _without_statements(tests: Sequence[Owned], rest: Sequence[Owned]) -> list[HarmlessKind]:
    """No statement of the program differs: what else is there?"""
    prose = [one for one in rest if matches(one.path, PROSE)]
    settings = [one for one in rest if one not in prose and _steers(one.path)]
    if len(prose) + len(settings) < len(rest):
        return []  # data that the program may read
    if tests:
        return [HarmlessKind.TESTS] if not settings else [HarmlessKind.TESTS, HarmlessKind.SETTINGS]
    if settings:
        return [HarmlessKind.SETTINGS]
    kinds = [HarmlessKind.DOCS, HarmlessKind.LAYOUT, HarmlessKind.TYPES]
    dotted = any(one.path.rpartition("/")[2].startswith(".") for one in prose)  # `.gitignore` is no document
    return [*kinds, HarmlessKind.SETTINGS] if dotted else kinds


def _steers(path: str) -> bool:
    return matches(path, (*SETTINGS, *ELSEWHERE, *LOCKS)) or path.rpartition("/")[2] in MANIFESTS


def _all_spoken(rest: Sequence[Owned], task: TaskSpec, text: str) -> bool:
    """The task is about these very files, or states what they say now."""
    if asks_for_more(task.title) or not rest:
        return False
    return all(
        one.path.rpartition("/")[2] in text
        or spoken(one.path, task.title)
        or (not matches(one.path, PROSE) and stated(one.before, one.after, text))  # prose may say anything
        for one in rest
    )
