"""How the command line speaks: JSON lines for programs, words for people, colour only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from engine.link.local import Desk


def desk() -> Desk:
    """The repository around the working directory."""
    from engine.link.local import open_desk

    return open_desk(Path.cwd(), os.environ, Path.home())


def out(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")


def json_line(data: Any) -> None:
    sys.stdout.buffer.write((data if isinstance(data, bytes) else msgspec.json.encode(data)) + b"\n")
    sys.stdout.buffer.flush()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Plain columns: they read the same on a terminal, in a file and over ssh."""
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]
    for line in lines:
        out("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def utc_offset() -> float:
    import time

    return float(time.localtime().tm_gmtoff)


def today() -> str:
    import datetime

    return datetime.datetime.now().astimezone().date().isoformat()


def clock_text(at: float) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
