"""The clock: virtual time wakes in order, wall jumps never stretch a duration."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

from engine.clock import Clock, SystemClock, VirtualClock

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
