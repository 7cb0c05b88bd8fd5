"""New conditions by a literal that nobody named: does a test tell them from always? Pure, Python only.

`if cents % 10 == 0 and ways == 3` fits its test and little else. With `ways == 3` always true every test is as green as
before: the tests show a wider rule than the one that was written, or the condition stands for the test's input alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.given_python import given, idle

MOST = 2
MOST_IDLE = 4
SMALL = frozenset({"0", "1", "2", "-1", "", "None", "True", "False", "0.0", "1.0"})


class Condition(Struct, frozen=True, kw_only=True):
    """One condition, and the file with what it would always be in its place."""

    line: int
    text: str
    always: bool
    source: bytes
    idle: bool = False
    """It hangs on nothing that the function is given."""


def conditions(before: bytes, after: bytes, words: str) -> list[Condition]:
    """Parts of an "and" or an "or", and ends of a range, on new lines, by a literal that the task does not have.

    Before them conditions, whole ones too, that hang on nothing that is given.
    """
    try:
        old, tree = python_source.parse(before), python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = changed_lines(before, after)
    had = {ast.unparse(node) for node, _ in (*_atoms(old), *_wholes(old))}
    names = given(tree)
    loose, strange = [], []
    for node, always in (*_atoms(tree), *_wholes(tree)):
        if node.lineno not in lines or (not isinstance(node, _Ranged) and ast.unparse(node) in had):
            continue
        told = spoken(_names(node), words) or any(said(one, words) for one in _literals(node) if one not in SMALL)
        if not isinstance(node, _Ranged) and idle(tree, node, names) and not told:
            loose += _one(after, node, always, idle=True)
    for node, always in _atoms(tree):
        far = any(one not in SMALL and not said(one, words) for one in _literals(node, keys=False))
        if node.lineno in lines and far and not _guards(tree, node):
            strange += _one(after, node, always, idle=False)
    return [*loose[:MOST_IDLE], *strange[:MOST]]


def _one(after: bytes, node: ast.expr, always: bool, *, idle: bool) -> list[Condition]:
    source = _put(after, node, always)
    shown = node.shown if isinstance(node, _Ranged) else ast.unparse(node)
    made = Condition(line=node.lineno, text=shown[:60], always=always, source=source or b"", idle=idle)
    return [made] if source is not None else []


NEAR = 3
"""Lines behind a condition on a length in which its list is looked into."""


def _guards(tree: ast.AST, node: ast.expr) -> bool:
    """`len(args) == 3` before `args[2]`: without it the program looks where nothing is."""
    match node:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]), comparators=[ast.Constant()]
        ):
            return any(
                isinstance(one, ast.Subscript)
                and isinstance(one.value, ast.Name)
                and one.value.id == name
                and 0 <= one.lineno - node.lineno <= NEAR
                for one in ast.walk(tree)
            )
    return False


def _names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def spoken(names: set[str], words: str) -> bool:
    """The task has one of the names, or a part of it (`MAX_AGE`, `maxAge`)."""
    parts = {part.lower() for name in names for part in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}|\w{3,}", name)}
    return any(re.search(rf"\b{re.escape(part)}", words, re.IGNORECASE) for part in parts if len(part) > 2)


def _wholes(tree: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Conditions that are not made of others, with either thing that may stand for them."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.BoolOp):
                yield test, True
                yield test, False


def _atoms(tree: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Conditions that are not made of others, each with what takes it out: a part of an "and" is true without it."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield from _parts(test)
            case ast.comprehension(ifs=ifs):
                for test in ifs:
                    yield from _parts(test)
            case ast.Return(value=ast.BoolOp() as test) | ast.Assign(value=ast.BoolOp() as test):
                yield from _parts(test)


def _parts(test: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    match test:
        case ast.BoolOp(op=op, values=values):
            for value in values:
                if isinstance(value, ast.BoolOp):
                    yield from _parts(value)
                else:
                    yield value, isinstance(op, ast.And)
        case ast.Compare(left=left, ops=[first, second], comparators=[middle, right]):
            ends = (ast.Compare(left=left, ops=[first], comparators=[middle]), ast.Compare(middle, [second], [right]))
            for end, rest in (ends, ends[::-1]):
                yield _Ranged(test, end, rest), True


class _Ranged(ast.Compare):
    """One end of a range, with the place of the whole and what is left without it."""

    def __init__(self, whole: ast.Compare, end: ast.Compare, rest: ast.Compare) -> None:
        super().__init__(left=end.left, ops=end.ops, comparators=end.comparators)
        ast.copy_location(self, whole)
        self.shown, self.rest = ast.unparse(end), ast.unparse(rest)


def _literals(node: ast.AST, *, keys: bool = True) -> Iterator[str]:
    """`keys`: also those that only say where in something to look."""
    places = (
        set() if keys else {id(inner) for one in ast.walk(node) for place in _places(one) for inner in ast.walk(place)}
    )
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and id(one) not in places:
            yield str(one.value)


def _places(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Subscript(slice=place):
            return [place]
        case ast.Call(func=ast.Attribute(attr="get"), args=[place, *_]):
            return [place]
    return []


def said(value: str, words: str) -> bool:
    bare = value.removesuffix(".0")
    return re.search(rf"(?<![\w.]){re.escape(bare)}(?![\w]|\.\d)", words) is not None


def _put(after: bytes, node: ast.expr, always: bool) -> bytes | None:
    lines = after.splitlines(keepends=True)
    if node.end_lineno is None or node.end_col_offset is None:
        return None
    head = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    tail = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    instead = node.rest if isinstance(node, _Ranged) else str(always)
    text = head + f"({instead})".encode() + tail
    try:
        compile(text, "without a condition", "exec")
    except (SyntaxError, ValueError):
        return None
    return text
