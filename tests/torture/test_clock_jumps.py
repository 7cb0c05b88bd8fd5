"""Somebody sets the wall clock under a running engine, or between two: no wait is longer for it, no budget shorter.

The engine is the real command line in a process of its own; the wall of all its processes is moved from outside."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import ResultKind
from tests.cli.ground import CONFIG, make, trusted
from tests.engine import small
from tests.patience import until
from tests.torture.test_outside_faults import Running
from tests.torture.test_terminals import Doomed, rows
from tests.torture.wall_clock import WallClock, built

HOUR = 3600
DAY = 24 * HOUR
CLOSE = 5.0
"""Seconds by which two processes may differ over what is left of a wait."""
ONE_MORE_HOUR = "\n[budget]\nmax_seconds = 3600\n"
PERMITS = "\n[limits]\ncalls_per_hour = 2\n"


def limited(seconds: float) -> str:
    return small.SCENARIO.replace('output = ["trying"]', f'fault = "limit"\nreset_in = {seconds}', 1)


@pytest.fixture
def wall(tmp_path: Path) -> WallClock:
    made = built(tmp_path)
    if made is None:
        pytest.skip("no C compiler")
    return made


class Jumping(Running):
    """A run whose wall clock is ours."""

    def __init__(self, place: Path, wall: WallClock, scenario: str = small.SCENARIO, more: str = "") -> None:
        self.wall = wall
        super().__init__(place, small.CONFIG + more, scenario=scenario, env=wall.env)

    def waits(self) -> list[ef.Wait]:
        started = [event.effect for event in self.events() if isinstance(event, ev.EffectStarted)]
        return [effect for effect in started if isinstance(effect, ef.Wait)]

    def waits_once_more(self, than: int) -> float:
        """The next wait begins; how long it is to last, by the wall clock of whoever looks now."""
        until(lambda: len(self.waits()) > than, 60)
        return self.waits()[-1].until - self.wall.now()

    def asked(self) -> float:
        """How long `devteam status` says that it waits."""
        argv = [sys.executable, "-P", "-m", "tui.cli.main", "status", "--json"]
        done = subprocess.run(argv, cwd=self.repo, env=self.env, capture_output=True, text=True, check=True)
        (wait,) = json.loads(done.stdout)["waits"]
        return float(wait["until"]) - self.wall.now()

    def killed_and_started_again(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = subprocess.Popen(self.argv, cwd=self.repo, env=self.env, stdout=self.out, stderr=self.out)

    def over(self) -> None:
        self.process.kill()
        self.process.wait()
        self.out.close()


@pytest.fixture
def runs() -> Iterator[list[Jumping]]:
    made: list[Jumping] = []
    yield made
    for one in made:
        one.over()


def ends_soon(running: Jumping) -> None:
    """Minutes at the very most, on the slowest machine; what waits for an hour does not."""
    until(lambda: running.process.poll() is not None, 30)
    running.holds()


@pytest.mark.parametrize(
    "seconds",
    [-HOUR, *(pytest.param(jump, marks=pytest.mark.torture) for jump in (HOUR, -DAY, 400 * DAY))],
)
def test_a_wait_of_four_seconds_lasts_four_seconds(
    seconds: int, wall: WallClock, runs: list[Jumping], tmp_path: Path
) -> None:
    running = Jumping(tmp_path, wall, limited(4))
    runs.append(running)
    until(running.waits, 60)
    wall.jump(seconds)
    ends_soon(running)
    kinds = [event.result.kind for event in running.events() if isinstance(event, ev.AgentFinished)]
    assert kinds.count(ResultKind.LIMIT) == 1, "it was waited for, once"


@pytest.mark.torture
@pytest.mark.parametrize("seconds", [-HOUR, HOUR, -DAY, DAY])
def test_so_it_does_where_the_engine_dies_meanwhile(
    seconds: int, wall: WallClock, runs: list[Jumping], tmp_path: Path
) -> None:
    running = Jumping(tmp_path, wall, limited(4))
    runs.append(running)
    until(running.waits, 60)
    wall.jump(seconds)
    running.killed_and_started_again()
    ends_soon(running)


@pytest.mark.torture
@pytest.mark.parametrize("dies", [False, True], ids=["goes on", "is killed"])
@pytest.mark.parametrize("seconds", [HOUR, DAY, -HOUR])
def test_a_budget_of_an_hour_is_an_hour(
    seconds: int, dies: bool, wall: WallClock, runs: list[Jumping], tmp_path: Path
) -> None:
    running = Jumping(tmp_path, wall, more=ONE_MORE_HOUR)
    runs.append(running)
    running.wait_for(ev.EffectStarted)
    wall.jump(seconds)
    if dies:
        running.killed_and_started_again()
    ends_soon(running)


@pytest.mark.torture
@pytest.mark.parametrize("what", ["permits", "limit"])
def test_as_much_is_left_of_a_long_wait_as_was(what: str, wall: WallClock, runs: list[Jumping], tmp_path: Path) -> None:
    """Back a day and on two, under the engine and between two engines: by the same clock it is always the same hour."""
    running = Jumping(tmp_path, wall, more=PERMITS) if what == "permits" else Jumping(tmp_path, wall, limited(HOUR))
    runs.append(running)
    left = running.waits_once_more(0)
    began = time.monotonic()

    def holds(found: float) -> None:
        assert abs(found - (left - (time.monotonic() - began))) < CLOSE, f"{found:.0f} s of {left:.0f} s"

    assert 0 < left <= HOUR
    holds(running.asked())
    for jump in (-DAY, 2 * DAY):
        wall.jump(jump)
        holds(running.asked())
        known = len(running.waits())
        running.killed_and_started_again()
        holds(running.waits_once_more(known))
        holds(running.asked())
    assert running.process.poll() is None, "it waits"


@pytest.mark.torture
def test_a_gate_on_a_terminal_can_be_answered(wall: WallClock, tmp_path: Path) -> None:
    """Keys are ignored for a moment after a gate came in sight: a moment, whatever the clock says."""
    ground = trusted(make(tmp_path / "repo", tmp_path / "home", config=CONFIG.replace('"auto"', '"gated"')))
    ground.env.update(wall.env)
    screen = Doomed(ground, "tui")
    try:
        screen.until("GATE", 60)
        wall.jump(-HOUR)

        def answered() -> bool:
            rows(screen)  # who does not read holds the dashboard up
            screen.type("y")
            return bool(ground.status()["done"])

        until(answered, 20, every=1.0)
    finally:
        screen.kill()
        ground.run("stop", "--now")
