"""Calls of a proof once more, to see whether they leave their arguments as they were. Pure, Python only.

A function that answers and changes what it was given, where the old one did not and nobody asked for it, is wrong
beside every test that writes its arguments out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from engine.perform.checks import python_source
from engine.perform.checks.proof.observed_tests import Function

MOST = 4
_REMEMBER = "    _before = _copy.deepcopy(_given)\n    _same = _given == _before\n"
"""Objects that are equal only to themselves say nothing."""
PREFIX = "test_of_the_task__m"
_ASKED_FOR = re.compile(
    r"\b(?:in[- ]place|mutat\w*|modif(?:y|ies|ied)|updat\w*|remov\w*|delet\w*|append\w*|insert\w*|pop\w*|clear\w*"
    r"|empt(?:y|ies)|consum\w*|drain\w*|fill\w*|shuffl\w*|swap\w*|extend\w*|changes? the)\b",
    re.IGNORECASE,
)


def may_change(words: str) -> bool:
    """The task itself speaks of changing something that is there."""
    return _ASKED_FOR.search(words) is not None


def functions(tree: ast.Module, tests: Iterable[str], imported: set[str]) -> Iterator[tuple[str, ast.stmt]]:
    """A test for each call of an imported function, in one of the tests, with a list or a mapping written out."""
    names = {name.rpartition("::")[2] for name in tests}
    number = 0
    for node in ast.walk(tree):
        if not isinstance(node, Function) or node.name not in names:
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and number < MOST and _plain(call, imported):
                name = f"{PREFIX}{number}"
                given = ", ".join(ast.unparse(one) for one in call.args)
                words = "".join(f", {word.arg}={ast.unparse(word.value)}" for word in call.keywords)
                body = (
                    f"def {name}():\n    import copy as _copy\n    _given = [{given}]\n"
                    f"{_REMEMBER}    _told = {ast.unparse(call.func)}(*_given{words})\n"
                    "    assert _told is None or not _same or _given == _before\n"
                    f"{_turned(call, words)}"
                )
                number += 1
                yield name, python_source.parse(body).body[0]


def _turned(call: ast.Call, words: str) -> str:
    """The same with every list the other way round: what was written in order shows nothing of a sort."""
    if not any(isinstance(one, ast.List) and len(one.elts) > 1 for one in call.args):
        return ""
    turned = [
        ast.unparse(ast.List(elts=one.elts[::-1], ctx=ast.Load()) if isinstance(one, ast.List) else one)
        for one in call.args
    ]
    return (
        f"    _given = [{', '.join(turned)}]\n{_REMEMBER}"
        f"    try:\n        _told = {ast.unparse(call.func)}(*_given{words})\n"
        "    except Exception:\n        _told = None\n"
        "    assert _told is None or not _same or _given == _before\n"
    )


def _plain(call: ast.Call, imported: set[str]) -> bool:
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in imported or root.id in ("pytest", "unittest", "json", "copy"):
        return False
    values = [*call.args, *(word.value for word in call.keywords)]
    if not any(isinstance(one, ast.List | ast.Dict | ast.Set) for one in call.args):
        return False
    if any(isinstance(one, ast.Starred) for one in values) or any(word.arg is None for word in call.keywords):
        return False
    return all(_known(one, imported) for one in values)


def _known(value: ast.expr, imported: set[str]) -> bool:
    """Written out, or made by something that the file imports."""
    return all(node.id in imported for node in ast.walk(value) if isinstance(node, ast.Name)) and not any(
        isinstance(node, ast.Lambda | ast.Await | ast.NamedExpr | ast.Yield) for node in ast.walk(value)
    )
