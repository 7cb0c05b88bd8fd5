"""Damage of any kind is found or harmless; what is found is restored from the backup and from what can be read."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import apsw
import pytest

from engine.core.events import Fact, Noted
from engine.journal import JournalCorrupt, JournalNotADatabase
from engine.journal.mark import mark_path
from engine.journal.rows import content
from engine.journal.schema import COLUMNS
from tests.journal.conftest import STREAM, Place, numbered, texts

EVENTS, BACKUP_AT = 300, 200


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Fact]]:
    """A journal whose writer was killed: 200 events in the backup, the last ones only in the log."""
    folder = tmp_path_factory.mktemp("pristine")
    place = Place(folder / "live")
    events = place.fill(EVENTS - 30, backup_at=BACKUP_AT)
    with place.open() as journal:
        for event in numbered(EVENTS - 30, 30):
            journal.append(STREAM, [event])
            events.append(event)
        shutil.copytree(folder / "live", folder / "killed")
    return folder / "killed", events


def variant(source: Path, target: Path, clean: bool) -> Place:
    shutil.copytree(source, target)
    place = Place(target)
    place.beside("-shm").unlink(missing_ok=True)
    if clean:
        place.open().close()
        assert not place.beside("-wal").exists()
    return place


def test_the_pristine_journal_is_whole(pristine: tuple[Path, list[Fact]], tmp_path: Path) -> None:
    place = variant(pristine[0], tmp_path / "x", clean=False)
    assert place.beside("-wal").stat().st_size > 4096
    with place.open() as journal:
        assert journal.recovery is None
        assert [e.event for e in journal.read()] == pristine[1]


# ── any mutation ───────────────────────────────────────────────────────────────────────────────────────────────────


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def flip_header(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(100)] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def scribble(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data) - 8)
    data[at : at + 8] = rng.randbytes(8)
    path.write_bytes(data)


def zero_page(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data) // 4096) * 4096
    data[at : at + 4096] = bytes(4096)
    path.write_bytes(data)


def swap_pages(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    a, b = (n * 4096 for n in rng.sample(range(len(data) // 4096), 2))
    data[a : a + 4096], data[b : b + 4096] = data[b : b + 4096], data[a : a + 4096]
    path.write_bytes(data)


def truncate(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def empty(path: Path, _: random.Random) -> None:
    os.truncate(path, 0)


def delete(path: Path, _: random.Random) -> None:
    path.unlink()


def garbage(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.randbytes(rng.randrange(1, 9000)))


def sql(statement: str) -> Callable[[Path, random.Random], None]:
    """Damage that SQLite itself finds nothing wrong with."""

    def run(path: Path, rng: random.Random) -> None:
        connection = apsw.Connection(str(path))
        n = rng.randrange(2, EVENTS - 1)
        connection.execute("BEGIN")
        connection.execute(statement, {"n": n})
        connection.execute("COMMIT")
        connection.close()

    return run


SWAP = """UPDATE event SET seq = -seq, version = -version WHERE seq IN (:n, :n + 1);
UPDATE event SET seq = 2 * :n + 1 + seq, version = 2 * :n + 1 + version WHERE seq < 0"""
DATABASE = [flip, flip, flip, flip_header, scribble, zero_page, swap_pages, truncate, empty, delete, garbage]
STATEMENTS = [
    sql(SWAP),
    sql("DELETE FROM event WHERE seq = :n"),
    sql("DELETE FROM event WHERE seq > :n"),
    sql("DELETE FROM event"),
    sql("UPDATE event SET body = (SELECT body FROM event WHERE seq = :n + 1) WHERE seq = :n"),
    sql("UPDATE event SET at = at + 1 WHERE seq = :n"),
    sql("UPDATE event SET stream = 'x' WHERE seq = :n"),
    sql("DROP TABLE event"),
    sql("PRAGMA user_version = 77"),
]
LOG = [flip, scribble, truncate, empty, delete, zero_page]


def mutate(place: Place, seed: int) -> str:
    rng = random.Random(seed)
    kind = rng.choice(["database", "database", "statement", "log"])
    match kind:
        case "database":
            how = rng.choice(DATABASE)
            how(place.db, rng)
        case "statement":
            how = rng.choice(STATEMENTS)
            how(place.db, rng)
        case _:
            how = rng.choice(LOG)
            how(place.beside("-wal"), rng)
    return f"{kind} {how.__qualname__}"


def survives(pristine: tuple[Path, list[Fact]], folder: Path, seed: int) -> str:
    """Mutate, open, compare: every event is there, or a prefix with at least the backup, and it says what is lost."""
    source, events = pristine
    log = random.Random(seed).choice(["database", "database", "statement", "log"]) == "log"
    place = variant(source, folder, clean=not log and seed % 2 == 0)
    how = mutate(place, seed)
    damaged = place.db.read_bytes() if place.db.exists() else None
    with place.open() as journal:
        found = [e.event for e in journal.read()]
        report = journal.recovery
        assert found == events[: len(found)], how
        if report is None:
            assert found == events, f"{how}: {len(found)} events and not a word"
            outcome = "harmless"
        else:
            assert len(found) >= BACKUP_AT, how
            assert len(found) == report.events == EVENTS - report.lost, how
            assert report.reason
            assert (report.kept_aside is None) == (damaged is None), how
            if report.kept_aside:
                assert report.kept_aside.read_bytes() == damaged, how
            outcome = "whole" if found == events else "shorter"
        assert journal.append(STREAM, [Noted(text="on")])[0].seq == len(found) + 1
    with place.open() as journal:
        assert journal.recovery is None, how
        assert journal.last_seq() == len(found) + 1
    return outcome


@pytest.mark.parametrize("seed", range(40))
def test_mutated(pristine: tuple[Path, list[Fact]], tmp_path: Path, seed: int) -> None:
    survives(pristine, tmp_path / "x", seed)


@pytest.mark.torture
def test_mutated_two_hundred_times(pristine: tuple[Path, list[Fact]], tmp_path: Path) -> None:
    outcomes = [survives(pristine, tmp_path / str(seed), seed) for seed in range(1000, 1200)]
    print({outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))})
    assert len(set(outcomes)) == 3


@pytest.mark.torture
def test_every_bit_of_the_header(pristine: tuple[Path, list[Fact]], tmp_path: Path) -> None:
    for bit in range(800):
        place = variant(pristine[0], tmp_path / str(bit), clean=False)
        data = bytearray(place.db.read_bytes())
        data[bit // 8] ^= 1 << bit % 8
        place.db.write_bytes(data)
        assert place.facts() == pristine[1], bit
        shutil.rmtree(tmp_path / str(bit))


# ── what exactly comes back ────────────────────────────────────────────────────────────────────────────────────────


def overwrite(place: Place, text: str, *, times: int = 1) -> None:
    data = place.db.read_bytes()
    needle = text.encode()
    assert data.count(needle) >= times
    place.db.write_bytes(data.replace(needle, needle.swapcase()))


CASES = [
    pytest.param(lambda p: overwrite(p, "event 100 "), 300, id="event-in-the-backup"),
    pytest.param(lambda p: overwrite(p, "event 249 "), 249, id="event-after-the-backup"),
    pytest.param(lambda p: _zero(p, 0), 300, id="header-and-schema"),
    pytest.param(lambda p: _zero(p, 1), 300, id="root-of-the-table"),
    pytest.param(lambda p: p.db.unlink(), 200, id="gone"),
    pytest.param(lambda p: os.truncate(p.db, 0), 200, id="emptied"),
    pytest.param(lambda p: p.db.write_text("hello"), 200, id="not-a-database"),
]


def _zero(place: Place, page: int) -> None:
    with place.db.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))


@pytest.mark.parametrize(("damage", "restored"), CASES)
def test_what_is_restored(pristine: tuple, tmp_path: Path, damage: Callable[[Place], object], restored: int) -> None:
    place = variant(pristine[0], tmp_path / "x", clean=True)
    damage(place)
    with place.open() as journal:
        report = journal.recovery
        assert report is not None
        assert (report.events, report.lost, report.from_backup) == (restored, EVENTS - restored, BACKUP_AT)
        assert texts([e.event for e in journal.read()]) == texts(pristine[1][:restored])
        words = report.words()
        assert str(report.backup) in words
        assert (f"{EVENTS - restored} acknowledged events" in words) == (restored < EVENTS)
        assert report.kept_aside is None or f"kept as {report.kept_aside}" in words


def forge(place: Place, seq: int) -> None:
    """Change an event and its CRC, as somebody would who knows the format but not the chain."""
    connection = apsw.Connection(str(place.db))
    row = list(connection.execute(f"SELECT {COLUMNS} FROM event WHERE seq = {seq}").fetchone())
    row[6] = row[6].replace(b"event", b"EVENT")
    connection.execute("UPDATE event SET body = ?, crc = ? WHERE seq = ?", (row[6], crc32(content(*row[:7])), seq))
    connection.close()


def spoil_index(place: Place) -> None:
    """One letter in a leaf of the index: no row is touched, but reading a stream would miss an event."""
    data = bytearray(place.db.read_bytes())
    leaf = next(
        at for at in range(4096, len(data), 4096) if data[at] == 0x0A and STREAM.encode() in data[at : at + 4096]
    )
    cell = int.from_bytes(data[leaf + 8 : leaf + 10], "big")
    at = data.index(STREAM.encode(), leaf + cell)
    data[at : at + 1] = b"X"
    place.db.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        pytest.param(lambda p: overwrite(p, "event 100 "), r"event 101 was changed .*CRC", id="crc"),
        pytest.param(lambda p: forge(p, 150), r"event 150 is not the one that followed event 149", id="chain"),
        pytest.param(
            lambda p: sql("DELETE FROM event WHERE seq = 77")(p.db, random.Random(1)), "event 77 is missing", id="gap"
        ),
        pytest.param(
            lambda p: sql("DELETE FROM event WHERE seq > 77")(p.db, random.Random(1)), "300 was acknowledged", id="end"
        ),
        pytest.param(spoil_index, "SQLite reports", id="index"),
    ],
)
def test_each_check_finds_what_the_others_cannot(pristine: tuple, tmp_path: Path, damage: Callable, words: str) -> None:
    place = variant(pristine[0], tmp_path / "x", clean=True)
    damage(place)
    with place.open() as journal:
        assert journal.recovery is not None
        assert re.search(words, journal.recovery.reason), journal.recovery.reason


def test_a_damaged_log_is_not_taken_for_its_end(pristine: tuple, tmp_path: Path) -> None:
    """SQLite drops what follows a bad frame without a word; here the rest of the frames still gives every event."""
    place = variant(pristine[0], tmp_path / "x", clean=False)
    with place.beside("-wal").open("r+b") as file:
        file.seek(32 + 24 + 100)
        file.write(b"\xff")
    connection = apsw.Connection(str(place.db), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("SELECT max(seq) FROM event").get < EVENTS
    connection.close()
    with place.open() as journal:
        assert journal.recovery is not None
        assert f"event {EVENTS} was acknowledged" in journal.recovery.reason
        assert journal.last_seq() == EVENTS


def test_a_damaged_mark_is_harmless(pristine: tuple, tmp_path: Path) -> None:
    for n, data in enumerate((b"", b"x" * 95, b"\xff" * 95, bytes(95))):
        place = variant(pristine[0], tmp_path / str(n), clean=True)
        mark_path(place.db).write_bytes(data)
        with place.open() as journal:
            assert journal.recovery is None
            assert journal.last_seq() == EVENTS


def test_a_bad_backup_is_passed_over_for_the_one_before(pristine: tuple, tmp_path: Path) -> None:
    place = variant(pristine[0], tmp_path / "x", clean=True)
    with place.open() as journal:
        newest = journal.backup()
    newest.write_bytes(newest.read_bytes().replace(b"event 30 ", b"event 31 "))
    place.db.unlink()
    with place.open() as journal:
        assert journal.recovery is not None
        assert journal.recovery.backup != newest
        assert journal.last_seq() == BACKUP_AT


def test_without_a_backup_the_readable_beginning_is_kept(pristine: tuple, tmp_path: Path) -> None:
    place = variant(pristine[0], tmp_path / "x", clean=True)
    shutil.rmtree(place.backups)
    overwrite(place, "event 120 ")
    with place.open() as journal:
        assert journal.recovery is not None
        assert (journal.last_seq(), journal.recovery.lost, journal.recovery.backup) == (120, 180, None)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param(None, JournalCorrupt, id="gone"),
        pytest.param(b"", JournalCorrupt, id="empty"),
        pytest.param(b"a letter to my aunt" * 999, JournalNotADatabase, id="a-letter"),
    ],
)
def test_where_nothing_can_be_restored_nothing_is_touched(place: Place, content: bytes | None, error: type) -> None:
    place.fill(3)
    place.db.unlink()
    if content is not None:
        place.db.write_bytes(content)
    before = {path.name: path.read_bytes() for path in place.db.parent.iterdir()}
    for _ in range(2):
        with pytest.raises(error) as caught:
            place.open()
        assert str(place.db) in str(caught.value)
        assert caught.value.hint
    after = {path.name: path.read_bytes() for path in place.db.parent.iterdir()}
    assert before == {name: data for name, data in after.items() if name in before}
    assert set(after) - set(before) <= {"devteam.db-wal", "devteam.db-shm"}


def test_an_empty_journal_that_is_damaged_is_made_again_and_says_so(place: Place) -> None:
    place.open().close()
    os.truncate(place.db, 0)
    with place.open() as journal:
        assert journal.recovery is not None
        assert journal.recovery.events == journal.recovery.lost == 0
        journal.append(STREAM, numbered(0, 2))


def test_a_backup_of_a_damaged_journal_replaces_none(place: Place) -> None:
    with place.open() as journal:
        journal.append(STREAM, numbered(0, 50))
        good = journal.backup()
        intruder = apsw.Connection(str(place.db))
        intruder.execute("UPDATE event SET at = 1 WHERE seq = 9")
        intruder.close()
        for _ in range(4):
            with pytest.raises(JournalCorrupt, match="event 9"):
                journal.backup()
        assert journal.backups() == [good]
        assert list(place.backups.iterdir()) == [good]
