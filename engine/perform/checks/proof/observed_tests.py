"""A copy of a test that does not assert: it tells what it saw, by the exception it ends with. Pure, Python only."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from engine.perform.checks import python_source

Function = ast.FunctionDef | ast.AsyncFunctionDef


def observed(function: Function, name: str) -> Function:
    made = python_source.copied(function)
    made.name = name
    made.returns = None
    body = [_Observe().visit(statement) for statement in made.body]
    heard = python_source.parse("try:\n    pass\nexcept Exception as _error:\n    _seen.see(_error)").body[0]
    assert isinstance(heard, ast.Try)  # noqa: S101
    heard.body = body
    made.body = [*python_source.parse("_seen = _Seen()").body, heard, *python_source.parse("raise _seen").body]
    return made


class _Observe(ast.NodeTransformer):
    """Assertions become statements of what they look at."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return python_source.parse("raise _seen").body[0]

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return _see([test.left, *test.comparators])
        return _see([test])

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr), args=[_, *_] as args) if (
                attr.startswith("assert") and "Raises" not in attr and "Warns" not in attr
            ):
                return _see(args)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        if len(node.items) == 1 and node.items[0].optional_vars is None:
            text = ast.unparse(node.items[0].context_expr)
            if text.startswith(("pytest.raises(", "self.assertRaises")):
                made = python_source.parse("try:\n    pass\nexcept Exception as _error:\n    _seen.see(_error)").body[0]
                assert isinstance(made, ast.Try)  # noqa: S101
                made.body = [
                    *(self.visit(one) for one in node.body),
                    *python_source.parse("_seen.see('no error')").body,
                ]
                return made
        self.generic_visit(node)
        return node


def _see(values: Sequence[ast.expr]) -> ast.stmt:
    call = python_source.parse("_seen.see()").body[0]
    assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)  # noqa: S101
    call.value.args = list(values)
    return call


SEEN = '''
import unittest as _unittest


class _Seen(_unittest.SkipTest):
    """What a copy of a test saw, as the runner will report it: a skip costs a runner a tenth of a failure."""

    def __init__(self):
        super().__init__()
        self.told = []

    def see(self, *values):
        import hashlib
        import re

        for value in values:
            if len(self.told) >= 14 or value is self:
                continue
            if isinstance(value, BaseException):
                shape, text = "!" + type(value).__name__, str(value)
            else:
                shape, text = self.shape(value), self.text(value)
            text = re.sub(r" at 0x[0-9a-f]+|[^ '\\"]*pytest-of-[^ '\\"]*", "", text)
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
            self.told.append([shape[:30], digest, ascii(text)[1:25]])

    def shape(self, value):
        kind = type(value).__name__
        if isinstance(value, (list, tuple, set, frozenset)):
            return kind + "[" + ",".join(sorted({type(item).__name__ for item in list(value)[:20]})) + "]"
        return kind

    def text(self, value):
        if isinstance(value, (set, frozenset)):
            return repr(sorted(map(repr, value)))
        if type(value).__repr__ is object.__repr__ and hasattr(value, "__dict__"):
            return type(value).__name__ + repr(sorted(vars(value).items(), key=str))
        return repr(value)

    def __str__(self):
        import json

        return "SEEN" + json.dumps(self.told)
'''
