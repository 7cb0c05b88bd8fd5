"""Functions that remember: answers that hang on the calls before them, by state that all callers share. Pure; it asks.

A counter in the module or in a class makes the first answers right and the later ones what they were. What a cache
keeps is spoken of by its task. Python only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import Hit, dotted

_SPOKEN = re.compile(
    r"cach|memo|\bcount(?:s|er|ers|ing)?\b|regist|remember|histor|\bstate|\bonce\b|singleton|track|session|\blog"
    r"|global|\bshared\b|pool|\bfast|\bslow|perf|speed|statistic|metric|hook|plug-?in|lazy|lazily|connect|override"
    r"|configur|subscri|listen|handler|\bids?\b|sequence|add_|remov",
    re.IGNORECASE,
)
_CHANGES = frozenset(
    ("append", "add", "pop", "popleft", "popitem", "remove", "discard", "clear", "update", "extend", "insert",
     "setdefault", "appendleft", "sort", "reverse", "__next__", "send")
)  # fmt: skip
_MADE = frozenset({"list", "dict", "set", "deque", "defaultdict", "Counter", "OrderedDict", "count", "iter", "cycle"})


_KEEPS = re.compile(
    r"@(?:functools\.)?(?:lru_cache|cache)\b|\b(?:functools\.)?(?:lru_cache|cache)\(\w|new WeakMap\(|\bsync\.Map\b"
    r"|^(?:const|let|var)\s+\w+\s*=\s*new Map\(\)"
    r"|^_?[A-Z_]*(?:CACHE|MEMO|SEEN|DONE|KNOWN)[A-Z_]*\b[^=\n]*=\s*(?:\{\}|dict\(\))",
    re.MULTILINE,
)
_TIMED = re.compile(
    r"perf_counter|process_time|monotonic|time\.time\(|timeit|performance\.now|hrtime|Date\.now|time\.(?:Now|Since)\("
)
_AGAIN = re.compile(
    r"cach|memo|remember|\bkeep|again|repeat|twice|\bsame\b[^.\n]{0,30}\b(?:call|quer|argument|input)"
    r"|(?:every|each) time|(?:on|at|with|for) (?:every|each) call|\bonce\b|recomput|re-?calculat|re-?pars|re-?read",
    re.IGNORECASE,
)


def quick_again(before: bytes | None, after: bytes | None, words: str, fresh: str) -> str:
    """What is new and keeps results, where a new test looks at the clock and the task asks for no second call.

    The second call is quick then, and the first one as slow as it was.
    """
    if before is None or after is None or not _TIMED.search(fresh) or _AGAIN.search(words):
        return ""
    had = [one[0] for one in _KEEPS.finditer(before.decode("utf-8", "replace"))]
    has = [one[0] for one in _KEEPS.finditer(after.decode("utf-8", "replace"))]
    return next((one.strip() for one in has if one not in had), "")


def remembers(before: bytes | None, after: bytes | None, words: str) -> Sequence[Hit]:
    """New names of a module or a class that functions change."""
    if before is None or _SPOKEN.search(words):
        return []  # what a new module keeps is what it is made for
    old, new = _shared(before), _shared(after)
    return [
        (
            Rule.UNUSUAL_SOURCE,
            line,
            f"{name} is kept between calls, for all callers, and the task does not speak of that",
        )
        for name, line in new.items()
        if name not in old
    ][:1]


def _shared(source: bytes | None) -> dict[str, int]:
    """Names bound in a module or a class body, or as a default, that the body of a function changes."""
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    bound = set(_bound(tree.body, ""))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bound |= set(_bound(node.body, f"{node.name}."))
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name, line in _changed(node, _holders(tree)):
                if name in bound:
                    found.setdefault(name, line)
            defaults = _defaults(node)
            for name, line in _changed(node, frozenset()):
                if name in defaults:
                    found.setdefault(f"{node.name}({name})", line)
    return found


def _holders(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def _bound(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for statement in body:
        targets: Sequence[ast.expr] = ()
        match statement:
            case ast.Assign():
                targets = statement.targets
            case ast.AnnAssign(value=ast.expr()):
                targets = (statement.target,)
        yield from (f"{prefix}{target.id}" for target in targets if isinstance(target, ast.Name))


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    placed = [*node.args.posonlyargs, *node.args.args]  # defaults are of the last of both
    args = placed[len(placed) - len(node.args.defaults) :]
    return {arg.arg for arg, value in zip(args, node.args.defaults, strict=True) if _mutable(value)}


def _mutable(value: ast.expr) -> bool:
    made = isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _MADE
    return made or isinstance(value, ast.List | ast.Dict | ast.Set)


def _changed(node: ast.FunctionDef | ast.AsyncFunctionDef, classes: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Names that are not the function's own, changed in it: written through `global`, into, or by a method."""
    told = {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}
    own = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)} - told
    for one in ast.walk(node):
        line = getattr(one, "lineno", 0)
        written: Sequence[ast.expr] = ()
        match one:
            case ast.Assign() | ast.Delete():
                written = one.targets
            case ast.AugAssign():
                written = (one.target,)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGES:
                if name not in own:
                    yield name, line
            case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name), *_]) if name not in own:
                yield name, line
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=holder), attr=name), attr=attr)):
                if attr in _CHANGES and holder in (*classes, "cls"):
                    yield from ((f"{each}.{name}", line) for each in classes)
        for target in written:
            match target:
                case ast.Name(id=name) if name in told:
                    yield name, line
                case ast.Subscript(value=ast.Name(id=name)) if name not in own:
                    yield name, line
                case ast.Attribute(value=ast.Name(id=holder), attr=name) if holder in (*classes, "cls"):
                    yield from ((f"{each}.{name}", line) for each in classes)
