"""New conditions by a literal that nobody named: does a test tell them from always? Pure, Python only.

`if cents % 10 == 0 and ways == 3` fits its test and little else. With `ways == 3` always true every test is as green as
before: the tests show a wider rule than the one that was written, or the condition stands for the test's input alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.core.model import Struct
from engine.perform.checks.proof.changed_lines import changed_lines

MOST = 2
SMALL = frozenset({"0", "1", "2", "-1", "", "None", "True", "False", "0.0", "1.0"})


class Condition(Struct, frozen=True, kw_only=True):
    """One condition, and the file with what it would always be in its place."""

    line: int
    text: str
    always: bool
    source: bytes


def conditions(before: bytes, after: bytes, words: str) -> list[Condition]:
    """Parts of an "and" or an "or", and ends of a range, on new lines, by a literal that the task does not have."""
    try:
        tree = ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = changed_lines(before, after)
    found = []
    for node, always in _atoms(tree):
        strange = [one for one in _literals(node) if one not in SMALL and not _said(one, words)]
        if node.lineno in lines and strange and (source := _put(after, node, always)) is not None:
            shown = node.shown if isinstance(node, _Ranged) else ast.unparse(node)
            found.append(Condition(line=node.lineno, text=shown[:60], always=always, source=source))
    return found[:MOST]


def _atoms(tree: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Conditions that are not made of others, each with what takes it out: a part of an "and" is true without it."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield from _parts(test)
            case ast.comprehension(ifs=ifs):
                for test in ifs:
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


def _literals(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant):
            yield str(one.value)


def _said(value: str, words: str) -> bool:
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
