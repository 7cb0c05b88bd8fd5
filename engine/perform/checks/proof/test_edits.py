"""What a change did to the tests it found: each unit of a test file compared by its syntax, never by its text.

Only additions and moves take nothing away. Everything else is named with both versions, for the runs to weigh and a
human to see. Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.asked_again import asks_the_same, kept_inside
from engine.perform.checks.proof.integrity_python import Function
from engine.perform.checks.proof.plain_edits import adds_only, is_plain, same_but_for_texts
from engine.perform.checks.proof.python_names import Names, Rename, names_in
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.test_blocks import REST, Block, blocks_of, fewer_imports, text_edit, under_renames
from engine.perform.checks.proof.test_shape import (
    EditKind,
    Unit,
    compare,
    is_docstring,
    plain,
    same_under_another_name,
    spelled,
    taken_up,
)

MOST_EXCERPT = 1_600
PYTHON = (".py", ".pyi")


class TestEdit(Struct, frozen=True, kw_only=True):
    """One unit of the base's tests that is not what it was."""

    __test__ = False

    kind: EditKind
    id: str
    """path::Class::test as in a test's id without parameters; for a helper path::name; for a whole file its path."""
    path: str
    line: int = 0
    now: str = ""
    """Where it stands in the change; of a deleted one, which new test asks the same; empty: nowhere."""
    test: bool = True
    """False: a helper, a fixture, a constant; every test of the file may rest on it."""
    before: str = ""
    after: str = ""


Files = Mapping[str, bytes]


def edits_of(
    base: Files, candidate: Files, paths: Iterable[str], renames: tuple[Rename, ...] = ()
) -> tuple[TestEdit, ...]:
    """Every unit of the base's test files among `paths` that the change edited, moved or deleted.

    What differs only by the way a thing is imported, or by a rename that the plan allows, does not differ.
    """
    wanted = sorted({path for path in paths if path in base or path in candidate})
    python = [path for path in wanted if path.endswith(PYTHON)]
    found = [*_python_edits(base, candidate, python, renames)]
    for path in wanted:
        if path.endswith(PYTHON) or path not in base or base[path] == candidate.get(path):
            continue
        if is_plain(path) and path in candidate:
            found.append(_plain_edit(path, base[path], candidate[path]))
            continue
        found += _text_edits(base, candidate, path, wanted, renames)
    return tuple(found)


def units_of(source: bytes) -> dict[str, Unit] | None:
    """The units of a Python file by name; None where it cannot be read."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = source.decode("utf-8", "replace").splitlines()
    found: dict[str, Unit] = {}
    _collect(tree.body, "", lines, names_in(tree), found, collected=True)
    return found


def _collect(
    body: Iterable[ast.stmt],
    prefix: str,
    lines: list[str],
    imports: Names,
    found: dict[str, Unit],
    collected: bool,
) -> None:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom) or is_docstring(node):
            continue
        if isinstance(node, ast.ClassDef) and _holds_tests(node):
            head = ast.ClassDef(
                name=node.name, bases=node.bases, keywords=node.keywords, body=[], decorator_list=node.decorator_list
            )
            name = f"{prefix}{node.name}"
            text = _source(lines, node.lineno, node.lineno)
            found[name] = Unit(name=name, line=node.lineno, test=False, nodes=(head,), text=text, names=imports)
            runs = collected and (node.name.startswith("Test") or bool(node.bases))
            _collect(node.body, f"{name}::", lines, imports, found, runs)
            continue
        names = _bound(node)
        name = prefix + (",".join(names) if names else ast.dump(plain(node))[:120])
        test = collected and isinstance(node, Function) and node.name.startswith("test")
        while name in found:
            name += "'"
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = _source(lines, first, node.end_lineno or first)
        found[name] = Unit(name=name, line=first, test=test, nodes=(node,), text=text, names=imports)


def _holds_tests(node: ast.ClassDef) -> bool:
    return any(
        isinstance(item, Function) and item.name.startswith("test")
        for item in node.body
        if not isinstance(item, ast.ClassDef)
    ) or any(isinstance(item, ast.ClassDef) and _holds_tests(item) for item in node.body)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return [ast.unparse(node.target)]
    return []


def _source(lines: list[str], first: int, last: int) -> str:
    return "\n".join(lines[first - 1 : last])[:MOST_EXCERPT]


def _python_edits(base: Files, candidate: Files, paths: list[str], renames: tuple[Rename, ...]) -> list[TestEdit]:
    old = {path: units_of(base[path]) for path in paths if path in base}
    new = {path: units_of(candidate[path]) for path in paths if path in candidate}
    changed = [path for path in paths if base.get(path) != candidate.get(path)]
    elsewhere: dict[str, str] = {}
    for path in paths:
        for name, unit in (new.get(path) or {}).items():
            kept = (old.get(path) or {}).get(name)
            if kept is None or spelled(kept, renames) != spelled(unit, renames):
                elsewhere.setdefault(f"{unit.test} {spelled(unit, renames, '_')}", f"{path}::{name}")
    found: list[TestEdit] = []
    for path in changed:
        if path not in base:
            continue
        before, after = old[path], new.get(path)
        if before is None:
            kind = EditKind.DELETED if path not in candidate else EditKind.CHANGED
            found.append(TestEdit(kind=kind, id=path, path=path, before=excerpt(base[path])))
            continue
        if after is None and path in candidate:
            found.append(
                TestEdit(
                    kind=EditKind.CHANGED,
                    id=path,
                    path=path,
                    before=excerpt(base[path]),
                    after=excerpt(candidate[path]),
                )
            )
            continue
        fresh = {name: unit for name, unit in (after or {}).items() if name not in before}
        for name, unit in before.items():
            edit = _unit_edit(path, unit, (after or {}).get(name), elsewhere, renames)
            if edit is not None and edit.kind is EditKind.DELETED:
                heir = next((one for one in fresh.values() if same_under_another_name(unit, one, renames)), None)
                if heir is not None:
                    del fresh[heir.name]
                    place = f"{path}::{heir.name}"
                    edit = replace(edit, kind=EditKind.SAME_SHAPE, now=place, line=heir.line, after=heir.text)
            if edit is not None and edit.kind is EditKind.DELETED and unit.test:
                tables = [one for units in new.values() for one in (units or {}).values() if one.test]
                table = next((one for one in tables if taken_up(unit, one, renames)), None)
                if table is not None:
                    place = next(other for other, units in new.items() if table in (units or {}).values())
                    edit = replace(edit, kind=EditKind.MOVED, now=f"{place}::{table.name}")
                elif kept := next((one for one in fresh.values() if kept_inside(unit, one, renames)), None):
                    edit = replace(edit, kind=EditKind.MOVED, now=f"{path}::{kept.name}")
                else:
                    words = tokens(path, unit.text)
                    tests = [one for one in fresh.values() if one.test]
                    again = next((one for one in tests if asks_the_same(words, tokens(path, one.text))), None)
                    edit = replace(edit, now=f"{path}::{again.name}") if again else edit
            if edit is not None:
                found.append(edit)
    return found


def _unit_edit(
    path: str, unit: Unit, now: Unit | None, elsewhere: Mapping[str, str], renames: tuple[Rename, ...]
) -> TestEdit | None:
    id = f"{path}::{unit.name}"
    if now is not None:
        if spelled(unit, renames) == spelled(now, renames) and unit.test == now.test:
            return None
        kind = compare(unit, now, renames)
        return TestEdit(
            kind=kind, id=id, path=path, line=now.line, now=id, test=unit.test, before=unit.text, after=now.text
        )
    moved = elsewhere.get(f"{unit.test} {spelled(unit, renames, '_')}", "")
    kind = EditKind.MOVED if moved else EditKind.DELETED
    return TestEdit(kind=kind, id=id, path=path, line=unit.line, now=moved, test=unit.test, before=unit.text, after="")


def excerpt(data: bytes) -> str:
    return data.decode("utf-8", "replace")[:MOST_EXCERPT]


def _plain_edit(path: str, before: bytes, after: bytes) -> TestEdit:
    """A program that a command runs is one test: what it adds is told from everything else."""
    kind = EditKind.STRONGER if adds_only(path, before, after) else EditKind.CHANGED
    if kind is EditKind.CHANGED and same_but_for_texts(path, before, after):
        kind = EditKind.SAME_SHAPE
    return TestEdit(kind=kind, id=path, path=path, now=path, before=excerpt(before), after=excerpt(after))


def _text_edits(
    base: Files, candidate: Files, path: str, wanted: Iterable[str], renames: tuple[Rename, ...]
) -> list[TestEdit]:
    """Other languages: a question only where a test disappears, is skipped, or asserts less than it did."""

    def blocks(file: str, data: bytes) -> list[Block]:
        return [replace(block, body=under_renames(block.body, renames)) for block in blocks_of(file, data)]

    old = blocks(path, base[path])
    now = blocks(path, candidate[path]) if path in candidate else []
    everywhere = {
        block.body: f"{other}::{block.name}"
        for other in wanted
        if other in candidate and other != path
        for block in blocks(other, candidate[other])
    }
    names = {block.name: block for block in now}
    found = []
    for block in old:
        there = names.get(block.name)
        if there is not None and (there.body == block.body or fewer_imports(path, block.text, there.text)):
            continue
        place = f"{path}::{block.name}" if block.name != REST else path
        kind: EditKind
        if there is None:
            renamed = next((b for b in now if b.body == block.body), None)
            where = f"{path}::{renamed.name}" if renamed else everywhere.get(block.body, "")
            kind = EditKind.MOVED if where else EditKind.DELETED
            known = {one.name for one in old}
            fresh = [one for one in now if one.test and one.name not in known and block.test]
            again = next((one for one in fresh if not where and asks_the_same(block.body, one.body)), None)
            where = f"{path}::{again.name}" if again else where
        else:
            where, kind = place, _KINDS[text_edit(block, there)]
        found.append(
            TestEdit(
                kind=kind,
                id=place,
                path=path,
                line=there.line if there else block.line,
                now=where,
                test=block.test or len(old) == 1,
                before=block.text[:MOST_EXCERPT],
                after=there.text[:MOST_EXCERPT] if there else "",
            )
        )
    return found


_KINDS: dict[str, EditKind] = {kind.value: kind for kind in EditKind}
