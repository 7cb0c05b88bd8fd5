"""A read that fails is not damage: it is tried again, then named; the journal is never set aside for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from engine.core import events as ev
from engine.journal import Journal, JournalError

NAME = "unreadable"


class Unreadable(apsw.VFS):
    """The ordinary file system; reads of a database fail from the n-th on, so many times."""

    def __init__(self) -> None:
        super().__init__(NAME, "unix", makedefault=True)
        self.begin = 0
        self.times = 0
        self.reads = 0

    def arm(self, begin: int, times: int) -> None:
        self.begin, self.times, self.reads = begin, times, 0

    def fails(self) -> bool:
        self.reads += 1
        return self.begin > 0 and self.begin <= self.reads < self.begin + self.times

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return _File(name, flags, self)


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], disk: Unreadable) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._disk.fails():
            raise apsw.IOError("the disk does not answer")
        return super().xRead(amount, offset)


@pytest.fixture
def disk() -> Iterator[Unreadable]:
    made = Unreadable()
    yield made
    made.unregister()  # the one that was the default before is it again


def opened(folder: Path) -> Journal:
    return Journal.open(folder / "devteam.db", clock=lambda: 1.0, backup_dir=folder / "backups")


def filled(folder: Path) -> int:
    with opened(folder) as journal:
        for number in range(200):
            journal.append("s", [ev.Noted(text=f"{number} " + "x" * 300)])
        return journal.last_seq()


@pytest.mark.parametrize("times", [1, 10_000], ids=["once", "for good"])
def test_no_read_error_is_taken_for_damage(disk: Unreadable, tmp_path: Path, times: int) -> None:
    last = filled(tmp_path)
    failed = went_on = 0
    for number in range(1, 60):
        disk.arm(number, times)
        try:
            with opened(tmp_path) as journal:
                assert journal.recovery is None, f"read {number}: {journal.recovery}"
                if disk.reads >= number:
                    went_on += 1
        except JournalError as error:
            failed += 1
            assert "damage" not in str(error).lower(), f"read {number}: {error}"
            assert error.hint
        reached = disk.reads >= number
        disk.arm(0, 0)
        assert list(tmp_path.glob("*corrupt*")) == [], f"read {number}"
        with opened(tmp_path) as journal:
            assert journal.recovery is None
            assert journal.last_seq() == last
        if not reached:
            break
    assert failed or went_on, "the fault was never met"
    if times > 1:
        assert failed, "a disk that never answers is named"
    else:
        assert not failed, "one bad moment keeps nobody from opening it"


def test_a_snapshot_that_cannot_be_read_is_none(disk: Unreadable, tmp_path: Path) -> None:
    """It is a cache: the events are read instead, and they say what is wrong with the disk."""
    filled(tmp_path)
    with opened(tmp_path) as journal:
        journal.save_snapshot("s", 150, b"state" * 4000, "fold")
        last = journal.last_seq()
    met = 0
    for number in range(1, 60):
        with opened(tmp_path) as journal:
            disk.arm(number, 10_000)
            kept = journal.load_snapshot("s", "fold")
            reached = disk.reads >= number
            met += reached
            assert reached == (kept is None)
            disk.arm(0, 0)
            assert journal.last_seq() == last
        if not reached:
            break
    assert met, "the fault was never met"
