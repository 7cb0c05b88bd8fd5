"""Formatters that go through the whole folder find devteam's files, too, and the project's own check would be red."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from engine import files
from engine.paths import RepoPaths

_NAMED = ("package.json", ".pre-commit-config.yaml")
# Prettier takes the nearest settings for each file. Only what says so at its top is formatted by these, and JSON, which
# cannot say so, is read as a document.
_PRETTIER = (
    '{ "requirePragma": true, '
    '"overrides": [{ "files": ["*.json", ".prettierrc"], "options": { "parser": "markdown" } }] }\n'
)


def ensure_unformatted(root: Path) -> None:
    """Where the project formats with prettier, `.devteam/` has settings of its own that leave it as it is."""
    if not _formats(root):
        return
    with suppress(FileExistsError):
        files.write_new(RepoPaths(root=root).folder / ".prettierrc", _PRETTIER, mode=files.SHARED)


def _formats(root: Path) -> bool:
    if any(root.glob(".prettierrc*")) or any(root.glob("prettier.config.*")):
        return True
    for name in _NAMED:
        with suppress(OSError):
            if b"prettier" in (root / name).read_bytes()[:1_000_000]:
                return True
    return False
