"""A loop over values that are written down, as the statements that it stands for. Pure, Python only.

`for wrong in ([], {}): with self.subTest(wrong=wrong): assert …` asserts as often as there are values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function, is_assertion
from engine.perform.checks.proof.suspicious import dotted

MOST = 200
"""Statements that a loop may become."""

Same = Callable[[ast.AST, ast.AST], bool]


def written_out(node: ast.AST) -> ast.AST:
    """A copy of a function with its plain loops as statements; anything else as it is."""
    if not isinstance(node, Function):
        return node
    copied = python_source.copied(node)
    copied.body = [one for statement in copied.body for one in _statements(statement)]
    return ast.fix_missing_locations(copied)


def _statements(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.For(target=target, iter=(ast.Tuple() | ast.List()) as values, body=body, orelse=[]):
            pass
        case _:
            return [statement]
    names = [target.id] if isinstance(target, ast.Name) else _names(target)
    if not names or len(values.elts) * len(body) > MOST or not all(_plain(one) for one in body):
        return [statement]
    found: list[ast.stmt] = []
    for value in values.elts:
        parts = [value] if isinstance(target, ast.Name) else list(getattr(value, "elts", ()))
        if len(parts) != len(names) or any(isinstance(part, ast.Starred) for part in parts):
            return [statement]
        put = _Put(dict(zip(names, parts, strict=True)))
        found += [put.visit(python_source.copied(one)) for inner in body for one in _bare(inner)]
    return found


def _names(target: ast.expr) -> list[str]:
    elts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return [one.id for one in elts if isinstance(one, ast.Name)] if all(isinstance(o, ast.Name) for o in elts) else []


def _bare(statement: ast.stmt) -> list[ast.stmt]:
    """Without `with self.subTest(…)`, which only names the row."""
    match statement:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func), optional_vars=None)], body=body):
            return body if dotted(func).endswith(".subTest") else [statement]
    return [statement]


def _plain(statement: ast.stmt) -> bool:
    """Nothing that ends the round early or binds a name."""
    leaving = (ast.Continue, ast.Break, ast.Return, ast.Try, ast.If, ast.For, ast.While, ast.Assign, ast.NamedExpr)
    return not any(isinstance(node, leaving) for node in ast.walk(statement))


class _Put(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return python_source.copied(self.values[node.id]) if node.id in self.values else node


def in_any_order(old: ast.AST, new: ast.AST, same: Same) -> bool:
    """Assertions that follow the same preparation and stand in another order, some perhaps added; `same`: but for
    constants and arguments."""
    if not (isinstance(old, Function) and isinstance(new, Function)) or ast.dump(old.args) != ast.dump(new.args):
        return False
    if [ast.dump(one) for one in old.decorator_list] != [ast.dump(one) for one in new.decorator_list]:
        return False
    (before, asserted), (prepared, made) = _split(old.body), _split(new.body)
    if not asserted or len(made) < len(asserted) or [*map(ast.dump, before)] != [*map(ast.dump, prepared)]:
        return False
    left = list(made)
    for one in asserted:
        at = _nearest(one, left, same)
        if at is None:
            return False
        del left[at]
    return True


def _nearest(one: ast.stmt, left: Sequence[ast.stmt], same: Same) -> int | None:
    """The statement that differs least: with the same arguments before any other."""
    alike = [at for at, other in enumerate(left) if same(one, other)]
    wanted = _arguments(one)
    return next((at for at in alike if _arguments(left[at]) == wanted), alike[0] if alike else None)


def _arguments(statement: ast.stmt) -> list[str]:
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return [ast.dump(arg) for call in calls for arg in call.args[1:]]


def _split(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """(what prepares, the assertions behind it); no assertions where something else stands among them."""
    at = next((number for number, one in enumerate(body) if _asserts(one)), len(body))
    rest = list(body[at:])
    return list(body[:at]), rest if all(_asserts(one) for one in rest) else []


def _asserts(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call() as call):
            return is_assertion(call)
    return False
