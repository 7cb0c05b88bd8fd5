"""conftest.py: new fixtures and functions are everyday work; hooks, autouse and changes to old fixtures are not."""

from __future__ import annotations

import ast

from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import suspicious_python

RESERVED = ("collect_ignore", "collect_ignore_glob", "pytest_plugins")


def conftest_steering(before: bytes | None, after: bytes | None) -> list[str]:
    """Why this change to a conftest.py must come from the base; empty when it only adds harmless things."""
    if after is None:
        return ["removed"]
    try:
        old = python_source.parse(before or b"")
        new = python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return ["is not readable"]
    had = {ast.dump(node) for node in old.body}
    names = {name for node in old.body for name in _names(node)}
    has = {ast.dump(node) for node in new.body}
    lost = [
        node for node in old.body if ast.dump(node) not in has and not isinstance(node, ast.Import | ast.ImportFrom)
    ]
    reasons = [
        f"{(_names(node) or [f'line {node.lineno}'])[0]} was taken away or changed"
        for node in lost
        if not _docstring(node)
    ]
    for node in new.body:
        if ast.dump(node) in had:
            continue
        reasons += _untame(node, names)
    reasons += [finding for _, _, finding in suspicious_python(after, before or b"", test=True)]
    return list(dict.fromkeys(reasons))


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name for alias in node.names]
    return []


def _untame(node: ast.stmt, names: set[str]) -> list[str]:
    match node:
        case ast.Import() | ast.ImportFrom():
            module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            return (
                [f"imports {module}"]
                if module.partition(".")[0] in ("_pytest", "pluggy", "gc", "ctypes", "atexit")
                else []
            )
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if node.name.startswith("pytest_"):
                return [f"hook {node.name}"]
            if node.name in names:
                return [f"{node.name} was changed"]
            return [f"fixture {node.name} is used by every test" for d in node.decorator_list if _autouse(d)]
        case ast.Assign() | ast.AnnAssign():
            taken = [name for name in _names(node) if name in RESERVED or name in names]
            simple = _names(node) and all(
                isinstance(t, ast.Name) for t in getattr(node, "targets", [node.__dict__.get("target")])
            )
            if taken:
                return [f"{taken[0]} was set"]
            return [] if simple and not _calls(node) else [f"line {node.lineno} runs code when it is loaded"]
        case ast.ClassDef():
            return [f"class {node.name} was changed"] if node.name in names else []
        case ast.Expr(value=ast.Constant()):
            return []
    return [f"line {node.lineno} runs code when it is loaded"]


def _autouse(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "autouse" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in decorator.keywords
    )


def _calls(node: ast.stmt) -> bool:
    """A call at load time, other than of a type or function whose name says that it only builds a value."""
    builders = {
        "Path",
        "frozenset",
        "set",
        "dict",
        "list",
        "tuple",
        "compile",
        "timedelta",
        "date",
        "datetime",
        "Decimal",
    }
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in builders:
            return True
    return False


def conftest_hooks(before: bytes | None, after: bytes | None) -> list[str]:
    """What of a changed conftest.py acts on tests that do not ask for it: hooks, autouse, code that runs on loading."""
    if after is None:
        return []
    try:
        old, new = python_source.parse(before or b""), python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return ["is not readable"]
    had = {ast.dump(node) for node in old.body}
    return [
        reason
        for node in new.body
        if ast.dump(node) not in had
        for reason in _untame(node, set())
        if not isinstance(node, ast.Import | ast.ImportFrom) or reason
    ]
