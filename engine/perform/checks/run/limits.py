"""Hostile reports, read within bounds: size, depth, no NaN, no entity, never through a symlink."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

MAX_REPORT = 64_000_000
MAX_DEPTH = 100
MAX_ITEMS = 200_000
MAX_TEXT = 2_000


class UnreadableError(Exception):
    """A report that is missing, too big, malformed or not a plain file; the message says which."""


def read_bounded(path: Path, cap: int = MAX_REPORT, not_before: float = 0.0) -> bytes:
    """The bytes of a plain file. The check could write there, so a planted link or pipe is refused, not followed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise UnreadableError(f"the report {path.name} was not written") from None
    except OSError as error:
        raise UnreadableError(f"the report {path.name} cannot be read: {error.strerror}") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError(f"the report {path.name} is not a plain file")
        if status.st_size > cap:
            raise UnreadableError(f"the report {path.name} has {status.st_size} bytes, more than {cap}")
        if status.st_mtime < not_before:
            raise UnreadableError(f"the report {path.name} is older than the run")
        return file.read(cap + 1)[:cap]


def _no_constant(name: str) -> NoReturn:
    raise UnreadableError(f"the report holds the number {name}")


def load_json(data: bytes, what: str = "the report") -> Any:
    """JSON without NaN and infinity. The scanner itself ends bottomless nesting with a RecursionError."""
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{what} is not JSON: {str(error)[:200]}") from None


def json_lines(data: bytes, what: str) -> list[dict[str, Any]]:
    """The objects among the lines of a stream; other lines (a tool's banner) are passed over."""
    found: list[dict[str, Any]] = []
    for line in data.splitlines():
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            value = load_json(line, what)
        except UnreadableError:
            continue
        if isinstance(value, dict):
            found.append(value)
            if len(found) > MAX_ITEMS:
                raise UnreadableError(f"{what} has more than {MAX_ITEMS} lines")
    return found


def text_of(value: object, cap: int = MAX_TEXT) -> str:
    """A string out of a report, without lone surrogates or NUL, cut."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text[:cap].encode("utf-8", "replace").decode("utf-8").replace("\x00", "�")


def int_of(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0


def dict_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value[:MAX_ITEMS] if isinstance(value, list) else []
