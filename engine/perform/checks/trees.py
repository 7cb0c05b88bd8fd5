"""What the clean room needs of git: trees by hash, materialised, overlaid and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from engine.core.model import FileChange


class Trees(Protocol):
    """Provided by the workspace room. Methods block and are called in a thread; renames are never folded."""

    def export(self, tree: str, dest: Path) -> None:
        """Make `dest` hold exactly `tree`, touching only what differs; mount points aside, nothing else stays there."""
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
        """Tree id of the tracked files of an exported folder as they are now, by the engine's own git directory."""
        ...
