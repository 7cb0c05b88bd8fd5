"""The journal's file deleted, replaced or moved under the engine that has it open: noticed at the next append."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.core.events import Noted
from engine.journal import Journal
from engine.journal.journal_errors import JournalBroken


def opened(folder: Path) -> Journal:
    return Journal.open(folder / "repo/devteam.db", clock=lambda: 5.0, backup_dir=folder / "backups")


def texts(journal: Journal) -> list[str]:
    return [one.event.text for one in journal.read("s") if isinstance(one.event, Noted)]


def filled(folder: Path, count: int = 5) -> Journal:
    journal = opened(folder)
    for number in range(count):
        journal.append("s", [Noted(text=str(number))])
    return journal


@pytest.mark.parametrize(
    "names",
    [("",), ("", "-wal", "-shm"), ("", "-mark"), ("", "-wal", "-shm", "-mark"), ("", "-wal")],
    ids=lambda names: "+".join(names) or "-",
)
def test_a_deleted_file_is_written_anew_with_all_of_it(tmp_path: Path, names: tuple[str, ...]) -> None:
    with filled(tmp_path) as journal:
        for name in names:
            (tmp_path / f"repo/devteam.db{name}").unlink()
        journal.append("s", [Noted(text="after")])
        assert journal.recovery is not None
        assert "gone" in journal.recovery.words()
        assert journal.recovery.lost == 0
        journal.append("s", [Noted(text="and on")])
    with opened(tmp_path) as again:
        assert again.recovery is None
        assert texts(again) == ["0", "1", "2", "3", "4", "after", "and on"]


def test_another_file_in_its_place_is_not_written_to(tmp_path: Path) -> None:
    with filled(tmp_path) as journal:
        path = tmp_path / "repo/devteam.db"
        path.unlink()
        path.write_bytes(b"somebody else's")
        journal.append("s", [Noted(text="after")])
    with opened(tmp_path) as again:
        assert texts(again) == ["0", "1", "2", "3", "4", "after"]
    assert [p for p in (tmp_path / "repo").iterdir() if p.is_file() and p.read_bytes() == b"somebody else's"]


def test_a_folder_that_is_moved_takes_its_journal_along(tmp_path: Path) -> None:
    with filled(tmp_path) as journal:
        moved = (tmp_path / "repo").rename(tmp_path / "moved")
        journal.append("s", [Noted(text="after")])
        assert not (tmp_path / "repo").exists()
    with Journal.open(moved / "devteam.db", clock=lambda: 5.0, backup_dir=tmp_path / "backups") as again:
        assert again.recovery is None
        assert texts(again) == ["0", "1", "2", "3", "4", "after"]


def test_a_folder_that_is_gone_is_said_and_nothing_is_recorded(tmp_path: Path) -> None:
    with filled(tmp_path) as journal:
        shutil.rmtree(tmp_path / "repo")
        with pytest.raises(JournalBroken, match="gone"):
            journal.append("s", [Noted(text="after")])
        (tmp_path / "repo").mkdir()
        journal.append("s", [Noted(text="later")])
    with opened(tmp_path) as again:
        assert texts(again) == ["0", "1", "2", "3", "4", "later"]
