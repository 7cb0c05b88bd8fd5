"""Are the tests that a change edited as sharp as they were? Every mutant that the old ones kill, the new ones kill.

Mutants of the functions that the edited tests name, the same for both sides, bounded in number and time. Without an
answer in time, or without one mutant that the old tests notice, nothing is known, and the human is asked as before.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.imports import imported_by
from engine.perform.checks.proof.mutants_text import mutants_text, named_lines, speaks, touched_lines
from engine.perform.checks.proof.mutate import Mutant, mutants, shuffled
from engine.perform.checks.proof.other_values import answering_otherwise
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import BAD, PASSED
from engine.perform.checks.run.spec import CheckSpec

MOST = 10
"""Mutants tried."""
MOST_ANSWERS = 4
"""Of them, functions that answer another value: what the others leave of an answer, a weak assertion still takes."""
MOST_GAINED = 16
"""Tried where tests are all that there is."""
ENOUGH, SHARE = 12, 6
"""So many tried, and less than the sixth part of them noticed, say that tests ask for next to nothing. Of 70 honest
changes none came near: those without a further mutant noticed 13 of 16, 4 of 6, 7 of 16."""
SECONDS = 90.0
"""For all of them."""
EACH = 15.0
HANDED_ON = 3
"""Files between a test and what it calls by name: a package's own file, a module beside it."""
LOGS = re.compile(r"(?:^|\.)(?:debug|info|warning|warn|error|exception|critical|log)$")


class Compared(Struct, frozen=True, kw_only=True):
    """What the mutants told."""

    killed: int = 0
    """By the old tests."""
    missed: tuple[str, ...] = ()
    """Killed by the old tests and by no new one."""

    @property
    def as_sharp(self) -> bool:
        return self.killed > 0 and not self.missed


class Gained(Struct, frozen=True, kw_only=True):
    """What further tests make of the mutants."""

    noticed: int
    tried: int
    further: bool
    """One of them no test noticed before."""

    @property
    def hardly_ask(self) -> bool:
        return not self.further and self.tried >= ENOUGH and self.noticed * SHARE < self.tried


def reached_functions(source: bytes, words: frozenset[str]) -> set[int]:
    """Lines of the functions that the words name; of methods too, and of a class that is named."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name not in words:
            continue
        if not (isinstance(node, ast.ClassDef) and _methods(node) & words):
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _methods(node: ast.ClassDef) -> set[str]:
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def text_mutants(path: str, source: bytes, lines: set[int]) -> list[Mutant]:
    """Texts changed, conditions never met and raises taken out, which the mutants of arithmetic do not know."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) not in lines:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            was = node.value
            for other in dict.fromkeys((f"{was}~", "")):
                if other != was:
                    node.value = other
                    found.append(_mutant(path, node.lineno, f"{was!r} → {other!r}", tree))
            node.value = was
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            test = node.test
            node.test = ast.copy_location(ast.Constant(value=False), test)
            found.append(_mutant(path, node.lineno, f"{ast.unparse(test)} → False", tree))
            node.test = test
        for field in ("body", "orelse"):
            body = getattr(node, field, None)
            for index, inner in enumerate(body if isinstance(body, list) else []):
                if isinstance(inner, ast.Raise):
                    body[index] = ast.copy_location(ast.Pass(), inner)  # type: ignore[index]
                    found.append(_mutant(path, inner.lineno, "raise taken out", tree))
                    body[index] = inner  # type: ignore[index]
    return found


def _mutant(path: str, line: int, what: str, tree: ast.Module) -> Mutant:
    return Mutant(path=path, line=line, what=what[:100], source=ast.unparse(tree))


def pool(sources: Mapping[str, bytes], tests: Iterable[str], words: frozenset[str], seed: str) -> list[Mutant]:
    """Mutants of what the tests name in the files that they import, in an order that the seed fixes."""
    mine = {path: sources[path] for path in tests if path in sources}
    called = {path: source for path, source in sources.items() if path not in mine and _speaks_of(source, words)}
    reached = _reached(called, sources, mine)
    found: list[Mutant] = []
    answers: list[Mutant] = []
    for path in sorted(reached):
        source = sources[path]
        answers += answering_otherwise(path, source, words)
        if speaks(path):
            found += mutants_text(path, source, named_lines(path, source, words))
        elif path.endswith(".py"):
            lines = reached_functions(source, words)
            found += [*mutants(path, source, lines), *text_mutants(path, source, lines)]
    return [*shuffled(answers, seed)[:MOST_ANSWERS], *shuffled(found, seed)]


def _speaks_of(source: bytes, words: frozenset[str]) -> bool:
    return not words.isdisjoint(re.findall(r"[A-Za-z_]\w*", source.decode("utf-8", "replace")))


def _reached(called: Iterable[str], sources: Mapping[str, bytes], tests: Mapping[str, bytes]) -> set[str]:
    """Files that tests may call: what they import, and what a package hands on to them from its own modules."""
    left = {path for path in called if not path.endswith(".go")}
    reached = set(called) - left  # in Go a package as a whole
    reached -= {path for path in reached if path.endswith("_test.go")}
    importers = dict(tests)
    for _ in range(HANDED_ON):
        found = {path for path in sources if path not in importers and imported_by(path, importers)}
        reached |= found & left
        importers = {path: sources[path] for path in found}
        if not found or left <= reached:
            break
    return reached


def pool_of_change(path: str, before: bytes | None, after: bytes) -> list[Mutant]:
    """Mutants of the functions that a change touched, whole: a decorator alone has nothing to twist."""
    answers = answering_otherwise(path, after, None)
    if speaks(path):
        lines = touched_lines(path, before, after)
        return [*(one for one in answers if one.line in lines), *mutants_text(path, after, lines)]
    touched = changed_lines(before, after)
    try:
        tree = python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = set(touched)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            whole = set(range(first, (node.end_lineno or first) + 1))
            lines |= whole if whole & touched else set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and LOGS.search(ast.unparse(node.value.func))
        ):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # what is logged, no test asks
    answers = [one for one in answers if one.line in lines]
    return [*answers, *mutants(path, after, lines), *text_mutants(path, after, lines)]


def words_in(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))


async def guarded(trial: Trial, spec: CheckSpec, chosen: Sequence[Mutant], by: Side) -> tuple[int, int]:
    """How many mutants the tests notice, of how many that were tried."""
    deadline = trial.tools.clock() + SECONDS
    killed = tried = 0
    for mutant in chosen[:MOST]:
        if trial.tools.clock() >= deadline:
            break
        noticed = await kills(trial, spec, mutant, by)
        tried += noticed is not None
        killed += noticed is True
    return killed, tried


class Side(Struct, frozen=True, kw_only=True):
    """Tests over a tree, and which of them pass there as it is: only these can notice a mutant."""

    tree: str
    files: tuple[str, ...]
    green: frozenset[str]
    others: frozenset[str]
    """Further tests in the files: a run goes on behind their failures, which are no answer."""


def every(id: str) -> bool:
    return bool(id)


async def side(
    trial: Trial, spec: CheckSpec, tree: str, files: Sequence[str], counts: Callable[[str], bool] = every
) -> Side:
    """`counts`: the tests whose word is asked; others in the same files may know more."""
    runs = await trial.files("mutant", tree, spec, files, _ask(trial))
    cases = [case for run in runs for case in run.report.cases]
    green = frozenset(case.id for case in cases if case.outcome == PASSED and counts(case.id))
    others = frozenset(case.id for case in cases if case.id not in green)
    return Side(tree=tree, files=tuple(files), green=green, others=others)


async def compare(trial: Trial, spec: CheckSpec, chosen: Sequence[Mutant], old: Side, new: Side) -> Compared:
    """Each mutant over both sides, until one is missed or the time is over."""
    deadline = trial.tools.clock() + SECONDS
    killed = 0
    for mutant in chosen[:MOST]:
        if trial.tools.clock() >= deadline:
            break
        if not await kills(trial, spec, mutant, old):
            continue
        killed += 1
        if await kills(trial, spec, mutant, new) is False:
            return Compared(killed=killed, missed=(f"{mutant.path}:{mutant.line} {mutant.what}",))
    return Compared(killed=killed)


async def gains(trial: Trial, spec: CheckSpec, chosen: Sequence[Mutant], new: Side, old: Side) -> Gained:
    """What the new tests notice, until they notice something that no old one does."""
    deadline = trial.tools.clock() + SECONDS
    noticed = tried = 0
    for mutant in chosen[:MOST_GAINED]:
        if trial.tools.clock() >= deadline:
            break
        seen = await kills(trial, spec, mutant, new)
        tried += seen is not None
        noticed += seen is True
        if seen and not await kills(trial, spec, mutant, old):
            return Gained(noticed=noticed, tried=tried, further=True)
    return Gained(noticed=noticed, tried=tried, further=False)


COMPILED = (".go", ".ts", ".tsx", ".mts", ".cts")
"""What a compiler looks at first: a mutant that it refuses is noticed by no test."""


async def kills(trial: Trial, spec: CheckSpec, mutant: Mutant, by: Side) -> bool | None:
    """Whether a test that passes without the mutant does not pass with it; None: it may be that none was run."""
    mutated = await asyncio.to_thread(trial.trees.edit, by.tree, {mutant.path: mutant.source.encode()})
    seen = await trial.files("mutant", mutated, spec, by.files, replace(_ask(trial), stop_early=not by.others))
    if any(run.ended == "timeout" for run in seen):
        return True
    cases = [case for run in seen for case in run.report.cases]
    passed = {case.id for case in cases if case.outcome == PASSED}
    if mutant.path.endswith(COMPILED) and not any("::" in case.id for case in cases):
        return None
    bad = any(case.outcome in BAD and case.id not in by.others for case in cases)
    return bad or (bool(by.green) and not passed & by.green)


def _ask(trial: Trial) -> Ask:
    return Ask(known=trial.known, helpers=trial.change.helpers, canaries=False, brief=True, timeout=EACH)
