"""Settings that only ask for more: a rule added, a marker registered, a threshold raised. Pure.

What makes a check stricter cannot hide a failure, so it needs no permission; R4 runs under it. Whatever is not known
to be stricter is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.proof.steering import PYPROJECT

STRICT_OPTIONS = re.compile(
    r"--strict(?:-markers|-config)?|-r\w+|-v+|-q+|--verbose|--durations(?:=\d+)?|-W\s?error\S*|--showlocals|-l|--tb=\w+|--color=\w+"
)
MORE_LISTS = frozenset(
    {"select", "extend-select", "markers", "enable_error_code", "enable", "extend-safe-fixes", "required_plugins"}
)
"""Lists to which something may be added."""
STRICT_FLAGS = re.compile(
    r"strict\w*|disallow_\w+|warn_\w+|check_\w+|no_implicit_\w+|xfail_strict|branch|show_\w+|pretty|preview"
)
"""Switches that may be turned on."""
RAISED = frozenset({"fail_under", "minversion"})
FREE = frozenset({"target-version", "python_version", "minversion", "show_missing", "precision"})


def stricter(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the checks' own parts of a settings file differ only by asking for more."""
    if before is None or after is None:
        return False
    old, new = (data.decode("utf-8", "replace") for data in (before, after))
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        had, has = (reading.table(reading.toml(text), "tool") for text in (old, new))
        if new.strip() and not reading.toml(new):
            return False
        return all(_more(_at(had, table), _at(has, table), table) for table in PYPROJECT)
    if name in ("setup.cfg", "pytest.ini", "tox.ini", "mypy.ini", ".coveragerc"):
        before_ini, after_ini = reading.ini(old), reading.ini(new)
        if set(before_ini) - set(after_ini):
            return False
        return all(_more(before_ini.get(section), values, section) for section, values in after_ini.items())
    if name in ("ruff.toml", ".ruff.toml"):
        return bool(reading.toml(new)) and _more(reading.toml(old), reading.toml(new), "ruff")
    return False


def _at(data: Mapping[str, Any], dotted: str) -> object:
    *parents, last = dotted.split(".")
    return reading.table(dict(data), *parents).get(last)


def _more(old: object, new: object, key: str) -> bool:
    """`new` asks for at least what `old` asked for."""
    if old == new:
        return True
    if isinstance(new, Mapping) and isinstance(old, Mapping | None):
        had = old or {}
        if set(had) - set(new):
            return False
        return all(_more(had.get(name), value, name) for name, value in new.items())
    if isinstance(new, list) and isinstance(old, list | None):
        return key in MORE_LISTS and [item for item in (old or []) if item not in new] == []
    if isinstance(new, bool) and isinstance(old, bool | None):
        return new and STRICT_FLAGS.fullmatch(key) is not None
    if isinstance(new, int | float) and isinstance(old, int | float | None):
        return key in RAISED and new >= (old or 0)
    if isinstance(new, str) and isinstance(old, str | None):
        return _more_text(old or "", new, key)
    return False


def _more_text(old: str, new: str, key: str) -> bool:
    if key in FREE:
        return True
    if key == "addopts":
        had, has = old.split(), new.split()
        rest = [word for word in has if word not in had]
        return all(word in has for word in had) and all(STRICT_OPTIONS.fullmatch(word) for word in rest)
    if key in MORE_LISTS or key == "markers":
        had, has = ([line.strip() for line in text.splitlines() if line.strip()] for text in (old, new))
        return all(line in has for line in had)
    if re.fullmatch(r"(?i)true|yes|on|1", new.strip()):
        return STRICT_FLAGS.fullmatch(key) is not None
    return False
