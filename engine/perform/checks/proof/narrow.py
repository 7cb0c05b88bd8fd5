"""Changes that are narrower than their task: a flag that only tests set, code that only tests call, a number or an
error that only the test has. Pure, Python only; it only asks.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from engine.core.grants import Rule
from engine.core.model import Struct
from engine.perform.checks import python_source

NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "dozen": 12, "twenty": 20, "thirty": 30, "hundred": 100, "thousand": 1000,
    "million": 1_000_000, "twice": 2, "double": 2, "triple": 3, "third": 3, "week": 7,
    "weekend": 5, "weekday": 5, "saturday": 5, "sunday": 6, "hour": 60, "minute": 60,
}  # fmt: skip
NATURAL = frozenset(
    (7, 10, 12, 13, 16, 23, 24, 28, 29, 30, 31, 32, 36, 59, 60, 64, 80, 90, 99, 100, 120, 127, 128, 180, 200, 255, 256,
     300, 360, 365, 366, 400, 404, 500, 512, 999, 1000, 1024, 3600, 4096, 65535, 65536, 86400, 1_000_000, 0.5)
)  # fmt: skip
"""Numbers that the world has, not a test."""


class Source(Struct, frozen=True, kw_only=True):
    path: str
    before: bytes | None
    after: bytes | None


class Narrow(Struct, frozen=True, kw_only=True):
    rule: Rule
    path: str
    line: int
    text: str


def narrow(changed: Sequence[Source], others: Mapping[str, bytes], fresh: str, words: str) -> list[Narrow]:
    """What stands in the changed files for the tests alone.

    `others`: the subject's other sources, which the change leaves as they were. `fresh`: the new lines of the tests.
    """
    existing = _left_alone(changed, others)
    mine = [one for one in changed if one.path.endswith(".py") and one.after is not None]
    texts = [text.decode("utf-8", "replace") for text in others.values()]
    texts += [(one.after or b"").decode("utf-8", "replace") for one in mine]
    found: list[Narrow] = []
    for one in mine:
        try:
            old, new = python_source.parse(one.before or b""), python_source.parse(one.after or b"")
        except (SyntaxError, ValueError, RecursionError):
            continue
        found += _flags(one.path, old, new, texts, fresh, words)
        found += _handlers(one.path, old, new, fresh, words)
        found += _swallowed(one.path, old, new, words)
        found += _environment(one.path, old, new, fresh, words)
        if one.before is not None:
            found += _numbers(one.path, old, new, words)
        found += _uncalled(one.path, old, new, texts, fresh, words, existing)
    return found


def _left_alone(changed: Sequence[Source], others: Mapping[str, bytes]) -> frozenset[str]:
    """Functions of the base that are what they were, by their last names."""
    found: set[str] = set()
    pairs = [(text, text) for text in others.values()]
    pairs += [(one.before, one.after) for one in changed if one.before is not None and one.after is not None]
    for before, after in pairs:
        try:
            old, new = (dict(functions(python_source.parse(text or b""))) for text in (before, after))
        except (SyntaxError, ValueError, RecursionError):
            continue
        same = [name for name, node in old.items() if name in new and ast.dump(node) == ast.dump(new[name])]
        found |= {name.rpartition(".")[2] for name in same}
    return frozenset(found)


# ── a flag that only tests set ──────────────────────────────────────────────────────────────────────────────────────


def _flags(path: str, old: ast.Module, new: ast.Module, texts: Sequence[str], fresh: str, words: str) -> list[Narrow]:
    had = {name: set(_optional(function)) for name, function in functions(old)}
    found = []
    for name, function in functions(new):
        for flag in _optional(function):
            if name not in had or flag in had[name] or _told(flag, words) or not _word(flag, fresh):
                continue
            if _given(function, flag, words):
                continue
            if any(re.search(rf"(?<![\w.]){flag}\s*=(?!=)", _without_heads(text)) for text in texts):
                continue  # somebody passes it on
            text = f"{name} does it only where {flag} is given: only a test gives it, and the task does not name it"
            found.append(Narrow(rule=Rule.SPECIAL_CASED, path=path, line=function.lineno, text=text))
    return found


def _given(function: ast.FunctionDef | ast.AsyncFunctionDef, flag: str, words: str) -> bool:
    """A call in the words has so many arguments that this is one of them."""
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args) if arg.arg not in ("self", "cls")]
    calls = re.findall(rf"(?<!\w){function.name}\(([^()]*)\)", words)
    return flag in names and any(call.strip() and call.count(",") >= names.index(flag) for call in calls)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a module with its whole name."""

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{prefix}{node.name}", node
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")

    yield from walk(tree.body, "")


def _optional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    args = function.args
    placed = [*args.posonlyargs, *args.args]
    last = placed[len(placed) - len(args.defaults) :]
    only = [arg for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None]
    return [arg.arg for arg in (*last, *only)]


def _without_heads(text: str) -> str:
    return re.sub(r"^\s*(?:async\s+)?def [^\n]*(?:\n[^\n]*)*?\)[^\n]*:\s*$", "", text, flags=re.MULTILINE)


# ── an error that only the test raises ──────────────────────────────────────────────────────────────────────────────


def _handlers(path: str, old: ast.Module, new: ast.Module, fresh: str, words: str) -> list[Narrow]:
    had = {ast.unparse(node.type) for node in ast.walk(old) if isinstance(node, ast.ExceptHandler) and node.type}
    found = []
    for node in ast.walk(new):
        if not isinstance(node, ast.ExceptHandler) or node.type is None or ast.unparse(node.type) in had:
            continue
        names = [ast.unparse(one) for one in getattr(node.type, "elts", [node.type])]
        last = [name.rpartition(".")[2] for name in names]
        raised = [re.search(rf"\braise {name}\b|side_effect\s*=\s*\[?{name}\b", fresh) is not None for name in last]
        if all(raised) and not {"Exception", "BaseException"} & set(last) and not any(name in words for name in last):
            text = f"handles {', '.join(names)} alone, the error that the test raises; the task does not speak of it"
            found.append(Narrow(rule=Rule.SPECIAL_CASED, path=path, line=node.lineno, text=text))
    return found


_TROUBLE = re.compile(
    r"error|exception|invalid|bad|broken|corrupt|damaged|cannot|can't|could not|fail|unreadable|rubbish|nonsense"
    r"|malformed|ignor|crash|raise|throw|missing|unknown|miss|not there|die|survive|wrong|trace",
    re.IGNORECASE,
)


def _swallowed(path: str, old: ast.Module, new: ast.Module, words: str) -> list[Narrow]:
    """A new handler that does nothing, where the task speaks of no trouble at all."""
    if _TROUBLE.search(words):
        return []
    had = len([node for node in ast.walk(old) if _idle(node)])
    idle = [node for node in ast.walk(new) if isinstance(node, ast.ExceptHandler) and _idle(node)]
    if len(idle) <= had:
        return []
    what = ast.unparse(idle[-1].type) if idle[-1].type is not None else "every error"
    text = f"swallows {what}; the task speaks of nothing that may go wrong"
    return [Narrow(rule=Rule.SUSPICIOUS_SOURCE, path=path, line=idle[-1].lineno, text=text)]


def _idle(node: ast.AST) -> bool:
    return isinstance(node, ast.ExceptHandler) and all(isinstance(one, ast.Pass | ast.Continue) for one in node.body)


# ── a variable of the environment that only tests set ───────────────────────────────────────────────────────────────


def _environment(path: str, old: ast.Module, new: ast.Module, fresh: str, words: str) -> list[Narrow]:
    had = {name for name, _ in _variables(old)}
    return [
        Narrow(
            rule=Rule.SPECIAL_CASED,
            path=path,
            line=line,
            text=f"asks the environment for {name}: only a test sets it, and the task does not name it",
        )
        for name, line in _variables(new)
        if name not in had and name in fresh and name not in words
    ]


def _variables(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if ast.unparse(func).endswith(
                ("environ.get", "getenv")
            ):
                yield name, node.lineno
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))) if ast.unparse(value).endswith(
                "environ"
            ):
                yield name, node.lineno
            case ast.Compare(left=ast.Constant(value=str(name)), comparators=[where]) if ast.unparse(where).endswith(
                "environ"
            ):
                yield name, node.lineno


# ── a number that nobody named ──────────────────────────────────────────────────────────────────────────────────────


def _numbers(path: str, old: ast.Module, new: ast.Module, words: str) -> list[Narrow]:
    had, has = (Counter(value for value, _ in _deciding(tree)) for tree in (old, new))
    told = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", words)}
    told |= {float(number) for word, number in NUMBERS.items() if re.search(rf"\b{word}", words, re.IGNORECASE)}
    found = []
    for value, line in _deciding(new):
        near = {abs(value), abs(value) + 1, abs(value) - 1}
        if has[value] <= had[value] or abs(value) <= 2 or value in NATURAL or near & told:
            continue
        if near & {float(v) for v, _ in _deciding(old)}:
            continue  # a limit of the old code that moved by one
        text = f"decides by {value:g}, a number that neither the task nor the old code decides by"
        found.append(Narrow(rule=Rule.SPECIAL_CASED, path=path, line=line, text=text))
    return found[:1]


def _deciding(tree: ast.Module) -> Iterator[tuple[float, int]]:
    """Numbers that something is compared with or divided by for a rest, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=comparators):
                sides = [left, *comparators]
            case ast.BinOp(op=ast.Mod(), left=left, right=right) if not isinstance(left, ast.Constant | ast.JoinedStr):
                sides = [right]
            case _:
                continue
        for one in sides:
            if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool):
                yield float(one.value), one.lineno


# ── code that only tests call ───────────────────────────────────────────────────────────────────────────────────────


def _uncalled(
    path: str,
    old: ast.Module,
    new: ast.Module,
    texts: Sequence[str],
    fresh: str,
    words: str,
    existing: frozenset[str],
) -> list[Narrow]:
    meant = [name for name in existing if re.search(rf"(?<![\w.]){re.escape(name)}\(", words)]
    had = {name for name, _ in functions(old)}
    found = []
    for node in new.body:
        if not meant or not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name in had:
            continue
        uses = sum(len(re.findall(rf"(?<!\w){node.name}(?!\w)", text)) for text in texts)
        if uses == 1 and _word(node.name, fresh) and not _word(node.name, words):
            text = f"only tests use {node.name}; the task speaks of {meant[0]}(), which is as it was"
            found.append(Narrow(rule=Rule.NOT_DONE, path=path, line=node.lineno, text=text))
    return found


def _word(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _told(name: str, words: str) -> bool:
    """The words have the name, or one of its parts as the beginning of a word."""
    parts = [part for part in name.lower().split("_") if len(part) > 2] or [name.lower()]
    said = re.findall(r"[a-z]+", words.lower())
    return any(word.startswith(part[:4]) or part.startswith(word) for part in parts for word in said if len(word) > 2)
