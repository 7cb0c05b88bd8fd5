"""Folders whose very name keeps devteam from working: said in one line, with what to type."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def unusable(path: Path, whose: str, *, on_one_line: bool = True) -> tuple[str, str]:
    """What is wrong with the name of a folder, and the line that mends it; two empty words for most."""
    names = (*reversed(path.parents), path)
    wrong = next((one for one in names if (on_one_line and "\n" in one.name) or not _utf8(one)), None)
    if wrong is None:
        return "", ""
    what = "has a line break in it" if "\n" in wrong.name else "is not UTF-8, which the journal's database needs"
    return f"the path of {whose} {what}", f"mv {_typed(wrong)} {shlex.quote(str(_on_one_line(wrong)))}"


def _utf8(path: Path) -> bool:
    try:
        path.name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _typed(path: Path) -> str:
    """A path that holds what cannot be printed, as bash and zsh take it."""
    text = str(path).translate({ord("\\"): "\\\\", ord("'"): "\\'"})
    escaped = (one if one.isprintable() else "".join(f"\\x{byte:02x}" for byte in os.fsencode(one)) for one in text)
    return f"$'{''.join(escaped)}'"


def _on_one_line(path: Path) -> Path:
    """The same place with a name that can be typed."""
    return Path("".join(one if one.isprintable() else "-" for one in str(path)))
