"""A terminal that is killed at any moment of a sprint, fifty times: the sprint ends as the undisturbed one.

A third of the terminals hang up (their dashboard gets SIGHUP), a third vanish without a signal (as under nohup), a
third of the dashboards are killed outright.
"""

from __future__ import annotations

import fcntl
import os
import random
import signal
import termios
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.ground import CONFIG, SCENARIO, Ground, make, trusted
from tests.cli.test_detached import engines
from tests.cli.test_terminal import Screen
from tests.patience import patience, slowed, until

pytestmark = [pytest.mark.torture, pytest.mark.timeout(3600)]
KILLS = int(os.environ.get("KILLS", "50"))
SLOW = SCENARIO.replace('\ntext = "', '\noutput = ["a", "b", "c", "d"]\ndelay = 0.3\ntext = "')


class Doomed(Screen):
    """A dashboard on a terminal that goes away."""

    def vanish(self) -> None:
        os.close(self._fd)
        self.process.wait(timeout=patience(60.0))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._fd)


class HungUp(Doomed):
    """On a terminal of its own that controls it: everybody on it gets SIGHUP when its last end is closed."""

    def _at_birth(self) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Deaf(Doomed):
    """On a terminal that goes without a word."""

    def _at_birth(self) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def a_ground(place: Path) -> Ground:
    return trusted(make(place / "repo", place / "home", config=CONFIG, scenario=SLOW))


def end_of(ground: Ground) -> tuple[object, ...]:
    """How a sprint ended: its tasks, its branch's trees and messages, the user's own side."""
    status = ground.status()
    branch = status["branch"]
    told = (status["outcome"], status["tasks"], status["iterations"])
    return (*told, ground.git("log", "--format=%T %s", branch), ground.fingerprint())


def test_fifty_terminals_die(tmp_path: Path) -> None:
    dice = random.Random(7)
    calm = a_ground(tmp_path / "calm")
    assert calm.run("run", "--unattended").code == 0
    expected = end_of(calm)
    kills, sprints = 0, 0
    ended: Counter[str] = Counter()
    while kills < KILLS:
        ground = a_ground(tmp_path / f"sprint-{sprints}")
        sprints += 1
        while ground.status()["outcome"] != "done" and kills < KILLS:
            kind = dice.choice([HungUp, Deaf, Doomed])
            screen = kind(ground, "tui")
            time.sleep(dice.random() * slowed(2.0))
            kills += 1
            ended[kind.__name__] += 1
            if kind is Doomed:
                screen.kill()
            else:
                screen.vanish()
        if ground.status()["outcome"] != "done" and not engines(ground):
            assert ground.run("run", "--unattended").code == 0  # killed before it had an engine
        until(lambda ground=ground: ground.status()["outcome"] == "done", 120)  # type: ignore[misc]
        until(lambda ground=ground: not engines(ground), 60)  # type: ignore[misc]
        # Spend and times differ; trees, messages, decisions and the user's files do not.
        assert end_of(ground)[:-1] == expected[:-1]
        print(f"{kills} terminals died over {sprints} sprints: {dict(ended)}", flush=True)


def test_a_second_terminal_shows_the_same(tmp_path: Path) -> None:
    ground = trusted(make(tmp_path / "repo", tmp_path / "home", config=CONFIG.replace('"auto"', '"gated"')))
    first = Screen(ground, "tui")
    first.until("GATE", 60)
    second = Screen(ground, "attach")
    try:
        second.until("GATE", 60)
        until(lambda: rows(first) == rows(second), 60)
    finally:
        for screen in (first, second):
            screen.type("q")
            screen.close()
        ground.run("stop", "--now")


def rows(screen: Screen) -> list[str]:
    """What a terminal shows, but for the clock of its header."""
    import select

    while select.select([screen._fd], [], [], 0.1)[0]:
        screen._stream.feed(os.read(screen._fd, 65536))
    return screen.shown().splitlines()[2:]
