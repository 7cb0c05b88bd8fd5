"""A real file system under the state folder of a four-lane sprint: full or without an inode, again and again; failing.

The engine is the command line in a process of its own. It waits in a named state, goes on by itself when there is room
again, and ends as the undisturbed one does."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.core import events as ev
from engine.core.model import MachineFault
from tests.engine.test_machine_faults import fill
from tests.patience import until
from tests.torture import four_lanes
from tests.torture.test_outside_faults import Running

pytestmark = pytest.mark.torture
SLOW = four_lanes.SCENARIO.replace("[[call]]\n", '[[call]]\noutput = ["a", "b", "c"]\ndelay = 0.3\n')


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """The home, and so the state folder, on a file system of its own."""
    place = tmp_path / "home"
    place.mkdir()
    options = "size=64m,nr_inodes=20k"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@contextlib.contextmanager
def no_room(place: Path) -> Iterator[None]:
    path = fill(place)
    try:
        yield
    finally:
        path.unlink()


@contextlib.contextmanager
def no_inodes(place: Path) -> Iterator[None]:
    """Room, and no name for it."""
    folder = place / "names"
    folder.mkdir()
    made = 0
    with contextlib.suppress(OSError):
        while True:
            (folder / str(made)).touch()
            made += 1
    try:
        yield
    finally:
        for number in range(made):
            (folder / str(number)).unlink()
        with contextlib.suppress(OSError):
            folder.rmdir()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("fault", "named"),
    [
        pytest.param(no_room, MachineFault.DISK_FULL, id="full"),
        pytest.param(no_inodes, MachineFault.DISK_FULL, id="no inodes"),
    ],
)
def test_four_lanes_on_a_disk_that_comes_and_goes(
    tmp_path: Path, disk: Path, fault: Callable[[Path], contextlib.AbstractContextManager[None]], named: MachineFault
) -> None:
    rng = random.Random(os.environ.get("SEED", "1"))
    running = Running(tmp_path, four_lanes.CONFIG, four_lanes.PLAN, scenario=SLOW)
    try:
        running.wait_for(ev.EffectStarted)
        for _turn in range(4):
            with fault(disk):
                time.sleep(rng.uniform(0.5, 3.0))
            time.sleep(rng.uniform(0.2, 1.5))
        said = running.ended()
        assert "Traceback" not in said, said[-3000:]
        assert running.process.returncode == 0, said[-3000:]
        assert running.faults() <= {named}, running.faults()
        assert running.faults(), "it was never hit"
        ended_alike(running)
    finally:
        running.process.kill()
        running.process.wait()
        running.out.close()


def test_four_lanes_on_a_disk_that_fails_and_is_mended(tmp_path: Path) -> None:
    """An error makes it read-only under the run; what was not synced is lost. Mended, the run goes on."""
    image, mended, home = tmp_path / "image", tmp_path / "mended", tmp_path / "home"
    home.mkdir()
    with image.open("wb") as file:
        file.truncate(200 << 20)
    if os.geteuid() != 0 or ran("mkfs.ext4", "-q", "-F", str(image)) or not mounted(image, home):
        pytest.skip("mounting needs root")
    with contextlib.ExitStack() as stack:
        stack.callback(ran, "umount", "-l", str(home))
        running = Running(tmp_path, four_lanes.CONFIG, four_lanes.PLAN, scenario=SLOW)
        stack.callback(running.out.close)
        stack.callback(running.process.wait)
        stack.callback(running.process.kill)
        until(lambda: any(isinstance(event, ev.Committed) for event in running.events()), 120)
        device = subprocess.run(["findmnt", "-no", "SOURCE", str(home)], capture_output=True, text=True, check=True)
        Path("/sys/fs/ext4", Path(device.stdout.strip()).name, "trigger_fs_error").write_text("1")
        until(lambda: MachineFault.STORE_FAULT in running.faults(), 120)
        assert running.process.poll() is None, "it is suspended, not over"
        running.process.terminate()
        said = running.ended()
        assert "Traceback" not in said and not any(
            isinstance(one, ev.TaskEnded) and one.decision != "COMPLETE" for one in running.events()
        )
    # The failed one stays read-only while any namespace has it: what was on it is looked at in a copy.
    mended.write_bytes(image.read_bytes())
    ran("e2fsck", "-p", "-f", str(mended))
    assert mounted(mended, home)
    with contextlib.ExitStack() as stack:
        stack.callback(ran, "umount", "-l", str(home))
        again = subprocess.run(running.argv, cwd=running.repo, env=running.env, capture_output=True, text=True)
        assert again.returncode == 0, (again.stdout + again.stderr)[-3000:]
    ended_alike(running)


def ran(*words: str) -> int:
    return subprocess.run(words, capture_output=True, check=False).returncode


def mounted(image: Path, place: Path) -> bool:
    return ran("mount", "-o", "loop,errors=remount-ro", str(image), str(place)) == 0


def ended_alike(running: Running) -> None:
    """Every task complete and the files as an undisturbed run leaves them."""
    ends = [(event.task, event.decision) for event in running.events() if isinstance(event, ev.TaskEnded)]
    assert sorted(ends) == [(task, "COMPLETE") for task in sorted(four_lanes.TASKS)]
    found = four_lanes.contents(running.repo, running.sprint.branch)
    assert found.pop("shared.txt") in ("one\n", "two\n")
    assert found == {"hard.txt": "good\n", "late.txt": "late\n", "plain.txt": "plain\n", "last.txt": "last\n"}
