"""The constants of a test that may be another one, and how they are exchanged. Pure."""

from __future__ import annotations

import ast

from engine.perform.checks import python_source
from engine.perform.checks.proof.observed_tests import Function

OF_AN_ANSWER = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "startsWith", "endsWith"})
"""Methods of a text whose argument is what somebody wants to find in it."""
_LEFT_ALONE = frozenset({"match", "reason", "id", "ids", "mode", "encoding", "msg"})
_NAMES_THINGS = frozenset(
    ("setattr", "getattr", "hasattr", "patch", "object", "open", "joinpath", "setenv", "delenv", "getenv", "fixture",
     "skip", "fail", "importorskip", "import_module", "chdir", "warns", "raises", "mkdir")
)  # fmt: skip
_PATHS = frozenset({"Path", "PurePath"})
"""Path(folder, "name.ini")"""


def parameters_of(function: Function) -> ast.List | ast.Tuple:
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[_, (ast.List() | ast.Tuple()) as values, *_]):
                return values
    return ast.List(elts=[], ctx=ast.Load())


def rows_of(function: Function) -> list[ast.expr]:
    """Rows of its parameters, where they are written out and there is one set of them."""
    marked = [one for one in function.decorator_list if "parametrize" in ast.unparse(one)]
    return list(parameters_of(function).elts) if len(marked) == 1 else []


def constants_of(function: Function, row: int | None) -> list[ast.AST]:
    """Constants and written-out lists that go into what the test asks, in their order."""
    found: list[ast.AST] = []
    if row is not None:
        for value in parameters_of(function).elts:
            _gather(value, found)
    for statement in function.body:
        _gather(statement, found)
    return found


def _gather(node: ast.AST, found: list[ast.AST]) -> None:
    match node:
        case ast.Assert(test=test):
            _gather(test, found)
            return
        case ast.Compare(left=left, comparators=comparators):
            if isinstance(left, ast.Constant):
                for one in comparators:
                    _gather(one, found)
            else:
                _gather(left, found)
            return
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.FunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.Subscript(value=value):
            _gather(value, found)
            return
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=str())):
            _gather(left, found)  # folder / "name.ini": another one is not there
            return
        case ast.Call(func=func, args=args, keywords=keywords):
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if isinstance(func, ast.Attribute):
                _gather(func.value, found)
            if name in OF_AN_ANSWER and isinstance(func, ast.Attribute) and not isinstance(func.value, ast.Constant):
                return
            if name.startswith("assert"):
                args = args[:1]
            if name in _PATHS and args and not isinstance(args[0], ast.Constant):
                args = args[:1]
            for one in args:
                if not (name in _NAMES_THINGS and isinstance(one, ast.Constant)):
                    _gather(one, found)
            for word in keywords:
                if word.arg not in _LEFT_ALONE:
                    _gather(word.value, found)
            return
        case ast.Dict(values=values):
            for one in values:
                _gather(one, found)
            return
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            found.append(node.operand)
            return
        case ast.List(elts=elts) if len(elts) > 1:
            found.append(node)
        case ast.Constant():
            found.append(node)
            return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context):
            _gather(child, found)


def put(node: ast.AST, now: str) -> object:
    if isinstance(node, ast.List):
        kept: object = list(node.elts)
        new = python_source.parse(now, mode="eval").body
        node.elts = new.elts if isinstance(new, ast.List) else node.elts
        return kept
    if isinstance(node, ast.Constant):
        kept = node.value
        node.value = ast.literal_eval(now)
        return kept
    return None


def restore(node: ast.AST, kept: object) -> None:
    if isinstance(node, ast.List):
        node.elts = kept  # type: ignore[assignment]
    elif isinstance(node, ast.Constant):
        node.value = kept  # type: ignore[assignment]
