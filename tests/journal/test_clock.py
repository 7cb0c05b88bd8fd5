"""The clock: virtual time wakes in order, wall jumps never stretch a duration."""

from __future__ import annotations

import ast
import asyncio
import time
from pathlib import Path

import pytest

from engine.clock import Clock, SystemClock, VirtualClock
from engine.core.effects import Wait
from engine.core.other_clock import to_show
from engine.core.state import State
from engine.link.own_time import ahead_of
from tui.app.options import TuiOptions

ENGINE = Path(__file__).parents[2] / "engine"


async def test_sleepers_wake_in_the_order_of_their_deadlines() -> None:
    clock, woken = VirtualClock(now=100.0), []

    async def nap(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))
        if name == "b":
            await clock.sleep(1)
            woken.append(("b again", clock.now()))

    tasks = [asyncio.create_task(nap(name, seconds)) for name, seconds in (("c", 5), ("a", 1), ("b", 2))]
    await clock.advance(0.5)
    assert woken == []
    assert clock.sleeping() == 3
    await clock.advance(10)
    assert woken == [("a", 101.0), ("b", 102.0), ("b again", 103.0), ("c", 105.0)]
    assert (clock.now(), clock.monotonic()) == (110.5, 10.5)
    await asyncio.gather(*tasks)


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(1))
    await clock.advance(0)
    task.cancel()
    await clock.advance(2)
    assert task.cancelled()
    assert clock.sleeping() == 0


@pytest.mark.parametrize(("jump", "waits"), [(0, 100.0), (3600, 30.0), (-50, 150.0)], ids=["none", "forward", "back"])
async def test_a_deadline_in_wall_time_follows_the_wall(jump: float, waits: float) -> None:
    clock = VirtualClock(now=0.0)
    task = asyncio.create_task(clock.sleep_until(100.0))
    await clock.advance(0)
    clock.jump(jump)
    await clock.advance(waits - 1)
    assert not task.done()
    await clock.advance(1)
    assert task.done()


async def test_a_duration_ignores_the_wall() -> None:
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(10))
    await clock.advance(0)
    clock.jump(-3600)
    await clock.advance(10)
    assert task.done()


async def test_the_system_clock_runs() -> None:
    clock: Clock = SystemClock()
    before, mono = clock.now(), clock.monotonic()
    await clock.sleep(0.01)
    await clock.sleep_until(clock.now() + 0.01)
    await clock.sleep_until(0)
    assert clock.now() - before >= 0.02
    assert clock.monotonic() - mono >= 0.02


@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_a_wall_clock_that_is_set_moves_no_time_that_is_counted(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's, and a dashboard's: keys at a gate are ignored for a moment, not for an hour."""
    clock, real = SystemClock(), time.time
    before, shown = clock.now(), TuiOptions().clock()
    assert TuiOptions().clock is not real, "it was taken before anybody could set it here"
    assert abs(clock.wall() - real()) < 1
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    assert 0 <= clock.now() - before < abs(seconds) / 2
    assert 0 <= TuiOptions().clock() - shown < abs(seconds) / 2
    assert clock.wall() - before == pytest.approx(seconds, abs=abs(seconds) / 2), "others mean the one on the wall"


@pytest.mark.parametrize(
    ("moved", "same_boot", "ahead"), [(3600.0, True, 3600.0), (0.5, True, 0.0), (3600.0, False, 0.0)]
)
def test_who_looks_on_knows_how_far_the_engines_clock_is_off(moved: float, same_boot: bool, ahead: float) -> None:
    boot, booted_at = SystemClock().boot()
    state = State(
        boot=boot if same_boot else "another",
        booted_at=booted_at - moved,
        inflight={"w": Wait(id="w", until=100.0, reason="")},
    )
    assert ahead_of(state) == pytest.approx(ahead)
    (wait,) = to_show(state, ahead_of(state)).inflight.values()
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(100.0 + ahead)


def test_wall_time_is_read_here_only() -> None:
    def reads_time(text: str) -> bool:
        return "time." in text and any(
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in {("time", "time"), ("time", "time_ns")}
            for node in ast.walk(ast.parse(text))
        )

    homes = [path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py") if reads_time(path.read_text())]
    assert homes == ["clock.py"]
