"""A test that asks the same questions and expects other answers, written out in another form. Pure.

A change of behaviour may alter what an old test expects. The expectation need not keep its form: one line of text may
become a list of lines. What must stay: every step of the test, and a comparison for equality with a value that is
written out, of everything that was called for the old comparison.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

from engine.perform.checks.proof.integrity_python import Function

PLAIN = (ast.Expr, ast.Assign, ast.Assert)
"""Statements that may come in between: they cannot keep the others from running."""

Same = Callable[[ast.AST, ast.AST], bool]


def retold(old: ast.AST, new: ast.AST, same: Same) -> bool:
    """`same`: of two pieces, whether they differ in constants and arguments only."""
    if not (isinstance(old, Function) and isinstance(new, Function)) or type(old) is not type(new):
        return False
    marks = [[ast.dump(one) for one in node.decorator_list] for node in (old, new)]
    if marks[0] != marks[1] or ast.dump(old.args) != ast.dump(new.args):
        return False
    at, known = 0, {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}
    for statement in new.body:
        if at < len(old.body) and (same(old.body[at], statement) or _same_question(old.body[at], statement)):
            at += 1
        elif not isinstance(statement, PLAIN) or _leaves(statement) or _bound(statement) & known:
            return False
    return at == len(old.body)


def _same_question(old: ast.stmt, new: ast.stmt) -> bool:
    was, now = _compared(old), _compared(new)
    if was is None or now is None:
        return False
    return not _called(was) - _called(now) and bool(_called(was))


def _compared(statement: ast.stmt) -> ast.expr | None:
    """The side of `assert … == value` that is not written out; None for any other statement."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            sides = [side for side in (left, right) if not _written_out(side)]
            return sides[0] if len(sides) == 1 else None
    return None


def _written_out(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _called(value: ast.expr) -> Counter[str]:
    """What is called, by name, with how many of what."""
    return Counter(ast.dump(node.func) for node in ast.walk(value) if isinstance(node, ast.Call))


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement gives a value, by its form: the canonical tree does not keep what is stored."""
    targets = list(statement.targets) if isinstance(statement, ast.Assign) else []
    targets += [node.target for node in ast.walk(statement) if isinstance(node, ast.NamedExpr)]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _leaves(statement: ast.stmt) -> bool:
    """A call that ends the test early."""
    words = {"skip", "xfail", "fail", "exit", "skipTest", "_exit", "importorskip"}
    names = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return bool(names & words)
