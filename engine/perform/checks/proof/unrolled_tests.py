"""A table of parameters as the statements that it stands for, one row after another. Pure, Python only.

A test that was written out and is parametrised now asserts what it did, in as many runs as there are rows.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function, is_assertion
from engine.perform.checks.proof.suspicious import dotted


def holds_all(old: ast.AST, new: ast.AST) -> bool:
    """Every assertion of `old` is made by a row of `new`, behind the same preparation and nothing else."""
    if not isinstance(old, Function) or not isinstance(new, Function) or type(old) is not type(new):
        return False
    rows = unrolled(new)
    if not rows or old.decorator_list:
        return False
    before, asserted = _parts(old.body)
    if not asserted:
        return False
    needed = {ast.dump(one) for one in asserted}
    given = {arg.arg for arg in (*old.args.args, *old.args.kwonlyargs)}
    made: set[str] = set()
    for body in rows:
        prepared, rest = _parts(body)
        if [ast.dump(one) for one in prepared] == [ast.dump(one) for one in before]:
            made |= {ast.dump(one) for one in rest}
    taken = {arg.arg for arg in (*new.args.args, *new.args.kwonlyargs)} - _names(new)
    return needed <= made and given <= taken


def unrolled(function: Function) -> list[list[ast.stmt]]:
    """The body once for each row of its one table; nothing where the table is not written out."""
    if len(function.decorator_list) != 1:
        return []
    names, rows = _table(function.decorator_list[0])
    found = []
    for row in rows:
        values = [row] if len(names) == 1 else _values(row)
        if len(values) != len(names):
            return []
        put = _Put(dict(zip(names, values, strict=True)))
        found.append([put.visit(python_source.copied(statement)) for statement in function.body])
    return found


def _table(decorator: ast.expr) -> tuple[list[str], list[ast.expr]]:
    match decorator:
        case ast.Call(func=func, args=[names, (ast.List() | ast.Tuple()) as rows]) if dotted(func).endswith(
            "mark.parametrize"
        ):
            return _listed(names), [_bare(row) for row in rows.elts]
    return [], []


def _listed(names: ast.expr) -> list[str]:
    match names:
        case ast.Constant(value=str(text)):
            return [name.strip() for name in text.split(",") if name.strip()]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [one.value for one in elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return []


def _bare(row: ast.expr) -> ast.expr:
    """`pytest.param(1, 2, id="x")` is the row (1, 2); with marks it may not run."""
    match row:
        case ast.Call(func=func, args=args, keywords=keywords) if dotted(func).endswith("param"):
            if all(word.arg == "id" for word in keywords):
                return args[0] if len(args) == 1 else ast.Tuple(elts=args, ctx=ast.Load())
    return row


def _values(row: ast.expr) -> Sequence[ast.expr]:
    return row.elts if isinstance(row, ast.Tuple | ast.List) else [row]


class _Put(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return python_source.copied(self.values[node.id])
        return node


def _parts(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """(what prepares, the assertions behind it); no assertions where something else stands among them."""
    at = next((number for number, one in enumerate(body) if _asserts(one)), len(body))
    rest = list(body[at:])
    return list(body[:at]), rest if all(_asserts(one) for one in rest) else []


def _asserts(node: ast.stmt) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call() as call):
            return is_assertion(call)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func), optional_vars=None)]):
            return dotted(func).rpartition(".")[2] in ("raises", "assertRaises", "assertRaisesRegex", "warns")
    return False


def _names(function: Function) -> set[str]:
    return set(_table(function.decorator_list[0])[0])
