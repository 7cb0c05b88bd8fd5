"""How the command line speaks: JSON lines for programs, words for people, colour only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from engine.service.local import Desk, SprintFolder


def desk(start: Path | None = None) -> Desk:
    """The repository around `start`, or around the working directory."""
    from engine.service.local import open_desk

    return open_desk(start or here(), os.environ, Path.home())


def sprint(desk: Desk, hint: str) -> SprintFolder:
    """The sprint that is meant; where several could be, a person at the terminal is asked which."""
    from engine.service.local import SprintNotFound

    try:
        return desk.sprint(hint)
    except SprintNotFound as several:
        if len(several.choices) < 2 or not on_terminal():
            raise
        out(str(several))
        return desk.sprint(input("Which sprint? ").strip() or hint)


def here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        from engine.link.user_errors import UserError

        raise UserError("the folder you are in is gone", "cd into a repository") from error


def out(text: str = "") -> None:
    try:
        sys.stdout.write(f"{text}\n")
    except BrokenPipeError:
        _reader_gone()


def short(text: str, width: int = 60) -> str:
    """One line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_gone()


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """What is being done now: one line that is written over on a terminal, a plain line per step elsewhere."""
    live = sys.stderr.isatty()
    last = ""

    def show(text: str) -> None:
        nonlocal last
        step = text.strip().partition("\n")[0]
        if live:
            sys.stderr.write(f"\r\x1b[2K  … {step[: max(20, _columns() - 6)]}")
        elif not text.startswith("\t") and step != last:  # what a check says itself is for a terminal only
            sys.stderr.write(f"… {step}\n")
            last = step
        sys.stderr.flush()

    try:
        yield show
    finally:
        if live:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


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
