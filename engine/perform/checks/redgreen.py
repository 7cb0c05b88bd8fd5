"""Red then green: a new test should fail on the base's source, for a reason that has to do with the change. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from engine.perform.checks.integrity import Change
from engine.perform.checks.measure import BAD, PASSED, Case
from engine.perform.checks.waivers import Objection

SETUP_ERRORS = (
    "CollectError",
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "NameError",
    "SyntaxError",
    "FixtureLookupError",
    "TypeError",
)
BUG_WORDS = re.compile(r"\b(fix(es|ed)?|bug|bugs|regression|broken|crash(es)?|defect|wrong(ly)?)\b", re.IGNORECASE)


def is_bug_fix(title: str) -> bool:
    return bool(BUG_WORDS.search(title))


def introduced_names(changes: Iterable[Change]) -> frozenset[str]:
    """Words the change brings into the source: functions, arguments, attributes, modules, keys."""
    fresh: set[str] = set()
    for change in changes:
        if change.test or change.after is None:
            continue
        if change.before is None:
            parts = re.split(r"[/.]", change.path)
            fresh |= {part for part in parts[:-1] if part not in ("src", "__init__")}
        fresh |= _words(change.after) - _words(change.before or b"")
    return frozenset(fresh)


def _words(source: bytes) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set(re.findall(r"[A-Za-z_]\w+", source.decode("utf-8", "replace")))
    words: set[str] = set()
    for node in ast.walk(tree):
        for field in ("id", "name", "attr", "arg", "asname", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                words |= set(value.split("."))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            words.add(node.value)
    return words


def red_objections(
    new: Sequence[str], on_base: Sequence[Case], names: frozenset[str], needs_red: bool
) -> list[Objection]:
    """`on_base` is what the new tests did on the base's source. `needs_red`: at least one of them must fail there."""
    outcome = {case.id: case for case in on_base}
    red = 0
    objections: list[Objection] = []
    for id in new:
        path = id.partition("::")[0]
        case = outcome.get(id) or outcome.get(path)
        if case is None:
            objections.append(
                Objection(rule="new-test-error", text=f"{id} could not be tried on the base", path=path, subject=id)
            )
        elif case.outcome == PASSED:
            objections.append(
                Objection(rule="already-green", text=f"{id} passes without the change too", path=path, subject=id)
            )
        elif case.outcome in BAD:
            red += 1
            odd = (case.error in SETUP_ERRORS or case.outcome == "error") and not names & set(
                re.findall(r"\w+", case.text)
            )
            if odd:
                why = f"{case.error or 'an error'} that has nothing to do with the change: {case.text[-150:]}"
                text = f"{id} fails on the base with {why}"
                objections.append(Objection(rule="new-test-error", text=text, path=path, subject=id))
                red -= 1
    if needs_red and new and red == 0:
        text = f"the task mends a bug, but none of its {len(new)} new tests fails without the change"
        objections.append(Objection(rule="no-red-test", text=text, path=new[0].partition("::")[0]))
    return objections
