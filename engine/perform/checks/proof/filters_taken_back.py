"""pytest's warnings as errors, and a later line that takes that back: the last filter that fits wins. Pure."""

from __future__ import annotations

import configparser
import posixpath
import tomllib
from collections.abc import Sequence

from engine.core.grants import Rule
from engine.perform.checks.proof.suspicious import Hit

_FILES = frozenset({"pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"})
_EVERY = frozenset({"", "Warning", "builtins.Warning", "Exception"})


def taken_back(path: str, before: bytes | None, after: bytes | None) -> list[Hit]:
    """The new filter behind `error` that lets every warning pass again."""
    now = _back(_filters(path, after))
    if not now or now == _back(_filters(path, before)):
        return []
    text = f"the filter `{now}` stands behind `error` and takes it back for every warning"
    return [(Rule.CONFIG_CHANGED, 0, text)]


def _back(filters: Sequence[str]) -> str:
    strict, found = False, ""
    for one in filters:
        action, message, category, module, line = (*(part.strip() for part in one.split(":")), "", "", "", "")[:5]
        if message or module or line.strip("0") or category not in _EVERY:
            continue
        strict = strict or action == "error"
        found = one if strict and action != "error" else ""
    return found


def _filters(path: str, data: bytes | None) -> list[str]:
    name, text = posixpath.basename(path), (data or b"").decode("utf-8", "replace")
    try:
        if name == "pyproject.toml":
            told = (
                tomllib.loads(text).get("tool", {}).get("pytest", {}).get("ini_options", {}).get("filterwarnings", [])
            )
        elif name in _FILES:
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            section = "tool:pytest" if name == "setup.cfg" else "pytest"
            told = parser.get(section, "filterwarnings", fallback="")
        else:
            return []
    except (ValueError, AttributeError, configparser.Error):
        return []
    lines = told.splitlines() if isinstance(told, str) else told if isinstance(told, list) else []
    return [str(line).strip() for line in lines if str(line).strip()]
