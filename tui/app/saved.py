"""What the user chose in the dashboard and finds again next time: theme, times in the output. A file of their own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from engine import files
from engine.core.model import Struct

NAME = "dashboard.toml"


class Saved(Struct, frozen=True, kw_only=True):
    theme: str = ""
    """Empty: the repository's, or the default."""
    times: bool = False


def read(path: Path | None) -> Saved:
    """What is there and makes sense; a file that cannot be read is as if there were none."""
    if path is None:
        return Saved()
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return Saved()
    theme, times = raw.get("theme", ""), raw.get("times", False)
    return Saved(theme=theme if isinstance(theme, str) else "", times=times is True)


def write(path: Path | None, saved: Saved) -> str:
    """Keep it; says what went wrong, or nothing."""
    if path is None:
        return ""
    lines = ["# Written by the dashboard's settings (,)."]
    lines += [f"theme = {json.dumps(saved.theme)}"] if saved.theme else []
    lines += ["times = true"] if saved.times else []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, "\n".join(lines) + "\n", durable=False)
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return ""
