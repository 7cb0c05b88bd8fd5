"""Holds raw TOML data against the sections and finds everything that does not fit, not only the first thing."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import inspect

from engine.config.base import IN_WORDS
from engine.config.config_errors import SECRET_KEY, SECRET_VALUE, shown
from engine.config.locate import Path
from engine.config.renamed import RENAMED

Report = Callable[[Path, str, str, str], None]
"""path, what, expected, fix."""


def dotted(path: Path) -> str:
    """`ladder.rungs[2].name`; people count from 1."""
    words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return words.removeprefix(".")


def close(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    found = difflib.get_close_matches(word.lower(), list(known), 1, cutoff)
    return found[0] if found else ""


def find_secrets(value: Any, path: Path, report: Report) -> Iterator[Path]:
    """Keys and values that look like credentials. What they are is never repeated."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and inner and SECRET_KEY.search(key):
                yield from _secret((*path, key), report)
            else:
                yield from find_secrets(inner, (*path, key), report)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from find_secrets(inner, (*path, number), report)
    elif isinstance(value, str) and SECRET_VALUE.search(value):
        yield from _secret(path, report)


def _secret(path: Path, report: Report) -> Iterator[Path]:
    name = next((part for part in reversed(path) if isinstance(part, str)), "API_KEY").upper().replace("-", "_")
    report(
        path,
        f"{dotted(path)} looks like a secret, and this file is committed",
        "secrets in the environment only",
        f"export {name}=…    (and name it in login_env of the agent's table)",
    )
    yield path


def check(kind: inspect.Type, value: Any, path: Path, report: Report) -> None:
    """Report every place where `value` is not of this kind."""
    match kind:
        case inspect.StructType():
            _check_table(kind, value, path, report)
        case inspect.DictType():
            if not isinstance(value, dict):
                _wrong(kind, value, path, report)
                return
            for key, inner in value.items():
                check(kind.value_type, inner, (*path, key), report)
        case inspect.VarTupleType():
            if not isinstance(value, list):
                _wrong(kind, value, path, report)
                return
            for number, inner in enumerate(value):
                check(kind.item_type, inner, (*path, number), report)
        case inspect.UnionType():
            if not any(_fits(one, value) for one in kind.types):
                _wrong(kind, value, path, report)
        case _ if not _fits(kind, value):
            _wrong(kind, value, path, report)


def _check_table(kind: inspect.StructType, value: Any, path: Path, report: Report) -> None:
    if not isinstance(value, dict):
        _wrong(kind, value, path, report)
        return
    fields = {field.encode_name: field for field in kind.fields}
    for key, inner in value.items():
        if key in fields:
            check(fields[key].type, inner, (*path, key), report)
        else:
            _unknown(key, fields, path, report)
    for name, field in fields.items():
        if field.required and name not in value:
            report(path, f"{dotted(path)} has no {name}", describe(field.type), f"{name} = {_example(field.type)}")


def _unknown(key: str, fields: dict[str, Any], path: Path, report: Report) -> None:
    full = (*path, key)
    moved = RENAMED.get(dotted(full)) or RENAMED.get(key)
    near = close(key, fields)
    expected = moved or (f"{near}" if near else f"one of {', '.join(sorted(fields))}")
    fix = "" if moved or not near else f"{near} = …"
    report(full, f"unknown key {dotted(full)}", expected, fix)


def _wrong(kind: inspect.Type, value: Any, path: Path, report: Report) -> None:
    near = close(value, _choices(kind)) if isinstance(value, str) else ""
    fix = f'{path[-1]} = "{near}"' if near and isinstance(path[-1], str) else f'"{near}"' if near else ""
    report(path, f"{dotted(path)} = {shown(value)}", describe(kind), fix)


def _choices(kind: inspect.Type) -> tuple[str, ...]:
    match kind:
        case inspect.LiteralType():
            return tuple(str(value) for value in kind.values if value != "")
        case inspect.EnumType():
            return tuple(str(member.value) for member in kind.cls)
    return ()


def _fits(kind: inspect.Type, value: Any) -> bool:
    match kind:
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool) and _within(kind, value)
        case inspect.FloatType():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and math.isfinite(value) and _within(kind, value)
        case inspect.StrType():
            if not isinstance(value, str) or not (kind.min_length or 0) <= len(value) <= (kind.max_length or 100_000):
                return False
            return kind.pattern is None or re.search(kind.pattern, value) is not None
        case inspect.LiteralType():
            return isinstance(value, str) and value in kind.values
        case inspect.EnumType():
            return isinstance(value, str) and value in _choices(kind)
        case inspect.VarTupleType():
            return isinstance(value, list) and bool(value) and all(_fits(kind.item_type, inner) for inner in value)
    return False


def _within(kind: inspect.IntType | inspect.FloatType, value: float) -> bool:
    low = value >= kind.ge if kind.ge is not None else kind.gt is None or value > kind.gt
    return low and (kind.le is None or value <= kind.le) and abs(value) < 2**53


def describe(kind: inspect.Type) -> str:
    """A kind in words."""
    match kind:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number" + _range(kind)
        case inspect.FloatType():
            return "a number" + _range(kind)
        case inspect.StrType():
            return IN_WORDS.get(kind.pattern or "") or ("text" if not kind.min_length else "some text")
        case inspect.LiteralType() | inspect.EnumType():
            return "one of " + ", ".join(_choices(kind))
        case inspect.VarTupleType():
            return f"a list: each {describe(kind.item_type)}"
        case inspect.DictType():
            return f"a table: each value {describe(kind.value_type)}"
        case inspect.StructType():
            return "a table"
        case inspect.UnionType():
            return " or ".join(describe(one) for one in kind.types)
    return "something else"


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.gt is not None:
        return f" above {kind.gt:g}"
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge:g} to {kind.le:g}"
    return f", at least {kind.ge:g}" if kind.ge is not None else ""


def _example(kind: inspect.Type) -> str:
    return f'"{choices[0]}"' if (choices := _choices(kind)) else '"…"'
