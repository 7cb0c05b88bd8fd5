"""Values of a data or settings file that changed beside the ones the task speaks of. Pure; it only asks.

The task names a limit and a file, and so the file may change; a second limit in it changes with nobody's words, and no
test looks at it. Keys are compared, not lines: JSON, TOML, and files of `key = value`.
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping

from engine.core.grants import Rule
from engine.globs import matches
from engine.perform.checks.proof.file_grants import LOCKS
from engine.perform.checks.proof.suspicious import Hit

MOST = 200_000
Value = str | frozenset[str]


def unasked(path: str, before: bytes | None, after: bytes | None, words: str) -> list[Hit]:
    """The first value that is another one or gone, and is not spoken of, where another one of the same file is."""
    if before is None or after is None or max(len(before), len(after)) > MOST or matches(path, LOCKS):
        return []
    try:
        old, new = dict(_flat(_read(path, before))), dict(_flat(_read(path, after)))
    except (ValueError, TypeError, RecursionError, configparser.Error):
        return []
    changes = list(_changes(old, new))
    asked = [change for change in changes if _spoken(change, words)]
    odd = [change for change in changes if change not in asked and change[2]]
    if not asked or not odd or len(odd) > len(asked):
        return []  # where most of it is new, the words are about the file as a whole
    key, _, gone = odd[0]
    text = f"{key} changes too ({', '.join(sorted(gone))[:60]} is gone), and the task does not speak of that"
    return [(Rule.MORE_CHANGED, 0, text)]


Changed = tuple[str, frozenset[str], frozenset[str]]
"""(key, values that came, values that went)."""


def _changes(old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[Changed]:
    """A scalar that is another one is one change; what came into a list and what went from it are two."""
    for key in sorted({*old, *new}):
        was, now = (_many(some.get(key)) for some in (old, new))
        come, gone = now - was, was - now
        if isinstance(old.get(key), str) and isinstance(new.get(key), str):
            words, more = (frozenset(str(some[key]).split()) for some in (old, new))
            if words < more:  # options that came to others: none is gone
                come, gone = more - words, frozenset()
        if isinstance(old.get(key), frozenset) and come and gone:
            names = {_name(value) for value in come}
            yield key, come, frozenset(value for value in gone if _name(value) in names)
            gone, come = frozenset(value for value in gone if _name(value) not in names), frozenset()
        if come or gone:
            yield key, come, gone


def _name(value: str) -> str:
    """Of a dependency: `pytest>=8` and `pytest>=9` are one."""
    return re.split(r"[<>=~!^@ ;]", value)[0]


def _many(value: Value | None) -> frozenset[str]:
    return frozenset() if value is None else value if isinstance(value, frozenset) else frozenset({value})


def _spoken(change: Changed, words: str) -> bool:
    """By its key, or by a value that came or went; of a list that lost something, by what it lost."""
    key, come, gone = change
    return _any(come | gone, words) or (bool(come) and _says(re.split(r"[.\[]", key)[-1], words))


def _any(values: frozenset[str], words: str) -> bool:
    return any(_says(value, words) for value in values)


def _says(value: str, words: str) -> bool:
    forms = {
        value,
        value.removesuffix(".0"),
        re.split(r"[<>=~!^ ]", value)[0],
        value.lstrip("<>=~!^ "),
        value.replace("_", " ").replace("-", " "),
    }
    return any(form and re.search(rf"(?<![\w.]){re.escape(form)}(?!\w)", words, re.IGNORECASE) for form in forms)


def _read(path: str, data: bytes) -> object:
    text = data.decode()
    match posixpath.splitext(path)[1]:
        case ".json":
            return json.loads(text)
        case ".toml":
            return tomllib.loads(text)
        case ".ini" | ".cfg":
            parser = configparser.RawConfigParser(strict=False)
            parser.read_string(text)
            return {name: dict(parser[name]) for name in parser.sections()}
    raise ValueError(path)


def _flat(value: object, key: str = "") -> Iterator[tuple[str, Value]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _flat(inner, f"{key}.{name}" if key else str(name))
        case list() if all(not isinstance(one, dict | list) for one in value):
            yield key, frozenset(str(one) for one in value)
        case list():
            for number, inner in enumerate(value):
                yield from _flat(inner, f"{key}[{number}]")
        case _:
            yield key, str(value)
