"""A program that ends at once because the sandbox hides a file from it: which one, and what shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PATH = re.compile(r"(?<![\w.])/[^\s:;,'\"`()<>]+")
_MISSING = re.compile(r"no such file|cannot open|can't open|not found|cannot find|enoent", re.IGNORECASE)
MOST = 50
"""Paths of one message that are looked at."""


def hint_for_hidden(said: str, checkout: Path, hidden: Iterable[Path]) -> str:
    """What to type where `said` names a file that is on this machine and that the sandbox does not show; else empty."""
    folders = [folder for folder in hidden if folder != Path("/")]
    for found in reversed(_PATH.findall(said)[-MOST:]):  # what is missing is said last, after who misses it
        path = Path(found.rstrip("."))
        if path.is_relative_to(checkout) and path.exists() and _is_missing(found, said):
            own = path.relative_to(checkout)
            return (
                f"commit {own}: a clone has what is committed; or keep it outside the repository, with its folder in "
                "mounts under [workspace] in .devteam/config.toml"
            )
        if path.is_relative_to(checkout) or not any(path.is_relative_to(folder) for folder in folders):
            continue
        if path.exists():
            shown = path if path.is_dir() else path.parent
            return f'mounts = ["{shown}"] under [workspace] in .devteam/config.toml: the sandbox hides {path.name}'
    return ""


def _is_missing(path: str, said: str) -> bool:
    """What is committed is in the clone: only of a file that is not can a program say that it is not there."""
    return any(path in line and _MISSING.search(line) for line in said.splitlines())
