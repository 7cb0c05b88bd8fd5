"""A program that ends at once because the sandbox hides a file from it: which one, and what shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PATH = re.compile(r"(?<![\w.])/[^\s:;,'\"`()<>]+")
MOST = 50
"""Paths of one message that are looked at."""


def hint_for_hidden(said: str, checkout: Path, hidden: Iterable[Path]) -> str:
    """What to type where `said` names a file that is on this machine and that the sandbox does not show; else empty."""
    folders = [folder for folder in hidden if folder != Path("/")]
    for found in reversed(_PATH.findall(said)[-MOST:]):  # what is missing is said last, after who misses it
        path = Path(found.rstrip("."))
        if path.is_relative_to(checkout) or not any(path.is_relative_to(folder) for folder in folders):
            continue
        if path.exists():
            shown = path if path.is_dir() else path.parent
            return f'mounts = ["{shown}"] under [workspace] in .devteam/config.toml: the sandbox hides {path.name}'
    return ""
