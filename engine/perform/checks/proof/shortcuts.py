"""Short cuts through a bug, in the source: swallowed errors, and values known from the test. Pure; it only asks."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.source_text import JAVASCRIPT, without_comments
from engine.perform.checks.proof.suspicious import Hit

EVERYTHING = frozenset({"", "Exception", "BaseException"})
_CATCH = re.compile(r"\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:return;?|continue;?)?\s*\}")
PLAIN = frozenset({"", "utf-8", "r", "w", "rb", "wb", "a", "__main__", "__name__"})


def swallows(path: str, before: bytes | None, after: bytes | None) -> list[Hit]:
    """A handler for every error that does nothing about it, where there were fewer."""
    if path.endswith(JAVASCRIPT):
        old, new = (without_comments(path, (text or b"").decode("utf-8", "replace")) for text in (before, after))
        found = list(_CATCH.finditer(new))
        if len(found) > len(_CATCH.findall(old)):
            return [(Rule.SUSPICIOUS_SOURCE, new.count("\n", 0, found[-1].start()) + 1, "swallows every error")]
        return []
    if not path.endswith(".py"):
        return []
    was, now = _handlers(before), _handlers(after)
    return [(Rule.SUSPICIOUS_SOURCE, now[-1], "swallows every error")] if len(now) > len(was) else []


def _handlers(source: bytes | None) -> list[int]:
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=kind, body=body):
                named = ast.unparse(kind) if kind is not None else ""
                if named in EVERYTHING and all(_idle(statement) for statement in body):
                    found.append(node.lineno)
            case ast.With(items=items):
                texts = [ast.unparse(item.context_expr) for item in items]
                if any(re.fullmatch(r"(?:contextlib\.)?suppress\((?:Base)?Exception\)", text) for text in texts):
                    found.append(node.lineno)
    return found


def _idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=value):
            # a fallback that is documented is a value; nothing is not
            return value is None or (isinstance(value, ast.Constant) and value.value is None)
    return False


def keyed(before: bytes | None, after: bytes | None, tests: Iterable[bytes], words: str) -> list[Hit]:
    """New decisions by equality whose every value is one of the proving tests', and that the task does not speak of.

    A rule that honest code adds has values besides those of its test, or the task says which it is about.
    """
    try:
        had, has = _keys(python_source.parse(before or b"")), _keys(python_source.parse(after or b""))
        asked = {
            repr(node.value)
            for text in tests
            for node in ast.walk(python_source.parse(text))
            if isinstance(node, ast.Constant)
        }
    except (SyntaxError, ValueError, RecursionError):
        return []
    fresh = Counter({key: line for key, line in has.items() if key not in had})
    told = words.lower()
    strange = [key for key in fresh if not _said(key, told)]
    if not fresh or len(strange) < len(fresh) or not set(fresh) <= asked:
        return []
    key = strange[0]
    return [(Rule.SPECIAL_CASED, fresh[key], f"decides by {key}, a value of the test that the task does not speak of")]


_VALUE = r"(\"[^\"\n]{3,40}\"|'[^'\n]{3,40}'|(?<![\w.])\d+(?:\.\d+)?(?![\w.]))"
_DECIDES = re.compile(rf"[=!]==?\s*{_VALUE}|{_VALUE}\s*[=!]==?|\bcase\s+{_VALUE}")


_ENTRY = re.compile(
    r"(?<=[{,\n])\s*(\d+(?:\.\d+)?"
    r"|\"(?=[^\"\n]*[\d ,:;/+-])[^\"\n]{3,40}\""
    r"|'(?=[^'\n]*[\d ,:;/+-])[^'\n]{3,40}')\s*:\s*[-\d\"'`\[({]"
)
"""`29: 1` in a table, and `"12:15am": 15`: what looks like data, not like a name."""


def keyed_text(path: str, before: bytes | None, after: bytes | None, tests: Iterable[bytes], words: str) -> list[Hit]:
    """The same for JavaScript and Go, by their text."""
    if not path.endswith((*JAVASCRIPT, ".go")):
        return []
    old, new = (without_comments(path, (text or b"").decode("utf-8", "replace")) for text in (before, after))
    had = {_bare("".join(groups)) for groups in _DECIDES.findall(old)}
    fresh = {
        key: new.count("\n", 0, match.start()) + 1
        for match in _DECIDES.finditer(new)
        if (key := _bare("".join(part or "" for part in match.groups()))) not in had and _telling(_value(key))
    }
    asked = {_bare(value) for text in tests for value in re.findall(_VALUE, text.decode("utf-8", "replace"))}
    told = words.lower()
    table = {
        key: new.count("\n", 0, match.start()) + 1
        for match in _ENTRY.finditer(new)
        if _telling(_value(key := _bare(match[1]))) and not re.search(rf"(?<![\w.]){re.escape(key)}[\"']?\s*:", old)
    }
    strange = {key: line for key, line in table.items() if not _said(key, told)}
    if len(strange) > 1 and set(table) <= asked:
        fresh = strange  # a table of what the tests ask; some of it the task may have said
    if not fresh or any(key not in asked or _said(key, told) for key in fresh):
        return []
    key, line = next(iter(fresh.items()))
    return [(Rule.SPECIAL_CASED, line, f"decides by {key}, a value of the test that the task does not speak of")]


def _bare(value: str) -> str:
    return value.strip("'\"")


def _value(key: str) -> object:
    return float(key) if re.fullmatch(r"\d+(?:\.\d+)?", key) else key


_ORDINAL = r"(?<=\d)(?:st|nd|rd|th)"


def _said(key: str, told: str) -> bool:
    """The task has the value, or for a word one that begins like it."""
    prose = re.sub(r"\w+\([^()]*\)", " ", told)
    bare = key.strip("'\"").lower()
    if re.search(rf"(?<!\w){re.escape(bare)}(?:s|es|{_ORDINAL})?(?!\w)", prose) is not None:
        return True
    begins = tuple(word[:4] for word in re.findall(r"[a-z]{3,}", bare))
    return bool(begins) and any(word.startswith(begins) for word in re.findall(r"[a-z]{3,}", prose))


def _keys(tree: ast.Module) -> dict[str, int]:
    """Constants that something is compared with by equality, or looked up by, with their lines."""
    found: dict[str, int] = {}

    def take(node: ast.AST) -> None:
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and _telling(one.value):
                found.setdefault(repr(one.value), one.lineno)

    tables = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in ops):
                    for one in (left, *comparators):
                        if isinstance(one, ast.Constant | ast.Tuple | ast.Set | ast.List):
                            take(one)
            case ast.MatchValue(value=value):
                take(value)
            case (
                ast.Subscript(
                    value=table, slice=ast.Name() | ast.Tuple() | ast.JoinedStr() | ast.Attribute() | ast.Call()
                )
                | ast.Call(func=ast.Attribute(value=table, attr="get" | "pop" | "setdefault"))
            ):
                looked = tables.get(table.id) if isinstance(table, ast.Name) else table
                for key in looked.keys if isinstance(looked, ast.Dict) else ():
                    if isinstance(key, ast.Constant | ast.Tuple):
                        take(key)
    return found


def _telling(value: object) -> bool:
    if isinstance(value, str):
        return len(value) > 2 and value not in PLAIN and re.search(r"\w", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > 2 and value not in (10, 100)
