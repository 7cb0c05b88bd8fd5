"""What is left of the lists: constructs that may mean something. They ask with the place, and never decide."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from engine.core.grants import Rule
from engine.core.model import Question
from engine.globs import matches
from engine.perform.checks.proof.ambient import decides_by
from engine.perform.checks.proof.change import Change
from engine.perform.checks.proof.filters_taken_back import taken_back
from engine.perform.checks.proof.granted import entry_for, granted
from engine.perform.checks.proof.hushed import hushes
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.integrity_conftest import conftest_hooks
from engine.perform.checks.proof.integrity_python import FIRST_ONLY, weak_spots
from engine.perform.checks.proof.integrity_text import text_hits
from engine.perform.checks.proof.look_alikes import look_alikes
from engine.perform.checks.proof.looking_around import looks_around
from engine.perform.checks.proof.loosened import loosened
from engine.perform.checks.proof.memory import remembers
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.places import PROSE, stands_in_front
from engine.perform.checks.proof.shortcuts import swallows
from engine.perform.checks.proof.suppressions import Suppression, suppressions
from engine.perform.checks.proof.suspicious import Hit, suspicious_python
from engine.perform.checks.proof.suspicious_text import suspicious_text
from engine.perform.checks.proof.unasked_values import unasked
from engine.perform.checks.run.spec import CheckSpec

MEANS_SOMETHING = frozenset({Rule.SUSPICIOUS_SOURCE, Rule.DETECTS_TESTS, Rule.ALWAYS_EQUAL})
"""Of the source. What is only unusual (a call of eval, ctypes) is everyday in some projects."""
_EXPECTED = re.compile(r"golden|expect|snap|approved|want|out\b|ref\b|baseline", re.IGNORECASE)
"""Endings of what a program is compared with; any other may be a format that it reads."""
WEAK = frozenset({Rule.SWALLOWED_ASSERTION})
_ALIKE = re.compile(r"\b(?:equal\w*|compar\w+|identical|hash\w*|__eq__)(?!\w)|==", re.IGNORECASE)
"""The task speaks of comparing."""
LISTENERS = {
    "noqa": ("ruff", "flake8", "pylint", "lint"),
    "type: ignore": ("mypy", "pyright", "types"),
    "pyright: ignore": ("pyright", "types"),
    "nosec": ("bandit", "security"),
    "pylint: disable": ("pylint", "lint"),
    "eslint-disable": ("eslint", "lint"),
    "@ts-ignore": ("tsc", "types"),
    "nolint": ("lint", "golangci"),
    "allow": ("clippy", "lint"),
    "SuppressWarnings": ("lint",),
}


def suspects(change: Change, specs: Sequence[CheckSpec], checks: Sequence[str]) -> list[Question]:
    """Questions about the constructs that a change brings in and no grant covers."""
    found: list[Question] = []
    for one in change.owned:
        was = change.had(one)
        found += [_question(rule, text, one, line) for rule, line, text in _hits(one, was, change.ground.words)]
        if one.owner is Owner.SUBJECT:
            found += [_question(rule, text, one, line) for rule, line, text in swallows(one.path, was, one.after)]
        if one.owner is Owner.SUBJECT and one.path.endswith(".py"):
            around = looks_around(was, one.after, change.ground.sources.values())
            hanging = decides_by(was, one.after, change.ground.words, _programs(change))
            hanging = hanging[:1] or list(remembers(was, one.after, change.ground.words))
            hushed = hushes(was, one.after, change.ground.words)
            found += [_question(rule, text, one, line) for rule, line, text in (*(around[:1] or hanging), *hushed)]
        if one.owner in (Owner.SUBJECT, Owner.CONFIG, Owner.STEERING):
            values = unasked(one.path, was, one.after, change.ground.words) if one.owner is not Owner.STEERING else []
            values += taken_back(one.path, was, one.after)
            found += [_question(rule, text, one, line) for rule, line, text in values]
        if language_of(one.path) or one.owner is not Owner.SUBJECT:
            alike = look_alikes(was, one.after, change.ground.words)
            found += [_question(rule, text, one, line) for rule, line, text in alike]
        if one.owner is Owner.SUBJECT and (where := _reads_expected(one, change)):
            text = f"the source names {where}, where the checks keep what it is compared with"
            found.append(_question(Rule.SUSPICIOUS_SOURCE, text, one, 0))
        if one.path.rpartition("/")[2] == "conftest.py" and (reasons := conftest_hooks(one.before, one.after)):
            text = f"{one.path} acts on tests that do not ask for it: {', '.join(reasons[:3])}"
            found.append(_question(Rule.CONFIG_CHANGED, text, one, 0))
        if one.before is None and (where := stands_in_front(one.path, one.after, change.ground.sources)):
            text = f"{one.path} is called like a program that {where} starts by its name"
            found.append(_question(Rule.SUSPICIOUS_SOURCE, text, one, 0))
        if one.owner is Owner.SUBJECT and _typed(specs, checks):
            loose = loosened(one.path, one.before, one.after)
            found += [_question(rule, text, one, line, "types") for rule, line, text in loose[:1]]
    for silence in suppressions((one.path, one.before, one.after) for one in change.owned):
        if _listened_to(silence, specs, checks) and not _everyday(silence):
            text = f"a new `{silence.kind}` silences a check: {silence.line_text[:100]}"
            one = next(item for item in change.owned if item.path == silence.path)
            found.append(_question(Rule.SUPPRESSION, text, one, silence.line, silence.code))
    return [
        one
        for one in found
        if granted(change.grants, one.rule, path=one.path, code=_code(one)) is None and not _named(change, one)
    ]


def _programs(change: Change) -> list[bytes]:
    """The Python of the base that is no test."""
    ground = change.ground
    return [text for path, text in ground.sources.items() if path.endswith(".py") and not ground.is_test(path)]


def _reads_expected(one: Owned, change: Change) -> str:
    """A folder of data that only checks read, named by the source since this change."""
    if one.after is None or matches(one.path, PROSE):
        return ""
    data = [path for path in change.ground.reads if not language_of(path) and "/" in path]
    with_source = {posixpath.dirname(path) for path in change.ground.files if language_of(path)}
    folders = {posixpath.dirname(path) for path in data} - with_source
    before, after = ((text or b"").decode("utf-8", "replace") for text in (one.before, one.after))
    endings = {posixpath.splitext(path)[1] for path in data if posixpath.dirname(path) in folders}
    endings = {ending for ending in endings if _EXPECTED.search(ending)}
    words = [(f"{folder}/", rf"(?<![\w/-]){re.escape(folder)}/") for folder in sorted(folders)]
    words += [(f"*{ending}", rf"{re.escape(ending)}(?!\w)") for ending in sorted(endings) if ending]
    for shown, pattern in words:
        if re.search(pattern, after) and not re.search(pattern, before):
            return shown
    return ""


def _hits(one: Owned, was: bytes | None, words: str = "") -> list[Hit]:
    if one.after is None:
        return []
    if not one.path.endswith(".py"):
        if one.owner in (Owner.TEST, Owner.NEW_TEST):
            focused = (Rule.FOCUSED_TEST, Rule.SUSPICIOUS_SOURCE, Rule.MOCKED_SUBJECT)
            return [hit for hit in text_hits(one.path, one.before, one.after) if hit[0] in focused]
        return suspicious_text(one.path, was, one.after) if one.owner is Owner.SUBJECT else []
    if one.owner is Owner.SUBJECT:
        hits = suspicious_python(one.after, was or b"")
        started = one.path.endswith("__main__.py")  # nobody imports it: it is meant to end its process
        told = _ALIKE.search(words) is not None
        return [
            hit
            for hit in hits
            if hit[0] in MEANS_SOMETHING
            and not (started and "exits" in hit[2])
            and not (told and hit[0] == Rule.ALWAYS_EQUAL and "whatever their" in hit[2])
        ]
    if one.owner in (Owner.SUPPORT, Owner.NEW_SUPPORT):
        hits = suspicious_python(one.after, one.before or b"", test=True)
        return [hit for hit in hits if "comparison of its own" in hit[2]]
    if one.owner in (Owner.TEST, Owner.NEW_TEST):
        hits = suspicious_python(one.after, one.before or b"", test=True)
        weak = [hit for hit in weak_spots(one.after, one.before or b"") if hit[0] in WEAK or _nobody_means(hit)]
        return [*(hit for hit in hits if hit[0] == Rule.SUSPICIOUS_SOURCE), *weak]
    return []


def _nobody_means(hit: Hit) -> bool:
    """`assert (value == 5, "message")` is always true, `assertTrue(value, 5)` never looks at the 5."""
    return hit[0] == Rule.TAUTOLOGY and (hit[2].startswith("`assert (") or FIRST_ONLY in hit[2])


def _question(rule: str, text: str, one: Owned, line: int, code: str = "") -> Question:
    lines = (one.after or b"").decode("utf-8", "replace").splitlines()
    shown = "\n".join(lines[max(0, line - 2) : line + 2]) if line else ""
    where = f"{one.path}:{line} " if line else ""
    told = text if text.startswith(one.path) else f"{where}{text}"
    return Question(
        rule=rule, text=told, allow=entry_for(rule, path=one.path, code=code), path=one.path, line=line, after=shown
    )


def _code(one: Question) -> str:
    match = re.match(r"suppress (\S+) in ", one.allow)
    return match[1] if match else ""


def _listened_to(silence: Suppression, specs: Sequence[CheckSpec], checks: Sequence[str]) -> bool:
    """A comment for a tool that is not among the checks silences nothing here."""
    words = LISTENERS.get(silence.kind, ())
    names = " ".join((*checks, *(spec.kind for spec in specs), *(part for spec in specs for part in spec.command)))
    return any(word in names for word in words)


def _typed(specs: Sequence[CheckSpec], checks: Sequence[str]) -> bool:
    """A type check is among the checks."""
    names = " ".join((*checks, *(spec.kind for spec in specs), *(part for spec in specs for part in spec.command)))
    return re.search(r"\b(?:mypy|pyright|tsc|types)\b", names) is not None


def _everyday(silence: Suppression) -> bool:
    """A re-export in a package's own file is what the code F401 is silenced for everywhere."""
    return silence.kind == "noqa" and silence.path.endswith("__init__.py") and silence.code in ("F401", "E402")


def _named(change: Change, one: Question) -> bool:
    """The task speaks of the suppression's own code or comment."""
    code = _code(one)
    return bool(code) and code != "CODE" and code in change.ground.words
