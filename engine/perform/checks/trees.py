"""What the clean room needs of git: trees by hash, materialised, overlaid and compared. The workspace room provides it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from engine.core.model import FileChange


class Trees(Protocol):
    """Trees are git tree (or commit) ids; paths are relative, with forward slashes; renames are never folded."""

    def export(self, tree: str, dest: Path) -> None:
        """Make the tracked files of `dest` those of `tree`, touching only what differs; files the tree lacks may stay."""
        ...

    def overlay(self, tree: str, paths: Sequence[str], from_tree: str) -> str:
        """`tree` with each of `paths` as `from_tree` has it (absent there: removed). Returns the new tree's id."""
        ...

    def show(self, tree: str, path: str) -> bytes | None:
        """The content of a regular file; None when there is none."""
        ...

    def files(self, tree: str) -> Sequence[str]: ...

    def diff_files(self, old: str, new: str) -> Sequence[FileChange]: ...

    def hash_folder(self, folder: Path) -> str:
        """Tree id of what the folder holds now, seen with the engine's own eyes (no filters, hooks or excludes)."""
        ...
