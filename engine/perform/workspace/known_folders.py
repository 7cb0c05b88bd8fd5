"""What is kept in memory of the folders that are followed (followed.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.perform.workspace.inotify import Watch


@dataclass
class Followed:
    """One folder. Between two looks it holds exactly `tree` and `extras`, but for what its watch hears."""

    folder: Path
    watch: Watch
    tree: str
    extras: set[bytes]
    """What is no part of the tree, outermost paths only."""
    behind: set[bytes] = field(default_factory=set)
    """Paths that a private index of the folder has not been told of."""
    rules: Path | None = None
    """The ignore rules by which the extras are none of the tree."""
    used: int = 0


@dataclass
class Known:
    """The folders of one store that are followed."""

    folders: dict[Path, Followed] = field(default_factory=dict)
    waits: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Folders that became strangers: how many whole looks still to wait before they are followed again, and how many
    the last time."""
    left_behind: dict[Path, str] = field(default_factory=dict)
    """Folders that became strangers, whose private index was not told of all: the tree that it is to be given."""
    uses: int = 0
