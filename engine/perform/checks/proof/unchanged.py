"""A change that leaves answers alone, asked about inputs beside those of the base's tests, before and after it.

The tests of the base hold at their own inputs by R1. A refactoring that sorts otherwise, or a fix for a crash that
loses a zero, shows beside them. What has to stay as it was is told by `frames`. In JavaScript
only where nothing was to change. It only asks.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from engine.core.grants import GrantKind, Rule
from engine.core.harmless import kinds_of
from engine.core.model import TaskSpec
from engine.perform.checks import python_source
from engine.perform.checks.proof import neighbours, varied_javascript
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.frames import Frame
from engine.perform.checks.proof.gutted_text import bodies
from engine.perform.checks.proof.imports import language_of, python_imports, python_name
from engine.perform.checks.proof.narrow import functions
from engine.perform.checks.proof.neighbour_runs import JAVASCRIPT, name_in_file
from engine.perform.checks.proof.neighbours import Told
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.source_tokens import tokens
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.proof.varied_tests import Copy, Varied, varied
from engine.perform.checks.run import witness
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import PASSED, Measurement
from engine.perform.checks.run.spec import CheckSpec

RUNNERS = frozenset({"pytest", "unittest"})
MOVES = frozenset({GrantKind.RENAME, GrantKind.MOVE})
MOST_FILES = 2
MOST_TESTS = 12
SECONDS = 15.0
SHARE = 0.5
"""Of the time that the whole check takes: after it no further file is begun."""
LEAST = 3.0
_SAME = re.compile(
    r"\b(?:refactor\w*|clean\w*|tid(?:y|ied)\w*|simplif\w*|renam\w*|mov(?:e|ed|ing)\b|split\w*|extract\w*|inline\w*"
    r"|dedup\w*|restructur\w*|reorgani\w*|perf\w*|speed\w*|fast\w*|slow\w*|memory|cach\w*|lazy|lazily|typing|annotat\w*"
    r"|slots|modern\w*|f-strings?|comprehension\w*|pathlib|dataclass\w*|readab\w*|style|duplicat\w*|no behaviou?r"
    r"|nothing (?:else )?changes|same (?:results?|output|behaviou?r))",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?:bool|int|float|complex|str|bytes|NoneType|dict|range)|(?:list|tuple|set|frozenset)\[[a-z,]*\]")
"""Shapes that no rename touches."""


def says_nothing_changes(task: TaskSpec | None) -> bool:
    """The words of the task are about how the program is made."""
    if task is None:
        return False
    return bool(kinds_of(task.proof)) or _SAME.search(f"{task.title}\n{task.description}") is not None


async def otherwise_faults(trial: Trial, spec: CheckSpec, frame: Frame = Frame.NOTHING) -> list[Fault]:
    """At most one question a file: the first input beside the tests for which the answer is another one."""
    r0 = trial.reference.of(spec)
    if spec.runner in JAVASCRIPT and r0 is not None and frame is Frame.NOTHING:
        return await _in_javascript(trial, spec, r0)
    names = [python_name(one.path) for one in trial.change.owned if _differs(one)]
    if spec.runner not in RUNNERS or r0 is None or not names:
        return []
    if frame is Frame.ADDITION and not any(_alters(one) for one in trial.change.owned if _differs(one)):
        return []
    green: dict[str, list[str]] = {}
    for case in r0.report.cases:
        if case.outcome == PASSED and case.path.endswith(".py"):
            green.setdefault(case.path, []).append(case.id)
    base, now = trial.change.rooms.base, trial.change.rooms.r1
    before = await asyncio.to_thread(trial.trees.contents, base, list(green))
    near = [path for path in green if path in before and _reaches(python_imports(before[path], path), names)]
    after = await asyncio.to_thread(trial.trees.contents, now, near)
    found = []
    deadline = trial.tools.clock() + max(LEAST, SHARE * r0.seconds)
    for path in near[:MOST_FILES]:
        if trial.tools.clock() >= deadline:
            break
        if path in after:
            found += await _of_file(trial, spec, frame, path, green[path], (before[path], after[path]))
    return found


async def _in_javascript(trial: Trial, spec: CheckSpec, r0: Measurement) -> list[Fault]:
    """The same for tests in JavaScript whose file names a module that the change gives another meaning."""
    if trial.change.transformed.files or any(one.kind in MOVES for one in trial.change.grants):
        return []
    mine = [one for one in trial.change.owned if one.owner is Owner.SUBJECT and one.before and one.after]
    mine = [one for one in mine if language_of(one.path) == "javascript" and _words(one.before) != _words(one.after)]
    stems = {one.path.rpartition("/")[2].partition(".")[0] for one in mine}
    changed = {name for one in mine for name in _altered(one.before or b"", one.after or b"")}
    green: dict[str, list[str]] = {}
    for case in r0.report.cases:
        if case.outcome == PASSED:
            green.setdefault(case.path, []).append(case.id)
    base, now = trial.change.rooms.base, trial.change.rooms.r1
    sources = await asyncio.to_thread(trial.trees.contents, base, [path for path in green if path])
    observer = witness.script("near_observer")
    for path, source in [(path, text) for path, text in sources.items() if _names(text, stems)][:MOST_FILES]:
        # first the tests that speak of what was altered
        ids = sorted(green[path], key=lambda id: not any(name.lower() in id.lower() for name in changed))
        made = varied_javascript.varied(source, ids, observer, (), path)
        if made is None:
            continue
        text = made[0]
        seen = [
            await _run(trial, spec, name, tree, path, text) for name, tree in (("beside R1", now), ("beside R0", base))
        ]
        if other := differing(text, seen[1], seen[0], Frame.NOTHING, only_plain=False):
            again = await _run(trial, spec, "beside R0", base, path, text)
            shaky = {copy.name for copy, _, _ in differing(text, seen[1], again, Frame.NOTHING, only_plain=False)}
            if steady := [one for one in other if one[0].name not in shaky]:
                copy, was, is_ = steady[0]
                input_ = f"with {copy.now} for {copy.was}" if copy.slot >= 0 else "as it is"
                said = f"the base answers {_said(was)}, the change {_said(is_)}; {Frame.NOTHING.value}"
                title = made[1].get(copy.test, path)
                fault = question(
                    Rule.OTHERWISE, f"{title} {input_}: {said}", f"accept {Rule.OTHERWISE} in {path}", None, spec.name
                )
                return [replace(fault, path=path)]
    return []


def _names(text: bytes, stems: Collection[str]) -> bool:
    """It takes something from one of these modules."""
    return any(re.search(rf"/{re.escape(stem)}(?:\.\w+)?[\"'`]".encode(), text) for stem in stems)


def _words(source: bytes | None) -> list[str]:
    return [token.text for token in tokens((source or b"").decode("utf-8", "replace"))]


def _altered(before: bytes, after: bytes) -> set[str]:
    old, new = (
        {(one.name, one.text) for one in bodies(text.decode("utf-8", "replace"), "javascript", "")}
        for text in (before, after)
    )
    return {name for name, _ in new - old}


def _differs(one: Owned) -> bool:
    """A module that was there and does not read the same to the interpreter any more."""
    if one.owner is not Owner.SUBJECT or not one.path.endswith(".py") or one.before is None:
        return False
    return one.after is None or _meaning(one.before) != _meaning(one.after)


def _alters(one: Owned) -> bool:
    """A function that was there is another one now; what only comes to it leaves the others alone."""
    try:
        old, new = (dict(functions(python_source.parse(text or b""))) for text in (one.before, one.after))
    except (SyntaxError, ValueError, RecursionError):
        return True
    return any(name in new and ast.dump(node) != ast.dump(new[name]) for name, node in old.items())


def _with_more_fields(one: Owned) -> set[str]:
    """Classes of a data class's kind that the change gives another field."""
    if one.owner is not Owner.SUBJECT or not one.path.endswith(".py") or one.before is None or one.after is None:
        return set()
    try:
        old, new = (_fields(python_source.parse(text)) for text in (one.before, one.after))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {name for name, fields in new.items() if name in old and fields > old[name]}


def _fields(tree: ast.Module) -> dict[str, set[str]]:
    return {
        node.name: {
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def _meaning(source: bytes) -> str:
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source.decode("utf-8", "replace")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0].value.value = ""
    return ast.dump(tree)


def _reaches(imported: frozenset[str], names: Sequence[str]) -> bool:
    """By a part of its dotted name: a source folder may stand before it, a package may hand it on."""
    return any(
        name == one or name.endswith(f".{one}") or one.startswith(f"{name}.") or name.partition(".")[0] in (one, "src")
        for one in imported
        for name in names
    )


async def _of_file(
    trial: Trial, spec: CheckSpec, frame: Frame, path: str, ids: Sequence[str], sources: tuple[bytes, bytes]
) -> list[Fault]:
    tests = list(dict.fromkeys(name_in_file(id, path) for id in ids))
    edges = frame is not Frame.NOTHING
    old, new = (varied(text, tests, most=MOST_TESTS, again=0, edges=edges) for text in sources)
    if old is None or new is None or [one.name for one in old.copies] != [one.name for one in new.copies]:
        return []
    rooms = trial.change.rooms
    await trial.ahead(spec, [await _planned(trial, rooms.base, path, old), await _planned(trial, rooms.r1, path, new)])
    change = await _run(trial, spec, "beside R1", rooms.r1, path, new)
    base = await _run(trial, spec, "beside R0", rooms.base, path, old)
    renamed = any(one.kind in (GrantKind.RENAME, GrantKind.MOVE) for one in trial.change.grants)
    grown = frozenset(name for one in trial.change.owned for name in _with_more_fields(one))
    plain = renamed or bool(trial.change.transformed.files)
    other = differing(old, base, change, frame, only_plain=plain, aside=grown)
    if not other:
        return []
    again = await _run(trial, spec, "beside R0", rooms.base, path, old)
    shaky = {copy.name for copy, _, _ in differing(old, base, again, Frame.NOTHING, only_plain=False)}
    steady = [one for one in other if one[0].name not in shaky]
    if not steady:
        return []
    copy, was, now = steady[0]
    input_ = f"with {copy.now} for {copy.was}" if copy.slot >= 0 else "as it is"
    text = f"{path}::{copy.test} {input_}: the base answers {_said(was)}, the change {_said(now)}; {frame.value}"
    fault = question(Rule.OTHERWISE, text, f"accept {Rule.OTHERWISE} in {path}", None, spec.name)
    return [replace(fault, path=path)]


async def _run(trial: Trial, spec: CheckSpec, name: str, tree: str, path: str, made: Varied) -> list[Measurement]:
    run = await _planned(trial, tree, path, made)
    return await trial.files(name, run.tree, spec, run.files, run.ask)


async def _planned(trial: Trial, tree: str, path: str, made: Varied) -> Ahead:
    edited = await asyncio.to_thread(trial.trees.edit, tree, {path: made.text})
    ask = Ask(known=trial.known, helpers=trial.change.helpers, canaries=False, brief=True, timeout=SECONDS)
    return Ahead(tree=edited, files=(path,), ask=ask)


def differing(
    made: Varied,
    base: Sequence[Measurement],
    change: Sequence[Measurement],
    frame: Frame,
    *,
    only_plain: bool,
    aside: frozenset[str] = frozenset(),
) -> list[tuple[Copy, Told, Told]]:
    """Copies that told something on both sides, and not the same, where the frame does not let them.

    `aside`: classes that have more fields now, so that nothing with one of them reads as it did.
    """
    found = []
    for copy in made.copies:
        for was, now in zip(_told(base, copy), _told(change, copy), strict=False):
            if aside and aside & {*re.findall(r"\w+", was[0]), *re.findall(r"\w+(?=\()", was[2])}:
                continue
            plain = _PLAIN.fullmatch(was[0]) and _PLAIN.fullmatch(now[0])
            if was[:2] != now[:2] and frame.broken(was[0], now[0]) and (plain or not only_plain):
                found.append((copy, was, now))
                break
    return found


def _told(runs: Sequence[Measurement], copy: Copy) -> list[Told]:
    return [told for case in neighbours.seen(runs, copy.name) for told in case]


def _said(told: Told) -> str:
    return f"with {told[0][1:]}" if told[0].startswith("!") else told[2]
