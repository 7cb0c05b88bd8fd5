"""One engine per repository, whatever happens to the lock file; and no journal on a network file system."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.journal import EngineLock, EngineRunning, Holder, JournalOnNetwork
from engine.journal.place import fs_type, is_network, mounts, refuse_network
from tests.journal.conftest import NOW

REPO = Path(__file__).parents[2]
HOLD = """
import sys, time
from pathlib import Path
from engine.journal import EngineLock, EngineRunning
if len(sys.argv) > 2:
    sys.stdin.readline()
try:
    lock = EngineLock.acquire(Path(sys.argv[1]), lambda: 1_800_000_000.5)
except EngineRunning as error:
    print("second:", error, flush=True)
else:
    print("first", flush=True)
    sys.stdin.read()
"""


def engine(path: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOLD, str(path), *more]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPO)


def says(child: subprocess.Popen[bytes]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().decode().strip()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "state" / "engine.lock"


def test_thirty_racers_one_winner(lock: Path) -> None:
    """Forked, not spawned: they start at one instant, when the pipe closes."""
    gate, go = os.pipe()
    results, report = os.pipe()
    children = []
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            os.close(go)
            os.read(gate, 1)
            try:
                held = EngineLock.acquire(lock, lambda: NOW)
            except EngineRunning:
                os.write(report, b"-")
                os._exit(0)
            os.write(report, b"+")
            time.sleep(60)
            held.release()
            os._exit(0)
        children.append(pid)
    os.close(gate)
    os.close(go)
    answers = b""
    while len(answers) < 30:
        answers += os.read(results, 64)
    holder = EngineLock.holder(lock)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(results)
    os.close(report)
    assert answers.count(b"+") == 1
    assert holder is not None
    assert holder.pid in children
    assert EngineLock.holder(lock) is None


def test_the_second_hears_who_holds_it_and_the_next_follows_a_kill(lock: Path) -> None:
    first = engine(lock)
    assert says(first) == "first"
    with pytest.raises(EngineRunning, match=rf"held by pid {first.pid} since 2027-01-1") as caught:
        EngineLock.acquire(lock, lambda: NOW)
    assert "devteam status" in caught.value.hint
    assert EngineLock.holder(lock) == Holder(pid=first.pid, since=NOW, host=os.uname().nodename)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert EngineLock.holder(lock) is None
    with EngineLock.acquire(lock, lambda: NOW):
        pass
    first.communicate()


@pytest.mark.parametrize("what", ["deleted", "replaced", "scribbled"])
def test_nothing_done_to_the_file_admits_a_second(lock: Path, what: str) -> None:
    with EngineLock.acquire(lock, lambda: NOW):
        if what != "scribbled":
            lock.unlink()
        if what != "deleted":
            lock.write_bytes(b"\xff{")
        with pytest.raises(EngineRunning, match="left no name"):
            EngineLock.acquire(lock, lambda: NOW)
        assert EngineLock.holder(lock) == Holder()
    with EngineLock.acquire(lock, lambda: NOW):
        assert EngineLock.holder(lock) is not None


def test_a_child_process_does_not_inherit_it(lock: Path) -> None:
    held = EngineLock.acquire(lock, lambda: NOW)
    child = subprocess.Popen(["sleep", "30"], close_fds=False)
    held.release()
    EngineLock.acquire(lock, lambda: NOW).release()
    child.kill()
    child.wait()


def test_viewers_never_keep_an_engine_out(lock: Path) -> None:
    EngineLock.acquire(lock, lambda: NOW).release()
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.001):
            EngineLock.holder(lock)

    viewers = [threading.Thread(target=look) for _ in range(2)]
    for viewer in viewers:
        viewer.start()
    try:
        for _ in range(50):
            EngineLock.acquire(lock, lambda: NOW).release()
    finally:
        stop.set()
        for viewer in viewers:
            viewer.join()


def test_release_twice_and_private(lock: Path) -> None:
    held = EngineLock.acquire(lock, lambda: NOW)
    assert oct(lock.stat().st_mode & 0o777) == "0o600"
    assert oct(lock.parent.stat().st_mode & 0o777) == "0o700"
    held.release()
    held.release()
    assert EngineLock.holder(lock) is None
    assert EngineLock.holder(lock.parent / "no" / "where") is None


# ── the place ──────────────────────────────────────────────────────────────────────────────────────────────────────

MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime - nfs4 server:/home rw,vers=4.2
31 30 254:1 / /home/me/local rw - btrfs /dev/vdb rw
32 22 0:41 / /mnt/my\040share rw shared:2 master:1 - cifs //nas/share rw
33 22 0:42 / /mnt/c rw - 9p C:\134 rw
34 22 0:43 / /mnt/ssh rw - fuse.sshfs me@host: rw
35 22 0:44 / /stack rw - nfs server:/x rw
36 35 0:45 / /stack rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/work/repo", "ext4", False),
        ("/home/me/repo", "nfs4", True),
        ("/home/me/local/repo", "btrfs", False),
        ("/homework", "ext4", False),
        ("/mnt/my share/repo", "cifs", True),
        ("/mnt/c/repo", "9p", True),
        ("/mnt/ssh", "fuse.sshfs", True),
        ("/stack/x", "tmpfs", False),
    ],
)
def test_network_file_systems_are_refused(path: str, kind: str, network: bool) -> None:
    assert fs_type(Path(path), MOUNTS) == kind
    assert is_network(kind) is network
    if network:
        with pytest.raises(JournalOnNetwork, match=kind) as caught:
            refuse_network(Path(path), kind)
        assert "local disk" in caught.value.hint
    else:
        refuse_network(Path(path), kind)


def test_the_kernel_is_asked(tmp_path: Path) -> None:
    if not mounts():
        pytest.skip("no /proc")
    assert fs_type(tmp_path, mounts())
    assert fs_type(tmp_path, "") == ""
    assert not is_network("")
    assert not is_network("fuse.ext4")


DIES = """
import os, sys, time
from pathlib import Path
from engine.journal import EngineLock
held = EngineLock.acquire(Path(sys.argv[1]), time.time)
if os.fork() == 0:
    time.sleep(float(sys.argv[2]))
    os._exit(0)
os._exit(0)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="without /proc nobody knows who is dead")
def test_a_dead_engine_whose_child_has_not_become_its_program_is_waited_for(tmp_path: Path) -> None:
    """Killed between fork and exec on a busy machine: the next start was refused in the name of the dead one."""
    path = tmp_path / "devteam" / "lock"
    subprocess.run([sys.executable, "-c", DIES, str(path), "0.6"], cwd=Path(__file__).parents[2], check=True)
    assert EngineLock.holder(path) is not None
    with EngineLock.acquire(path, lambda: 5.0):
        pass
