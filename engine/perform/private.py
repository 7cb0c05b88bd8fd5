"""Writing into a folder that an agent had before us: a link it left there is removed, never written through."""

from __future__ import annotations

import os
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write(folder: Path, name: str, text: str) -> None:
    """Put a file into a folder of an agent's private HOME, in place of whatever is there under its name."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
