"""The fix is in the test: it puts what the change adds in the place of a part of the program, which has none of it.

A test may replace a clock, a socket, a slow part. What it puts there is its own. Code that the change adds, that
nothing of the program calls, and that a test hangs into the program is not done. Pure, Python and JavaScript; it asks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function
from engine.perform.checks.proof.narrow import Narrow, Source
from engine.perform.checks.proof.replaced_parts import statement_end
from engine.perform.checks.proof.source_text import JAVASCRIPT

_DEFINED = re.compile(
    rb"(?m)^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|class|function\*?)\s+(\w+)"
    rb"|^(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=|\bexports\.(\w+)\s*="
)
_HANGS_IN = re.compile(
    r"(?m)^[ \t]*(?:(?P<target>[A-Za-z_$][\w$]*(?:\.[\w$]+)+)\s*=(?![=>])"
    r"|(?:[\w$]+\.)*(?:method|spyOn|stub|replace)\(\s*(?P<owner>[\w$.]+)\s*,\s*['\"](?P<name>\w+)['\"])"
)


def wired(changed: Sequence[Source], others: Iterable[bytes], tests: Mapping[str, bytes]) -> Iterator[Narrow]:
    """`others`: the program's other sources; `tests`: the files of tests as the change has them."""
    program = [*others, *(one.after or b"" for one in changed)]
    added = {
        name: one.path
        for one in changed
        for name in _defined(one.after) - _defined(one.before)
        if len(name) > 2 and not _called(name, program)
    }
    if not added:
        return
    for path, text in tests.items():
        told = _python(text, added) if path.endswith(".py") else _javascript(path, text, added)
        for target, name, line in told:
            said = f"a test puts {name}, which is new and which nothing of the program calls, in the place of {target}"
            yield Narrow(rule=Rule.MOCKED_SUBJECT, path=path, line=line, text=said)


def _defined(data: bytes | None) -> set[str]:
    return {name.decode() for groups in _DEFINED.findall(data or b"") for name in groups if name}


def _called(name: str, program: Iterable[bytes]) -> bool:
    """Somewhere it stands as more than its own definition, or the list of what a module hands on."""
    use = re.compile(rf"(?<![\w.]){name}\b|\.{name}\b(?!\s*=(?!=))".encode())
    own = re.compile(
        rf"(?:def|class|function\*?|const|let|var)\s+{name}\b|\bexports\.{name}\s*=\s*(?:{name}\b)?"
        rf"|(?:exports\s*=|export)\s*\{{[^}}]*\}}|__all__\s*=\s*[\[(][^\])]*[\])]|(?:from\s+\S+\s+)?import\s[^\n(]*(?:\([^)]*\))?".encode()
    )
    return any(use.search(own.sub(b" ", text)) for text in program)


def _python(text: bytes, added: Mapping[str, str]) -> Iterator[tuple[str, str, int]]:
    try:
        tree = python_source.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    helpers = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        target, value = _replacement(node, imported)
        if value is None or target.rpartition(".")[2] in added:
            continue
        given: list[ast.AST] = [value]
        if isinstance(value, ast.Name) and value.id in helpers:
            given.append(helpers[value.id])
        for part in (inner for one in given for inner in ast.walk(one)):
            name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
            if name in added:
                yield target, name, getattr(node, "lineno", 0)
                break


def _replacement(node: ast.AST, imported: set[str]) -> tuple[str, ast.expr | None]:
    """(what is replaced, with what): `a.b = x`, `setattr(a, "b", x)`, `patch("a.b", x)`, `patch.object(a, "b", x)`."""
    match node:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            root: ast.expr = target
            while isinstance(root, ast.Attribute):
                root = root.value
            return (ast.unparse(target), value) if isinstance(root, ast.Name) and root.id in imported else ("", None)
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args, keywords=words):
            whole = bool(args) and isinstance(args[0], ast.Constant)
            size = 1 if whole else 2
            if called not in ("setattr", "patch", "object") or len(args) < size:
                return "", None
            named = {word.arg: word.value for word in words}
            put = args[size] if len(args) > size else named.get("new", named.get("side_effect"))
            return ".".join(_plain(one) for one in args[:size]), put
    return "", None


def _plain(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _javascript(path: str, data: bytes, added: Mapping[str, str]) -> Iterator[tuple[str, str, int]]:
    if not path.endswith(JAVASCRIPT):
        return
    text = data.decode("utf-8", "replace")
    for match in _HANGS_IN.finditer(text):
        target = match["target"] or f"{match['owner']}.{match['name']}"
        if target.rpartition(".")[2] in added or target.startswith(("this.", "module.", "exports.", "process.env.")):
            continue
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        value = text[match.end() : statement_end(text, start)]
        for name in added:
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", value):
                yield target, name, text.count("\n", 0, start) + 1
