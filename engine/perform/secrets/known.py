"""The values that must never be stored: of the environment, of .env files, of the agents' login files.

The files are opened for this alone: what is found goes to the redactor and nowhere else. A token that a program
refreshes during the run is known by its shape only (engine/perform/secrets/redact.py).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from engine.perform.secrets.redact import secret_values
from engine.perform.workspace.secrets import named_like_a_secret

MAX_BYTES = 200_000
"""A larger file is no list of settings."""
_DEEPEST = 12
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^/:@\s]*:([^/@\s]{8,200})@", re.IGNORECASE)


def known_secrets(
    env: Mapping[str, str], *, given: Iterable[Mapping[str, str]] = (), files: Iterable[Path] = ()
) -> tuple[str, ...]:
    """Values of `env` and of the tables `given`, and of settings in `files`, whose name or shape says secret."""
    tables = [env, *given, *(table for path in files for table in settings(path))]
    values = (value for table in tables for value in secret_values(table))
    return tuple(dict.fromkeys(form for value in values for form in (value, *_password(value))))


def _password(value: str) -> Iterator[str]:
    """The password inside an address, which may be said without the address."""
    if found := _ADDRESS.match(value):
        yield unquote(found[1])


def secret_files(root: Path, copied: Iterable[str] = ()) -> tuple[Path, ...]:
    """Files of a checkout that look like keepers of secrets: at its top, and those that are copied into the clones."""
    try:
        top = [path for path in root.iterdir() if named_like_a_secret(os.fsencode(path.name))]
    except OSError:
        top = []
    return tuple(path for path in (*top, *(root / name for name in copied)) if path.is_file())


def settings(path: Path) -> Iterator[dict[str, str]]:
    """The settings in a file: JSON, or lines of NAME=value. One that cannot be read holds nothing for us."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    if text.lstrip().startswith(("{", "[")):
        try:
            for name, value in _leaves(json.loads(text), "", _DEEPEST):
                yield {name: value}
        except (ValueError, RecursionError):
            return
        return
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            yield {name.strip(): _unquoted(value.strip())}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _leaves(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case dict() if depth:
            for key, item in value.items():
                yield from _leaves(item, str(key), depth - 1)
        case list() if depth:
            for item in value:
                yield from _leaves(item, name, depth - 1)
        case _:
            return
