"""What was acknowledged is there: after SIGKILL at any instant, on a full disk, a failing disk, a read-only disk."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from engine.core.events import Noted
from engine.journal import (
    JournalBroken,
    JournalCorrupt,
    JournalDenied,
    JournalError,
    JournalFull,
    JournalLocked,
    JournalReadOnly,
)
from tests.journal.conftest import STREAM, Place, numbered
from tests.patience import patience

REPO = Path(__file__).parents[2]


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Fork; the child runs `work` with a pipe to acknowledge through. No connection may be open when this is called."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 1
        try:
            work(write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    return pid, read


def acknowledged(read: int) -> int:
    with os.fdopen(read, "rb") as pipe:
        lines = pipe.read().split(b"\n")[:-1]
    return int(lines[-1]) if lines else 0


def kill_writers(place: Place, rng: random.Random, kills: int) -> int:
    """Writers that append, snapshot and back up, each killed at some instant of starting or writing."""
    done = 0

    def write(pipe: int) -> None:
        journal = place.open()
        n = journal.last_seq()
        while True:
            n = journal.append(STREAM, numbered(n, 1 + n % 5))[-1].seq
            os.write(pipe, b"%d\n" % n)
            if n % 7 == 0:
                journal.save_snapshot(STREAM, n, b"state", "fold")
            if n % 40 == 0:
                journal.backup()

    for _ in range(kills):
        pid, read = in_child(write)
        time.sleep(rng.random() * 0.05)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        done = max(acknowledged(read), done)
        with place.open() as journal:
            assert journal.recovery is None
            found = [e.event for e in journal.read()]
            assert len(found) >= done
            assert found == numbered(0, len(found))
            done = len(found)
            if len(found) > 3000:  # verified, so begin anew: the cost of checking is not what this is about
                journal.close()
                for path in [*place.db.parent.iterdir(), *place.backups.iterdir()]:
                    path.unlink()
                done = 0
    return done


def test_killed_at_random_instants(place: Place) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    assert kill_writers(place, random.Random(seed), 40) > 0


@pytest.mark.torture
@pytest.mark.timeout(900)
def test_killed_a_thousand_times(place: Place) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    kill_writers(place, random.Random(seed), 1000)


def kill_restorers(place: Place, rng: random.Random, kills: int) -> None:
    """The restoring itself is killed: whoever comes next ends up with every event and the damaged file."""
    events = place.fill(400, backup_at=250)
    shutil.copytree(place.db.parents[1], keep := place.db.parents[1].with_name("keep"))
    for _ in range(kills):
        shutil.rmtree(place.db.parents[1])
        shutil.copytree(keep, place.db.parents[1])
        data = bytearray(place.db.read_bytes())
        data[0:4096] = bytes(4096)
        place.db.write_bytes(data)
        pid, read = in_child(lambda _: place.open().close())
        time.sleep(rng.random() * 0.04)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read)
        assert place.facts() == events
        assert any(path.read_bytes() == data for path in place.db.parent.glob("devteam.db.corrupt-*Z"))


def test_killed_while_restoring(tmp_path: Path) -> None:
    kill_restorers(Place(tmp_path / "x"), random.Random(7), 15)


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_killed_while_restoring_two_hundred_times(tmp_path: Path) -> None:
    kill_restorers(Place(tmp_path / "x"), random.Random(), 200)


# ── disks that fail ────────────────────────────────────────────────────────────────────────────────────────────────


def fill_up(place: Place, most: int = 5000) -> tuple[JournalError, int]:
    """Append until it is refused; the error, and the last acknowledged sequence."""
    with place.open() as journal:
        n = 0
        while n < most:
            try:
                n = journal.append(STREAM, numbered(n, 1))[-1].seq
            except JournalError as error:
                return error, n
    raise AssertionError("never refused")


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False).returncode
    ):
        pytest.skip("needs root to mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_named_and_work_goes_on_when_there_is_space(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m"):
        place = Place(tmp_path / "disk")
        place.db.parent.mkdir()
        ballast = tmp_path / "disk" / "ballast"
        ballast.write_bytes(bytes(200_000))
        with place.open() as journal:
            n = 0
            with pytest.raises(JournalFull) as caught:
                while True:
                    n = journal.append(STREAM, numbered(n, 1))[-1].seq
            assert "df -h" in caught.value.hint
            for _ in range(3):
                with pytest.raises(JournalFull):
                    journal.append(STREAM, numbered(n, 13))
            with pytest.raises(JournalFull):
                journal.backup()
            assert [e.event for e in journal.read()] == numbered(0, n)
            ballast.unlink()
            assert journal.append(STREAM, numbered(n, 1))[-1].seq == n + 1
        assert place.facts() == numbered(0, n + 1)
        assert not list(place.db.parents[1].rglob("*.making*"))


def test_writes_past_a_limit_are_refused_and_nothing_is_lost(place: Place) -> None:
    """A file size limit stands for any write that fails: it needs neither root nor a mount."""

    def work(pipe: int) -> None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        with place.open() as journal:
            journal.append(STREAM, numbered(0, 1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
            n = 1
            with contextlib.suppress(JournalBroken, JournalFull):
                while n < 2000:
                    n = journal.append(STREAM, numbered(n, 1))[-1].seq
            assert 1 < n < 2000
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            n = journal.append(STREAM, numbered(n, 1))[-1].seq
            os.write(pipe, b"%d\n" % n)

    pid, read = in_child(work)
    assert os.waitpid(pid, 0)[1] == 0
    assert place.facts() == numbered(0, acknowledged(read))


def strace_works() -> bool:
    if not shutil.which("strace"):
        return False
    command = ["strace", "-qq", "-o", os.devnull, "-e", "trace=fsync", "true"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


CHILD = """
import sys
from pathlib import Path
from engine.journal import JournalError
from tests.journal.conftest import STREAM, Place, numbered
place = Place(Path(sys.argv[1]))
try:
    with place.open() as journal:
        n = journal.last_seq()
        for _ in range(30):
            n = journal.append(STREAM, numbered(n, 1))[-1].seq
            print(n, flush=True)
            if n % 10 == 0:
                journal.backup()
except JournalError as error:
    assert str(error) and error.hint
    print(type(error).__name__, file=sys.stderr)
    sys.exit(3)
"""


def inject(place: Place, call: str, error: str, n: int) -> int:
    """The n-th `call` fails in a writer: it ends with a named error, and everything it acknowledged is there."""
    before = len(place.facts()) if place.db.exists() else 0
    command = ["strace", "-f", "-qq", "-o", os.devnull, "-P", str(place.db), "-P", str(place.beside("-wal"))]
    command += ["-e", f"trace={call}", "-e", f"inject={call}:{error}:when={n}"]
    command += [sys.executable, "-c", CHILD, str(place.db.parents[1])]
    run = subprocess.run(command, check=False, capture_output=True, cwd=REPO, timeout=patience(60))
    lines = run.stdout.split()
    done = int(lines[-1]) if lines else before
    if "signal" in error:
        assert run.returncode in (0, -9, 137), run.stderr
    else:
        assert run.returncode in (0, 3), run.stderr
        assert run.returncode == 0 or run.stderr.decode().strip() in ("JournalFull", "JournalBroken"), run.stderr
    with place.open() as journal:
        found = [e.event for e in journal.read()]
        assert journal.recovery is None
    assert len(found) >= done
    assert found == numbered(0, len(found))
    return run.returncode


FAULTS = [
    ("pwrite64", "error=ENOSPC"),
    ("pwrite64", "error=EIO"),
    ("fdatasync", "error=EIO"),
    ("pwrite64", "signal=KILL"),
    ("fdatasync", "signal=KILL"),
]


@pytest.mark.parametrize(("call", "error"), FAULTS)
def test_the_nth_operation_fails(place: Place, call: str, error: str) -> None:
    if not strace_works():
        pytest.skip("needs strace")
    place.fill(5)
    assert inject(place, call, error, 4) != 0, "the fault never came"


@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("call", "error"), FAULTS)
def test_every_operation_fails(tmp_path: Path, call: str, error: str) -> None:
    if not strace_works():
        pytest.skip("needs strace")
    for n in range(1, 41):
        place = Place(tmp_path / str(n))
        place.fill(5)
        inject(place, call, error, n)


# ── places that cannot be written ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_viewing_on_a_read_only_file_system(tmp_path: Path, killed: bool) -> None:
    with mounted(tmp_path / "disk", "size=8m"):
        place = Place(tmp_path / "disk")
        events = place.fill(60, backup_at=20)
        if killed:
            with place.open() as journal:
                events += numbered(60, 5)
                journal.append(STREAM, events[60:])
                shutil.copytree(place.db.parent, tmp_path / "copy")
            shutil.rmtree(place.db.parent)
            shutil.copytree(tmp_path / "copy", place.db.parent, ignore=shutil.ignore_patterns("*-shm"))
            assert place.beside("-wal").stat().st_size > 0
        subprocess.run(["mount", "-o", "remount,ro", tmp_path / "disk"], check=True)
        with place.open(read_only=True) as viewer:
            assert [e.event for e in viewer.read()] == events
            assert viewer.tail(len(events)) == []
            assert viewer.verify() == len(events)
        with pytest.raises(JournalReadOnly) as caught:
            place.open()
        assert "devteam status" in caught.value.hint
        subprocess.run(["mount", "-o", "remount,rw", tmp_path / "disk"], check=True)
        assert place.facts() == events


def as_nobody(work: Callable[[], None]) -> int:
    """Root passes every permission: the child gives itself up first."""

    def child(_: int) -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        work()

    pid, read = in_child(child)
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Place]:
    """A place another user can reach."""
    folder = Path("/tmp") / f"devteam-test-{os.getpid()}-{random.randrange(1 << 30)}"
    folder.mkdir(mode=0o755)
    yield Place(folder)
    shutil.rmtree(folder)


def test_a_file_that_may_not_be_read_is_named(public: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    public.fill(3)

    def work() -> None:
        for read_only in (False, True):
            with pytest.raises(JournalDenied):
                public.open(read_only=read_only)

    assert as_nobody(work) == 0
    public.db.parent.chmod(0o755)
    assert as_nobody(work) == 0


def test_somebody_else_may_view_what_is_readable_but_not_write(public: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    events = public.fill(3)
    public.db.parent.chmod(0o755)
    public.db.chmod(0o644)

    def work() -> None:
        with public.open(read_only=True) as viewer:
            assert [e.event for e in viewer.read()] == events
        with pytest.raises((JournalReadOnly, JournalDenied)):
            public.open()

    assert as_nobody(work) == 0


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "viewer"])
def test_a_link_in_the_journals_place_is_not_followed(place: Place, tmp_path: Path, read_only: bool) -> None:
    place.fill(3)
    place.db.rename(secret := tmp_path / "secret")
    secret.chmod(0o640)
    place.db.symlink_to(secret)
    before = secret.read_bytes()
    with pytest.raises(JournalDenied, match="symbolic link"):
        place.open(read_only=read_only)
    assert (secret.read_bytes(), secret.stat().st_mode & 0o777) == (before, 0o640)


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "viewer"])
@pytest.mark.parametrize(("make", "words"), [(os.mkfifo, "a pipe"), (os.mkdir, "a folder")], ids=["pipe", "folder"])
def test_what_is_no_file_in_the_journals_place_is_named_and_not_waited_for(
    place: Place, read_only: bool, make: Callable[[Path], None], words: str
) -> None:
    place.db.parent.mkdir(parents=True, exist_ok=True)
    make(place.db)
    with pytest.raises(JournalDenied, match=words):
        place.open(read_only=read_only)


def test_a_viewer_that_verifies_misses_what_was_acknowledged(place: Place) -> None:
    """SQLite drops a damaged end of its log without a word: the journal looked whole, and shorter."""
    place.fill(3)
    early = place.db.read_bytes()
    with place.open() as journal:
        journal.append(STREAM, [Noted(text="late")])
    with place.open(read_only=True) as viewer:
        assert viewer.verify() == 4
    place.db.write_bytes(early)
    with place.open(read_only=True) as viewer, pytest.raises(JournalCorrupt, match="event 4 was acknowledged"):
        viewer.verify()


def test_a_trigger_in_a_strangers_file_is_not_run(place: Place) -> None:
    events = place.fill(20, backup_at=10)
    connection = apsw.Connection(str(place.db))
    connection.execute("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event WHERE seq = 1; END")
    connection.close()
    with place.open() as journal:
        assert journal.recovery is not None
        journal.append(STREAM, numbered(20, 1))
        assert [e.event for e in journal.read()] == [*events, *numbered(20, 1)]


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "viewer"])
def test_a_lock_of_another_program_is_named(place: Place, read_only: bool) -> None:
    place.fill(3)
    other = apsw.Connection(str(place.db))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE; INSERT INTO meta VALUES('x', 'y')")
    with pytest.raises(JournalLocked) as caught:
        place.open(read_only=read_only, busy_ms=20)
    assert "sqlite3" in caught.value.hint
    other.execute("ROLLBACK")
    other.close()
    assert len(place.facts()) == 3


def test_a_lock_during_an_append_loses_nothing(place: Place) -> None:
    with place.open(busy_ms=20) as journal:
        journal.append(STREAM, numbered(0, 2))
        other = apsw.Connection(str(place.db))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalLocked):
            journal.append(STREAM, [Noted(text="refused")])
        other.execute("ROLLBACK")
        other.close()
        journal.append(STREAM, numbered(2, 2))
    assert place.facts() == numbered(0, 4)
