"""What Python code is given, by its names: parameters, and what is made of them. Pure.

As in `given_text`, too much rather than too little: a name that is a parameter of one function is one everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

ROUNDS = 6
SETTLED = frozenset({"__name__", "TYPE_CHECKING", "version_info", "platform", "implementation", "os"})
"""What a module may ask when it is loaded: as what, by which Python, on which system."""


def idle(tree: ast.Module, node: ast.expr, names: frozenset[str]) -> bool:
    """A condition with a name in it, and none that is given."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return bool(found) and not found & names and not (found | attributes) & SETTLED


def given(tree: ast.Module) -> frozenset[str]:
    shared = {name for node in tree.body for name in _stored(node)}
    found = {arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in _arguments(node)}
    found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    steps = list(_steps(tree))
    put = [name for into, _ in steps for name in into]
    found |= {name for name in put if put.count(name) > 1} - shared  # by the way that was taken
    for _ in range(ROUNDS):
        size = len(found)
        for into, of in steps:
            if (of | into) & found:
                found |= into - shared
        if len(found) == size:
            break
    return frozenset(found)


def _arguments(node: ast.arguments) -> Iterator[ast.arg]:
    yield from (*node.posonlyargs, *node.args, *node.kwonlyargs)
    yield from (arg for arg in (node.vararg, node.kwarg) if arg is not None)


def _stored(node: ast.stmt) -> set[str]:
    """Names that a statement of a module sets: they outlive every call."""
    match node:
        case ast.Assign(targets=targets):
            return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _steps(tree: ast.Module) -> Iterator[tuple[set[str], set[str]]]:
    """(what something is put into, what it is made of)."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield _all(*targets), _all(value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                yield _all(target), _all(value)
            case ast.NamedExpr(target=target, value=value):
                yield _all(target), _all(value)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield _all(target), _all(value)
            case ast.comprehension(target=target, iter=value):
                yield _all(target), _all(value)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield _all(target), _all(value)
            case ast.Match(subject=value, cases=cases):
                held = {
                    one.name for case in cases for one in ast.walk(case) if isinstance(one, ast.MatchAs | ast.MatchStar)
                }
                yield {name for name in held if name}, _all(value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=args):
                yield {name}, _all(*args)


def _all(*nodes: ast.AST) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}
