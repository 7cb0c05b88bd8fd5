"""Assertions of a new test that its run never came to: a loop over what is used up, code behind a `raise`. Pure.

Branches are left out (`if`, `match`): a test may know platforms. A loop that turns no round is not, and neither is an
`except` that alone asserts: where nothing is raised, the test says nothing.
"""

from __future__ import annotations

import ast
import unittest
from collections.abc import Collection, Iterator

from engine.perform.checks import python_source

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = frozenset(name for name in dir(unittest.TestCase) if name.startswith("assert"))


def never_reached(source: bytes, name: str, lines: Collection[int]) -> int:
    """The line of the first assertion of the test (`Class::name`) that is not among the lines it reached; 0: none.

    Functions inside of it count: what only a thread or a coroutine that nobody awaits would assert is not asserted.
    """
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return 0
    function = _found(tree, name.partition("[")[0].split("::"))
    if function is None:
        return 0
    for group in _assertions(function.body):
        if not any(node.lineno <= line <= (node.end_lineno or node.lineno) for node in group for line in lines):
            return group[0].lineno
    return 0


def _found(node: ast.Module | ast.ClassDef, names: list[str]) -> Function | None:
    for item in node.body:
        if isinstance(item, ast.ClassDef) and len(names) > 1 and item.name == names[0]:
            return _found(item, names[1:])
        if isinstance(item, Function) and names == [item.name]:
            return item
    return None


def _assertions(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Statements that assert, in the test itself and in its loops and blocks; of a group one has to be reached."""
    for node in body:
        match node:
            case ast.Assert(test=ast.Constant()):
                pass  # assert False: what must never be called
            case ast.Assert():
                yield [node]
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                if name in _OWN:  # where a helper of the project asserts is another place
                    yield [node]
            case ast.Try(body=tried, handlers=handlers, orelse=otherwise, finalbody=last):
                some = [*_assertions(tried), *_assertions(otherwise), *_assertions(last)]
                yield from some
                told = [node for handler in handlers for group in _assertions(handler.body) for node in group]
                if told and not some and not any(_gives_up(one) for one in (*tried, *otherwise)):
                    yield told
            case (
                ast.For()
                | ast.AsyncFor()
                | ast.While()
                | ast.With()
                | ast.AsyncWith()
                | ast.FunctionDef()
                | ast.AsyncFunctionDef()
            ):
                yield from _assertions(node.body)


def _gives_up(node: ast.stmt) -> bool:
    """`raise`, `return`, `self.fail()`, `assert False`, or a call that may well be one of these."""
    if isinstance(node, ast.Raise | ast.Return | ast.Assert):
        return True
    text = ast.unparse(node)
    return isinstance(node, ast.Expr) and ("fail" in text or "unreachable" in text)
