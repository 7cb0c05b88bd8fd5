"""Options and parameters that a change adds and nothing reads: whatever a caller says there, the answer is the same.

A test that gives one and compares with what comes out without it, or with a stand-in, stays green. Pure; Python and the
option tables of `parseArgs`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.perform.checks import python_source
from engine.perform.checks.proof.observed_tests import Function
from engine.perform.checks.proof.source_text import JAVASCRIPT
from engine.perform.checks.proof.suspicious import dotted

_PYTHON = re.compile(rb"\A#![^\n]*python")
_ENDS = frozenset({"help", "version"})
"""What an option of these does, the parser does."""
_TABLE = re.compile(r"[\"']?([A-Za-z][\w-]*)[\"']?\s*:\s*\{[^{}]*?\btype\s*:\s*[\"'](?:string|boolean)[\"']")


class Idle(NamedTuple):
    """A place where something is taken that nobody looks at."""

    path: str
    line: int
    what: str


class _Gained(NamedTuple):
    path: str
    function: ast.FunctionDef | ast.AsyncFunctionDef
    name: str


def idle(changed: Iterable[tuple[str, bytes | None, bytes | None]], others: Mapping[str, bytes]) -> list[Idle]:
    """`changed`: source files of the subject before and after; `others`: what else there is, tests too."""
    files = [(path, before, after) for path, before, after in changed if after is not None]
    pairs = {path: (_tree(path, before), _tree(path, after)) for path, before, after in files}
    had = {path: {name for name, _ in _options(old)} if old is not None else set() for path, (old, _) in pairs.items()}
    fresh = {
        path: [one for one in _options(new) if one[0] not in had[path]]
        for path, (_, new) in pairs.items()
        if new is not None
    }
    gained = [one for path, (old, new) in pairs.items() if old and new for one in _gained(path, old, new)]
    names = {name for some in fresh.values() for name, _ in some} | {one.name for one in gained}
    if not names:  # nearly always: nobody need read the rest
        return _tables(files, others)
    everywhere = [new for _, new in pairs.values() if new is not None]
    everywhere += [
        tree
        for path, text in others.items()
        if path not in pairs and _speaks_of(text, names) and (tree := _tree(path, text)) is not None
    ]
    read, whole = _read(everywhere), any(_as_a_whole(tree) for tree in everywhere)
    found: list[Idle] = []
    for path, options in fresh.items():
        told = _read_of(everywhere, had[path])
        found += [
            Idle(path, line, f"the option {name!r} is taken and never read")
            for name, line in options
            if name not in (read if told is None else told) and not whole
        ]
    for name in dict.fromkeys(one.name for one in gained):
        group = [one for one in gained if one.name == name]
        called = {one.function.name for one in group}
        if not any(_looks_at(one, called, read) for one in group):
            last = group[-1]
            text = f"{last.function.name}() takes {name!r} and never looks at it"
            found.append(Idle(last.path, last.function.lineno, text))
    return [*found, *_tables(files, others)]


def _speaks_of(text: bytes, names: Iterable[str]) -> bool:
    """It may read one of them, by its name or with all the others."""
    return b"vars(" in text or any(name.encode() in text for name in names)


def _tree(path: str, text: bytes | None) -> ast.Module | None:
    if text is None or not (path.endswith(".py") or _PYTHON.match(text)):
        return None
    try:
        return python_source.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _read(trees: Iterable[ast.Module]) -> set[str]:
    """Attributes and names of items, wherever they stand; names as well where a namespace is taken apart."""
    found: set[str] = set()
    for tree in trees:
        given = {id(text) for _, node in _option_calls(tree) for text in ast.walk(node)}
        parts = False
        names: set[str] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    found.add(name)
                case ast.Constant(value=str(name)) if id(node) not in given:
                    found.add(name)
                case ast.Name(id=name):
                    names.add(name)
                    parts = parts or name in ("vars", "attrgetter")
                case ast.arg(arg=name):
                    names.add(name)
                case ast.Call(keywords=words) if any(word.arg is None for word in words):
                    parts = True
                case ast.MatchClass(kwd_attrs=attributes):
                    found |= {*attributes}
                case _:
                    pass
        found |= names if parts else set()
    return found


def _read_of(trees: Iterable[ast.Module], known: set[str]) -> set[str] | None:
    """What is read of whatever the known options are read of; None where that is nothing, or is reached by names."""
    loads: list[tuple[str, str]] = []
    asked: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load(), value=ast.Name(id=owner) | ast.Attribute(attr=owner)):
                    loads.append((owner, name))
                case ast.Call(func=ast.Name(id="vars" | "getattr" | "asdict" | "hasattr"), args=[first, *_]):
                    asked.add(dotted(first).rpartition(".")[2])
                case ast.MatchClass(kwd_attrs=[_, *_]):
                    return None
                case _:
                    pass
    held: dict[str, set[str]] = {}
    for owner, name in loads:
        if name in known and owner not in ("self", "cls"):
            held.setdefault(owner, set()).add(name)
    most = max(map(len, held.values()), default=0)
    owners = {owner for owner, names in held.items() if len(names) * 2 > most}  # others have one of the names as well
    by_name = {name for owner, name in loads if name == "__dict__" and owner in owners}
    return {name for owner, name in loads if owner in owners} if owners and not (asked & owners or by_name) else None


def _as_a_whole(tree: ast.Module) -> bool:
    """All options are given away together (`json.dumps(vars(args))`); as keywords they are taken by their names."""
    words = {id(word.value) for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "vars"
        and id(node) not in words
        for node in ast.walk(tree)
    )


def _option_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Calls of `add_argument`, each with the name that its value has afterwards."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags]) if flags:
                words = {word.arg: word.value for word in node.keywords}
                action = words.get("action")
                if None in words or (action is not None and not isinstance(action, ast.Constant)):
                    continue  # nobody knows what it does
                if isinstance(action, ast.Constant) and action.value in _ENDS:
                    continue
                told = [flag.value for flag in flags if isinstance(flag, ast.Constant) and isinstance(flag.value, str)]
                given = words.get("dest")
                name = str(given.value) if isinstance(given, ast.Constant) else _dest(told)
                if len(told) == len(flags) and name:
                    yield name, node
            case _:
                pass


def _options(tree: ast.AST) -> list[tuple[str, int]]:
    return [(name, call.lineno) for name, call in _option_calls(tree)]


def _dest(flags: Sequence[str]) -> str:
    """As argparse names it: the first long flag, else the first."""
    name = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return name.lstrip("-").replace("-", "_") if name.startswith("-") else name


def _functions(tree: ast.Module) -> dict[str, tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """By dotted name, each with whether its class stands on its own."""
    found: dict[str, tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]] = {}

    def walk(nodes: Iterable[ast.stmt], within: str, free: bool) -> None:
        for node in nodes:
            if isinstance(node, Function):
                found[within + node.name] = (node, free)
            elif isinstance(node, ast.ClassDef):
                bases = [base for base in node.bases if not (isinstance(base, ast.Name) and base.id == "object")]
                walk(node.body, f"{within}{node.name}.", not bases)

    walk(tree.body, "", True)
    return found


def _gained(path: str, old: ast.Module, new: ast.Module) -> Iterator[_Gained]:
    """Parameters of functions that were there without them. What others prescribe (a base, a decorator) is left out."""
    before = _functions(old)
    for name, (function, free) in _functions(new).items():
        if name not in before or not free or function.decorator_list or _is_stub(function):
            continue
        had = set(_parameters(before[name][0]))
        for parameter in _parameters(function):
            if parameter not in had and not parameter.startswith("_"):
                yield _Gained(path, function, parameter)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _is_stub(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """It says nothing but its documentation, that it does nothing, or that it is not there yet."""
    return all(
        isinstance(node, ast.Pass | ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


def _looks_at(one: _Gained, group: set[str], read: set[str]) -> bool:
    """Whether its value is looked at, or handed to somebody who was there to take it."""
    handed: set[int] = set()
    kept: dict[int, str] = {}
    for node in ast.walk(one.function):
        match node:
            case ast.Call(func=called):
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in ("locals", "vars", "eval", "exec"):
                    return True
                if name in group:
                    handed |= {id(value) for value in (*node.args, *(word.value for word in node.keywords))}
            case ast.Assign(targets=[ast.Attribute(attr=name, value=ast.Name(id="self"))], value=ast.Name()):
                kept[id(node.value)] = name
            case ast.AnnAssign(target=ast.Attribute(attr=name, value=ast.Name(id="self")), value=ast.Name()):
                kept[id(node.value)] = name
            case _:
                pass
    for node in ast.walk(one.function):
        if isinstance(node, ast.Name) and node.id == one.name and isinstance(node.ctx, ast.Load | ast.Del):
            if id(node) in kept and kept[id(node)] not in read:
                continue
            if id(node) not in handed:
                return True
    return False


def _tables(files: Sequence[tuple[str, bytes | None, bytes | None]], others: Mapping[str, bytes]) -> list[Idle]:
    """Options in a table of `parseArgs` whose name stands nowhere else."""
    scripts = [(path, before or b"", after or b"") for path, before, after in files if path.endswith(JAVASCRIPT)]
    if not any(b"parseArgs" in after for _, _, after in scripts):
        return []
    changed = {path for path, _, _ in scripts}
    texts = [after for _, _, after in scripts]
    texts += [text for path, text in others.items() if path.endswith(JAVASCRIPT) and path not in changed]
    whole = b"\n".join(texts).decode("utf-8", "replace")
    found = []
    for path, before, after in scripts:
        text = after.decode("utf-8", "replace")
        had = {one[1] for one in _TABLE.finditer(before.decode("utf-8", "replace"))}
        for one in _TABLE.finditer(text) if "parseArgs" in text else ():
            name = one[1]
            bare = re.sub(rf"--{re.escape(name)}(?![\w-])", "", whole)
            if name not in had and len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", bare)) == 1:
                what = f"the option {name!r} is taken and never read"
                found.append(Idle(path, text.count("\n", 0, one.start()) + 1, what))
    return found
