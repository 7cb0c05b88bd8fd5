"""Appending, reading, snapshots, backups, viewing: what the journal promises on a good day."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.events import Noted, Paused, TaskStarted, Unknown, encode
from engine.journal import (
    JournalBroken,
    JournalConflict,
    JournalCorrupt,
    JournalError,
    JournalMissing,
    JournalReadOnly,
    JournalTooNew,
    UnreadableEvent,
    opening,
    replace,
    schema,
)
from engine.journal.verify import Damage
from tests.depth import examples
from tests.journal.conftest import NOW, STREAM, Place, numbered

TASK = TaskStarted(task="1.2", lane=0, rung=1, complexity=4, reason="scope is small")


def test_what_is_appended_is_read_back(place: Place) -> None:
    with place.open() as journal:
        first = journal.append(STREAM, [TASK, Paused(by="me")])
        second = journal.append("004-other", [Noted(text="naïve ✔ \u0000 日本語")])
        assert journal.append(STREAM, []) == []
    assert [(e.seq, e.stream, e.at) for e in first + second] == [
        (1, STREAM, NOW),
        (2, STREAM, NOW),
        (3, "004-other", NOW),
    ]
    with place.open() as journal:
        assert list(journal.read()) == first + second
        assert list(journal.read(STREAM)) == first
        assert journal.streams() == [STREAM, "004-other"]
        assert (journal.last_seq(), journal.last_seq(STREAM), journal.last_seq("none")) == (3, 2, 0)
        assert journal.recovery is None
        assert journal.append(STREAM, [TASK])[0].seq == 4


@pytest.mark.parametrize("stream", [None, STREAM], ids=["all", "stream"])
@pytest.mark.parametrize(
    ("after", "limit"), [(0, None), (0, 0), (0, 1), (5, 7), (1998, None), (999, 1000), (0, 1000), (0, 2500), (9999, 3)]
)
def test_reading_in_pages(place: Place, stream: str | None, after: int, limit: int | None) -> None:
    with place.open() as journal:
        for start in range(0, 2200, 550):
            journal.append(STREAM, [Noted(text=str(n)) for n in range(start, start + 550)])
            journal.append("other", [Noted(text="-")] * 3)
        every = [e for e in journal.read() if stream in (None, e.stream) and e.seq > after]
        assert list(journal.read(stream, after, limit)) == (every if limit is None else every[:limit])


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "ü"]), st.integers(0, 4)), max_size=12), st.data())
def test_any_history_is_kept_in_order(
    tmp_path_factory: pytest.TempPathFactory, batches: list, data: st.DataObject
) -> None:
    place = Place(tmp_path_factory.mktemp("history"))
    written = []
    journal = place.open()
    for stream, count in batches:
        written += journal.append(stream, numbered(len(written), count))
        if data.draw(st.booleans()):
            journal.close()
            journal = place.open()
    assert list(journal.read()) == written
    assert [e.seq for e in written] == list(range(1, len(written) + 1))
    assert sorted({e.stream for e in written}) == journal.streams()
    assert journal.verify() == len(written)
    journal.close()


def test_bytes_are_stored_as_encoded_and_a_newer_event_is_kept(place: Place) -> None:
    newer = Unknown(type="from_the_future", raw={"type": "from_the_future", "z": 1, "a": [None]})
    with place.open() as journal:
        journal.append(STREAM, [TASK, newer])
        assert [e.event for e in journal.read()] == [TASK, newer]
    connection = apsw.Connection(str(place.db))
    assert connection.execute("SELECT body FROM event").fetchall() == [(encode(TASK),), (encode(newer),)]
    connection.close()


def test_a_history_of_a_newer_version_is_shown_and_never_appended_to(place: Place) -> None:
    newer = Unknown(type="from_the_future", raw={"type": "from_the_future"})
    odd = Unknown(type="paused", raw={"type": "paused", "by": 7})
    with place.open() as journal:
        journal.append(STREAM, [TASK, newer, odd])
    with pytest.raises(JournalTooNew, match="from_the_future") as caught:
        place.open()
    assert "Update devteam" in caught.value.hint
    with place.open(read_only=True) as view:
        assert [e.event for e in view.read()] == [TASK, newer, odd]


def test_one_failed_reading_is_not_damage(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite reports a page it could not read in the same words as a damaged one: only what repeats is believed."""
    with place.open() as journal:
        journal.append(STREAM, [TASK])
    real, looks = opening.check_complete, []

    def once(*given: Any) -> Any:
        looks.append(1)
        if len(looks) == 1:
            raise Damage("SQLite reports: unable to get page 2 (disk I/O error)")
        return real(*given)

    monkeypatch.setattr(opening, "check_complete", once)
    with place.open() as journal:
        assert journal.recovery is None
        assert len(looks) == 2
    assert [path.name for path in place.db.parent.iterdir() if "damaged" in path.name] == []


def test_an_event_this_version_cannot_read_is_named(place: Place) -> None:
    with place.open() as journal:
        journal.append(STREAM, [Unknown(type="paused", raw={"type": "paused", "by": 7})])
    with place.open() as journal, pytest.raises(UnreadableEvent, match=r"Event 1 \(paused\)") as caught:
        list(journal.read())
    assert caught.value.hint


@pytest.mark.parametrize("at", [0.0, -0.0, 1.0, 1e300, NOW, 1_700_000_000], ids=str)
def test_any_time_survives(place: Place, at: float) -> None:
    with place.open(clock=lambda: 1.0) as journal:
        journal._clock = lambda: at
        journal.append(STREAM, [TASK])
    with place.open() as journal:
        assert journal.recovery is None
        assert next(journal.read()).at == at


def test_files_are_private(place: Place) -> None:
    old = os.umask(0)
    try:
        schema.create(place.db.parents[1] / "from the first moment")
        assert oct((place.db.parents[1] / "from the first moment").stat().st_mode & 0o777) == "0o600"
        with place.open() as journal:
            journal.append(STREAM, [TASK])
            copy = journal.backup()
            files = [*place.db.parent.iterdir(), copy]
            assert {path.name for path in files} >= {
                "devteam.db",
                "devteam.db-wal",
                "devteam.db-shm",
                "devteam.db-mark",
            }
            assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}
            assert oct(place.db.parent.stat().st_mode & 0o777) == "0o700"
            assert oct(place.backups.stat().st_mode & 0o777) == "0o700"
    finally:
        os.umask(old)


def test_a_snapshot_is_only_a_cache(place: Place) -> None:
    with place.open() as journal:
        journal.append(STREAM, numbered(0, 10))
        with pytest.raises(JournalError, match="no event 11"):
            journal.save_snapshot(STREAM, 11, b"state", "fold-1")
        journal.save_snapshot(STREAM, 4, b"old", "fold-1")
        journal.save_snapshot(STREAM, 9, b"state\0", "fold-1")
        assert journal.load_snapshot(STREAM, "fold-1") == (9, b"state\0")
        assert journal.load_snapshot(STREAM, "fold-2") is None
        assert journal.load_snapshot("other", "fold-1") is None


@pytest.mark.parametrize("column", ["seq = 8", "body = x'00'", "chain = zeroblob(32)", "crc = crc + 1"])
def test_a_damaged_snapshot_is_ignored(place: Place, column: str) -> None:
    with place.open() as journal:
        journal.append(STREAM, numbered(0, 10))
        journal.save_snapshot(STREAM, 9, b"state", "fold-1")
    connection = apsw.Connection(str(place.db))
    connection.execute(f"UPDATE snapshot SET {column}")
    connection.close()
    with place.open() as journal:
        assert journal.load_snapshot(STREAM, "fold-1") is None
        assert journal.last_seq() == 10


def test_the_last_three_backups_are_kept_and_whole(place: Place) -> None:
    with place.open() as journal:
        for n in range(5):
            journal.append(STREAM, numbered(n, 1))
            newest = journal.backup()
            assert journal.backups()[0] == newest
        assert [path.name for path in journal.backups()] == [f"journal-0000000{n}.db" for n in (5, 4, 3)]
        assert len(list(place.backups.iterdir())) == 3
    with type(journal).open(newest, clock=lambda: NOW, backup_dir=place.backups, read_only=True) as copy:
        assert copy.verify() == 5


def test_a_second_writer_is_noticed_not_mixed_in(place: Place) -> None:
    with place.open(busy_ms=50) as one, place.open(busy_ms=50) as two:
        one.append(STREAM, [TASK])
        for _ in range(2):
            with pytest.raises(JournalConflict):
                two.append(STREAM, [Paused()])
        one.append(STREAM, [TASK])
        assert [e.event for e in one.read()] == [TASK, TASK]


# ── viewing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_viewer_follows_a_writer(place: Place) -> None:
    with place.open() as writer:
        writer.append(STREAM, numbered(0, 3))
        with place.open(read_only=True) as viewer:
            assert viewer.read_only
            assert len(viewer.tail(0)) == 3
            assert viewer.tail(3) == []
            written = writer.append(STREAM, numbered(3, 2))
            assert viewer.tail(3) == written
            with pytest.raises(JournalReadOnly):
                viewer.append(STREAM, [TASK])
        assert writer.append(STREAM, [TASK])[0].seq == 6


def test_a_viewer_follows_a_writer_in_another_process(place: Place) -> None:
    place.fill(2)
    code = f"""
from pathlib import Path
from typing import Any
from tests.journal.conftest import Place, numbered, STREAM
place = Place(Path({str(place.db.parents[1])!r}))
journal = place.open()
for n in range(20):
    journal.append(STREAM, numbered(2 + n, 1))
print("done", flush=True); input()
"""
    with place.open(read_only=True) as viewer:
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        assert [e.seq for e in viewer.tail(2)] == list(range(3, 23))
        child.communicate(b"\n")
    assert child.returncode == 0


def test_a_viewer_moves_to_the_restored_file(place: Place) -> None:
    events = place.fill(10, backup_at=10)
    with place.open(read_only=True) as viewer:
        assert len(viewer.tail(0)) == 10
        place.db.rename(place.beside("-moved"))
        with place.open() as writer:
            assert writer.recovery is not None
            writer.append(STREAM, [TASK])
            assert [e.event for e in viewer.tail(0)] == [*events, TASK]


def test_viewing_what_is_not_there_makes_nothing(place: Place) -> None:
    with pytest.raises(JournalMissing) as caught:
        place.open(read_only=True)
    assert "devteam init" in caught.value.hint
    assert not place.db.parent.exists()


def test_a_viewer_names_a_changed_event(place: Place) -> None:
    place.fill(10)
    connection = apsw.Connection(str(place.db))
    connection.execute("UPDATE event SET at = 5 WHERE seq = 6")
    connection.close()
    with place.open(read_only=True) as viewer, pytest.raises(JournalCorrupt, match="event 6"):
        list(viewer.read())


# ── formats ────────────────────────────────────────────────────────────────────────────────────────────────────────


def set_format(path: Path, number: int) -> None:
    connection = apsw.Connection(str(path))
    schema.set_format(connection, number)
    connection.close()


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "viewer"])
def test_a_newer_journal_is_refused_and_left_alone(place: Place, read_only: bool) -> None:
    place.fill(3)
    set_format(place.db, schema.FORMAT + 1)
    before = place.db.read_bytes()
    with pytest.raises(JournalTooNew, match="newer devteam") as caught:
        place.open(read_only=read_only)
    assert "Update devteam" in caught.value.hint
    assert place.db.read_bytes() == before


def test_an_older_journal_is_migrated_on_a_copy(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    events = place.fill(5)
    set_format(place.db, 0)
    before = place.db.read_bytes()

    def step(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO meta VALUES('migrated', 'yes')")

    monkeypatch.setattr(schema, "STEPS", {0: step})
    assert place.facts() == events
    kept = list(place.db.parent.glob("devteam.db.format-0-*Z"))
    assert [path.read_bytes() for path in kept] == [before]
    connection = apsw.Connection(str(place.db))
    assert connection.execute("SELECT value FROM meta WHERE key = 'migrated'").get == "yes"
    assert schema.formats(connection) == (schema.FORMAT, schema.FORMAT)
    connection.close()


def test_a_migration_that_fails_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.fill(5)
    set_format(place.db, 0)
    before = place.db.read_bytes()

    def step(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM event WHERE seq = 3")

    monkeypatch.setattr(schema, "STEPS", {0: step})
    for _ in range(2):
        with pytest.raises(JournalBroken, match="event 3 is missing"):
            place.open()
        assert place.db.read_bytes() == before
    assert not list(place.db.parent.glob("*.making*"))


@pytest.mark.parametrize("stage", ["made", "kept", "log gone"])
def test_a_replacement_cut_short_is_finished(place: Place, stage: str) -> None:
    """The stages a crash can leave behind: the next start takes the new file, and the old one is kept."""
    place.fill(3)
    old = place.db.read_bytes()
    new = Place(place.db.parents[1] / "new")
    events = new.fill(8)
    new.db.rename(place.beside(".next-corrupt-T"))
    place.beside("-wal").write_bytes(b"old log")
    if stage != "made":
        os.link(place.db, place.beside(".corrupt-T"))
        os.link(place.beside("-wal"), place.beside(".corrupt-T-wal"))
    if stage == "log gone":
        place.beside("-wal").unlink()
    place.beside("-mark").unlink()
    assert place.facts() == events
    assert place.beside(".corrupt-T").read_bytes() == old
    assert place.beside(".corrupt-T-wal").read_bytes() == b"old log"
    assert not place.beside(".next-corrupt-T").exists()
    replace.finish(place.db)
    assert place.facts() == events
