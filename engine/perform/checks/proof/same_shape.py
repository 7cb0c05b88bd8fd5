"""Two versions of a test that differ in constants alone. Pure."""

from __future__ import annotations

import ast

from engine.perform.checks.proof.integrity_python import is_assertion
from engine.perform.checks.proof.suspicious import dotted

BROAD = frozenset({"Exception", "BaseException", "object"})
RAISES = frozenset({"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "deprecated_call"})


def same_shape(old: ast.AST, new: ast.AST) -> bool:
    """Equal but for constants and the arguments of calls; every call that was made still is."""
    if literal(old) and literal(new):
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        return _same_call(old, new)
    for field in old._fields:
        a, b = getattr(old, field, None), getattr(new, field, None)
        if field in ("ctx", "type_comment", "kind"):
            continue
        if isinstance(a, ast.AST) and isinstance(b, ast.AST):
            if not same_shape(a, b):
                return False
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b) or not all(_same_item(x, y) for x, y in zip(a, b, strict=True)):
                return False
        elif a != b:
            return False
    return True


def _same_item(old: object, new: object) -> bool:
    return same_shape(old, new) if isinstance(old, ast.AST) and isinstance(new, ast.AST) else old == new


def _same_call(old: ast.Call, new: ast.Call) -> bool:
    if not same_shape(old.func, new.func):
        return False
    name = dotted(old.func).rpartition(".")[2]
    if name in RAISES:
        return _calls(old) == _calls(new) and not _broadened(old, new)
    if is_assertion(old):
        return (
            len(old.args) == len(new.args)
            and all(map(same_shape, old.args, new.args))
            and len(old.keywords) == len(new.keywords)
        )
    return _calls(old) == _calls(new)


def _calls(node: ast.Call) -> list[str]:
    """What is called inside the arguments, in order."""
    inside = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [dotted(n.func) for part in inside for n in ast.walk(part) if isinstance(n, ast.Call)]


def _broadened(old: ast.Call, new: ast.Call) -> bool:
    had, has = (
        {n.id for arg in call.args[:1] for n in ast.walk(arg) if isinstance(n, ast.Name)} for call in (old, new)
    )
    lost_match = any(k.arg == "match" for k in old.keywords) and not any(k.arg == "match" for k in new.keywords)
    return bool(has & BROAD - had) or len(has) > len(had) or lost_match


def literal(node: ast.AST) -> bool:
    """A value written out: a constant, its negative, or a collection of such."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return literal(operand)
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            return all(literal(e) for e in elts)
        case ast.Dict(keys=keys, values=values):
            return all(k is not None and literal(k) for k in keys) and all(literal(v) for v in values)
    return False
