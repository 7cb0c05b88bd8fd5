"""What the clean room needs of git: trees by hash, materialised, overlaid and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def contents(self, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """The contents of several regular files at once; what is not there is left out."""
        ...

    def edit(self, tree: str, files: Mapping[str, bytes | None]) -> str:
        """`tree` with these files written, or removed where the value is None. Returns the new tree's id."""
        ...

    def files(self, tree: str) -> Sequence[str]: ...

    def diff_files(self, old: str, new: str) -> Sequence[FileChange]: ...

    def hash_folder(self, folder: Path) -> str:
        """Tree id of the tracked files of an exported folder as they are now, by the engine's own git directory."""
        ...
