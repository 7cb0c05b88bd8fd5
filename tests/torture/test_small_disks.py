"""A real file system under the state folder of a four-lane sprint: full, without an inode, read-only, again and again.

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


@contextlib.contextmanager
def read_only(place: Path) -> Iterator[None]:
    def remounted(how: str) -> bool:
        return not subprocess.run(["mount", "-o", f"remount,{how}", str(place)], capture_output=True).returncode

    until(lambda: remounted("ro"), 60)  # refused while somebody has a file open for writing
    try:
        yield
    finally:
        assert remounted("rw")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("fault", "named"),
    [
        pytest.param(no_room, MachineFault.DISK_FULL, id="full"),
        pytest.param(no_inodes, MachineFault.DISK_FULL, id="no inodes"),
        pytest.param(read_only, MachineFault.STORE_FAULT, id="read-only"),
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
        ends = [(event.task, event.decision) for event in running.events() if isinstance(event, ev.TaskEnded)]
        assert sorted(ends) == [(task, "COMPLETE") for task in sorted(four_lanes.TASKS)], said[-3000:]
        assert running.process.returncode == 0, said[-3000:]
        assert running.faults() <= {named}, running.faults()
        assert running.faults(), "it was never hit"
        found = four_lanes.contents(running.repo, running.sprint.branch)
        assert found.pop("shared.txt") in ("one\n", "two\n")
        assert found == {"hard.txt": "good\n", "late.txt": "late\n", "plain.txt": "plain\n", "last.txt": "last\n"}
    finally:
        running.process.kill()
        running.process.wait()
        running.out.close()
