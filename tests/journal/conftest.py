"""A place for a journal, and short ways to open and fill one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engine.core.events import Fact, Noted
from engine.journal import Journal

NOW = 1_800_000_000.5
STREAM = "003-add-login"


class Place:
    """The files of one journal."""

    def __init__(self, folder: Path) -> None:
        self.db = folder / ".devteam" / "devteam.db"
        self.backups = folder / "state" / "backups"

    def open(
        self, *, read_only: bool = False, busy_ms: int = 5000, clock: Callable[[], float] = lambda: NOW
    ) -> Journal:
        return Journal.open(self.db, clock=clock, backup_dir=self.backups, read_only=read_only, busy_ms=busy_ms)

    def beside(self, ending: str) -> Path:
        return self.db.with_name(self.db.name + ending)

    def fill(self, count: int, backup_at: int = 0) -> list[Fact]:
        """`count` events, small and large, and a backup after event `backup_at`."""
        events = numbered(0, count)
        with self.open() as journal:
            journal.append(STREAM, events[:backup_at])
            if backup_at:
                journal.backup()
            for start in range(backup_at, count, 7):
                journal.append(STREAM, events[start : start + 7])
        return events

    def facts(self) -> list[Fact]:
        with self.open() as journal:
            return [envelope.event for envelope in journal.read()]


def numbered(start: int, count: int) -> list[Fact]:
    """Every 13th spills over several pages."""
    return [Noted(text=f"event {n} " + "x" * (9000 if n % 13 == 12 else n % 90)) for n in range(start, start + count)]


def texts(facts: Sequence[Fact]) -> list[str]:
    return [fact.text.split(" x")[0] for fact in facts if isinstance(fact, Noted)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)
