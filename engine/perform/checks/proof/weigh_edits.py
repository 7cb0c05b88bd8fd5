"""Edited tests weighed where the old ones still hold: an edit that is as sharp as what it replaces is no question."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from engine.core.grants import Rule
from engine.core.harmless import HarmlessKind
from engine.core.model import ProofVerdict
from engine.perform.checks import python_source
from engine.perform.checks.proof.faults import Fault
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.mutants_text import speaks
from engine.perform.checks.proof.mutate import shuffled
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.source_tokens import TokenKind, tokens
from engine.perform.checks.proof.strength import compare, guarded, pool, pool_of_change, side, words_in
from engine.perform.checks.proof.test_blocks import blocks_of
from engine.perform.checks.proof.test_edits import TestEdit, units_of
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.proof.weigh_whole import WholeRun
from engine.perform.checks.run.measure import BAD, Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec
from engine.plans.leanings import leans, shows_something

ASKED = frozenset({Rule.TEST_CHANGED, Rule.FEWER_ASSERTIONS, Rule.TEST_GONE})

MUTATED = frozenset({"python", "javascript", "go"})
MOST_FILES = 24
"""Test files that may watch over a refactoring."""


class EditedTests(WholeRun):
    """Old tests that pass in R1 as they were, and stand there in another form."""

    async def _weigh_edits(self) -> None:
        """R1 held with the old tests, so that no edit hides a regression; left is whether the oracle got weaker."""
        if any(fault.verdict is not ProofVerdict.QUESTION for fault in self.faults) or self.red:
            return
        asked = {fault.path: fault for fault in self.faults if fault.rule in ASKED and fault.path}
        edits = [edit for edit in self.change.transformed.edits if edit.path in asked and self._may_be_as_sharp(edit)]
        spec = self._weighing({language_of(edit.path) for edit in edits})
        if not edits or spec is None:
            return
        spared = [fault for fault in self.faults if fault.rule in ASKED and _about(fault, edits)]
        if not spared or not await self._as_sharp(spec, edits):
            return
        self.faults = [fault for fault in self.faults if fault not in spared]

    async def _weigh_work(self) -> None:
        """Work on how the program is made: nothing to show, if the base's tests watch over what was touched."""
        if self.task is None or self.task.proof or self.faults or self.proofs or self.plain is not None:
            return
        text = "\n".join((self.task.title, self.task.description, *self.task.accept))
        if shows_something(self.task) or not leans(HarmlessKind.REFACTORING, self.task.title, text):
            return
        if self.task.accept and not leans(HarmlessKind.REFACTORING, self.task.title, self.task.title):
            return  # what has criteria is more than how it is made, unless its title says so
        if (watched := await self._watched()) is None:
            return
        killed, tried = watched
        self.notes.append(f"the tests of the base notice {killed} of {tried} mutants of what was touched")
        if killed and killed * 3 >= tried * 2:
            self.plain = HarmlessKind.REFACTORING

    async def _watched(self) -> tuple[int, int] | None:
        """Mutants of what was touched that the base's tests notice, of how many; None where none can be made."""
        source = [one for one in self.change.owned if one.owner is Owner.SUBJECT and language_of(one.path)]
        spec = self._weighing({language_of(one.path) for one in source})
        if spec is None or not source:
            return None
        after = [(one.path, one.before, one.after) for one in source if one.after is not None]
        chosen = [mutant for path, old, new in after for mutant in pool_of_change(path, old, new)]
        suffixes = runner_of(spec).suffixes
        tests = sorted(path for path in self.change.ground.tests if path.endswith(suffixes))[:MOST_FILES]
        files = self.trial.files_for(spec, tests)
        if not chosen or not files:
            return None
        watching = await side(self.trial, spec, self.change.rooms.r1, files)
        return await guarded(self.trial, spec, shuffled(chosen, self.change.rooms.r4), watching)

    def _weighing(self, languages: set[str]) -> CheckSpec | None:
        """The check whose tests weigh mutants, where everything is in one language that they are made of."""
        if len(languages) != 1 or not languages <= MUTATED:
            return None
        for spec in self.tests:
            runner = runner_of(spec)
            if runner.picks_files and languages & {language_of(f"x{suffix}") for suffix in runner.suffixes}:
                return spec
        return None

    def _may_be_as_sharp(self, edit: TestEdit) -> bool:
        red = [case.id for run in self.r1.values() for case in by_id(run).values() if case.outcome in BAD]
        if any(covers_id(edit.id, id) for id in red):
            return False
        match edit.kind:
            case EditKind.CHANGED | EditKind.SAME_SHAPE:
                return not self._fewer_rows(edit) or self._keeps_values(edit)
            case EditKind.WEAKER | EditKind.DELETED:  # a question that is gone is missed by no mutant of today's code
                return self._keeps_values(edit) and not self._only_loses(edit)
            case EditKind.MOVED | EditKind.STRONGER | EditKind.SKIPPED:
                return False
            case _:
                assert_never(edit.kind)

    def _fewer_rows(self, edit: TestEdit) -> bool:
        """The test ran for more parameters before it was edited."""

        def rows(runs: Iterable[Measurement]) -> set[str]:
            return {id for run in runs for id in by_id(run) if id.startswith(f"{edit.id}[")}

        now = rows((*self.r4.values(), *(run for runs in self.r2.values() for run in runs)))
        return len(now) < len(rows(self.r1.values()))

    def _only_loses(self, edit: TestEdit) -> bool:
        """Nothing stands in the place of the assertions that went, here or in another test."""
        one = next((one for one in self.change.owned if one.path == edit.path), None)
        if one is None or not edit.path.endswith(".py") or not edit.now:
            return False
        before, after = units_of(one.before or b"") or {}, units_of(one.after or b"") or {}
        old, new = before.get(edit.id.partition("::")[2]), after.get(edit.now.partition("::")[2])
        if old is None or new is None:
            return False
        had, has = (Counter(_lines_of(unit.nodes)) for unit in (old, new))
        tests = [each.after for each in self.change.owned if each.owner in (Owner.TEST, Owner.NEW_TEST) and each.after]
        others = {line for text in tests for unit in (units_of(text) or {}).values() for line in _lines_of(unit.nodes)}
        return not has - had and bool(set(had - has) - others)

    def _keeps_values(self, edit: TestEdit) -> bool:
        """Every value that the old test asked with or wanted to hear stands in a test of the change."""
        now: set[str] = set()
        before: bytes = b""
        for one in self.change.owned:
            if one.owner in (Owner.TEST, Owner.NEW_TEST) and one.after is not None:
                now |= _values_of(one.path, one.after)
            if one.path == edit.path:
                before = one.before or b""
        name = edit.id.partition("::")[2]
        if speaks(edit.path):
            block = next((one for one in blocks_of(edit.path, before) if one.name == name), None)
            own = {name.rpartition(" > ")[2]}  # what it is called
            return block is not None and constants_in(block.text) - own <= now
        unit = (units_of(before) or {}).get(name)
        return unit is not None and all(values_in(node) <= now for node in unit.nodes)

    def _users(self, edit: TestEdit) -> list[str]:
        """Test files that name a helper."""
        word = edit.id.rpartition("::")[2].encode()
        sources = self.change.ground.sources
        return sorted(path for path in self.change.ground.tests if word in sources.get(path, b""))[:MOST_FILES]

    async def _as_sharp(self, spec: CheckSpec, edits: list[TestEdit]) -> bool:
        rooms, trees = self.change.rooms, self.trial.trees
        own = {edit.id: edit.test or edit.id == edit.path for edit in edits}  # a test, or what stands around them
        users = {edit.id: [edit.path] if own[edit.id] else self._users(edit) for edit in edits}
        paths = sorted({path for each in users.values() for path in each})
        if not all(users.values()):
            return False  # a helper of whom nobody knows who uses it
        places = (*self.change.tests, *paths, *(edit.now.partition("::")[0] for edit in edits if edit.test))
        now = self.trial.files_for(spec, dict.fromkeys(places))
        there = frozenset(trees.files(rooms.r2))
        now = tuple(path for path in now if path in there)
        if not now:
            return False
        alike = {language_of(edit.path) for edit in edits}
        sources = trees.contents(rooms.r1, [path for path in trees.files(rooms.r1) if language_of(path) in alike])
        helped = [
            sources[path].decode("utf-8", "replace") for edit in edits if not edit.test for path in users[edit.id]
        ]
        chosen = pool(sources, paths, words_in([*(edit.before for edit in edits), *helped]), rooms.r4)
        if not chosen:
            return False
        known = [id for spec in self.tests for id in by_id(self.r0(spec))]
        moved = [edit.now for edit in self.change.transformed.edits if edit.now]

        def edited(id: str) -> bool:
            return any(covers_id(edit.id, id) or not edit.test for edit in edits)

        def brought(id: str) -> bool:
            return edited(id) or any(covers_id(place, id) for place in moved) or id not in known

        old = await side(self.trial, spec, rooms.r1, paths, edited)
        new = await side(self.trial, spec, rooms.r2, now, brought)
        told = await compare(self.trial, spec, chosen, old, new)
        if told.missed:
            self.notes.append(f"the edited tests do not notice {told.missed[0]}, which the old ones did")
        elif told.as_sharp:
            names = ", ".join(edit.id for edit in edits[:3])
            self.notes.append(f"edited tests notice all {told.killed} mutants that the old ones noticed: {names}")
        return told.as_sharp


def _lines_of(nodes: Iterable[ast.AST]) -> list[str]:
    """Statements without others in them."""
    inner = (each for node in nodes for each in ast.walk(node))
    return [ast.unparse(each) for each in inner if isinstance(each, ast.stmt) and not hasattr(each, "body")]


def _about(fault: Fault, edits: Iterable[TestEdit]) -> bool:
    return any(edit.id in fault.text for edit in edits) and "as it was, it fails" not in fault.text


def _readable(data: bytes) -> bool:
    try:
        python_source.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _values_of(path: str, source: bytes) -> set[str]:
    if speaks(path):
        return constants_in(source.decode("utf-8", "surrogateescape"))
    return values_in(python_source.parse(source)) if _readable(source) else set()


def constants_in(text: str) -> set[str]:
    """Numbers and texts as written, whatever quotes stand around them."""
    plain = (TokenKind.NUMBER, TokenKind.TEXT, TokenKind.RAW, TokenKind.REGEX)
    return {token.text.strip("\"'`") for token in tokens(text) if token.kind in plain}


def values_in(node: ast.AST) -> set[str]:
    """Constants as written; documentation and the names of parameters aside."""
    aside = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and n.args and ast.unparse(n.func).endswith("parametrize"):
            aside |= {id(name) for name in ast.walk(n.args[0])}
    return {repr(n.value) for n in ast.walk(node) if isinstance(n, ast.Constant) and id(n) not in aside}
