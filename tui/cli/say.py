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

    return open_desk(here(), os.environ, Path.home())


def here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        from engine.link.errors import UserError

        raise UserError("the folder you are in is gone", "cd into a repository") from error


def out(text: str = "") -> None:
    try:
        sys.stdout.write(f"{text}\n")
    except BrokenPipeError:
        _reader_gone()


def flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_gone()


def json_line(data: Any) -> None:
    try:
        sys.stdout.buffer.write((data if isinstance(data, bytes) else msgspec.json.encode(data)) + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _reader_gone()


def hush() -> None:
    """Nobody reads stdout any more: what is still to be said goes nowhere, so that the exit is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reader_gone() -> None:
    """devteam log | head: there is nobody left to tell, which is no failure."""
    hush()
    raise SystemExit(0)


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
