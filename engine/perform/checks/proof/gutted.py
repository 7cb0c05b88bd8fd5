"""A change with everything it adds emptied: a test that still passes then never looked at it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from engine.perform.checks import python_source
from engine.perform.checks.proof.gutted_text import LANGUAGES, NOTHING, SOMETHING, gutted_text
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.run.trees import Trees

TRUE, FALSE = "NotImplementedError", "None"
"""Two answers that mean nothing: a test that is content with both never looked."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def gutted_tree(trees: Trees, tree: str, owned: Sequence[Owned], answer: str = TRUE, words: str = "") -> str | None:
    """`tree` with the bodies of new and changed functions, classes and constants of the subject taken out.

    None where there is nothing to take out.
    """
    files: dict[str, bytes | None] = {}
    for one in owned:
        if one.owner is not Owner.SUBJECT or one.after is None:
            continue
        language = language_of(one.path)
        if one.path.endswith(".py"):
            emptied = gutted(one.before or b"", one.after, answer, words, exports=one.path.endswith("__init__.py"))
        elif language in LANGUAGES:
            emptied = gutted_text(one.before or b"", one.after, language, SOMETHING if answer == TRUE else NOTHING)
        else:
            continue
        if emptied is not None:
            files[one.path] = emptied
    return trees.edit(tree, files) if files else None


def gutted(before: bytes, after: bytes, answer: str = TRUE, words: str = "", *, exports: bool = False) -> bytes | None:
    """`after`, with what it adds to `before` or changes of it doing nothing; None where that is nothing.

    A constant is something only where the task's words name it: any change can bring one in for its test to find.
    """
    try:
        old, new = python_source.parse(before), python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return None
    count = _empty(old.body, new.body, answer, words)
    count += _unexport(old, new, answer) if exports else 0
    return ast.unparse(ast.fix_missing_locations(new)).encode() if count else None


def _empty(old: list[ast.stmt], new: list[ast.stmt], answer: str, words: str) -> int:
    had = {name: node for node in old for name in _names(node)}
    count = 0
    for node in new:
        for name in _names(node):
            known = had.get(name)
            if known is not None and ast.dump(known) == ast.dump(node):
                continue
            if isinstance(node, Function):
                node.body = _refusal() if node.name.startswith("__") else _inert(answer)
                count += 1
            elif isinstance(node, ast.ClassDef):
                if isinstance(known, ast.ClassDef):
                    count += _empty(known.body, node.body, answer, words)
                elif not _is_error(node):
                    node.body = _stub()
                    node.decorator_list = []
                    node.keywords = []
                    node.bases = []
                    count += 1
            elif isinstance(node, ast.Assign) and re.search(rf"\b{re.escape(name)}\b", words):
                node.value = ast.Constant(value=None)
                count += 1
    return count


def _unexport(old: ast.Module, new: ast.Module, answer: str) -> int:
    """Names that a package newly hands on from its own modules."""

    def exported(tree: ast.Module) -> set[str]:
        inside = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level]
        return {alias.asname or alias.name for node in inside for alias in node.names}

    fresh = sorted(exported(new) - exported(old) - {"*"})
    new.body += [
        node for name in fresh for node in python_source.parse(f"{name} = lambda *args, **kwargs: {answer}").body
    ]
    return len(fresh)


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
    return []


def _is_error(node: ast.ClassDef) -> bool:
    """An exception is named where it is raised; emptied it would fail where nobody raises it."""
    return any("Error" in ast.unparse(base) or "Exception" in ast.unparse(base) for base in node.bases)


def _refusal() -> list[ast.stmt]:
    return python_source.parse("raise NotImplementedError('taken out')").body


def _inert(answer: str) -> list[ast.stmt]:
    """One and the same answer to everything: a test that asks nothing of it, or compares it with itself, passes."""
    return python_source.parse(f"return {answer}").body


def _stub() -> list[ast.stmt]:
    return python_source.parse("def __init__(self, *args, **kwargs):\n    raise NotImplementedError('taken out')").body
