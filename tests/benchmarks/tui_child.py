"""The dashboards that bench_tui measures: each one over a made-up link, doing one thing, in a pty of its parent's."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FLOOD = 100_000
UNCOALESCED = 3_000
"""Events of the flood without coalescing: all of them would take minutes, so the ratio is per event."""


def child(mode: str) -> None:
    from tests.tui.lanes import many_tasks
    from tests.tui.links import live
    from tui.app.application import DevteamApp
    from tui.app.options import TuiOptions

    report = os.environ["BENCH_REPORT"]
    link = many_tasks(300) if mode.endswith("_300") else live("end" if mode == "idle" else "parallel")
    if mode.startswith("silent"):  # the clock goes on, so that every second is drawn
        began, there = time.time(), link.end
        link.now = lambda: there + time.time() - began  # type: ignore[method-assign]
    app = DevteamApp(link, TuiOptions(watch=False, bell=False))
    measured: dict[str, Any] = {}
    driver: Callable[[], Any] = {
        "first_paint": lambda: asyncio.sleep(0),
        "idle": lambda: _idle(measured, 10.0),
        "silent": lambda: _idle(measured, 10.0),
        "silent_300": lambda: _idle(measured, 10.0),
        "idle_300": lambda: _idle(measured, 10.0),
        "flood": lambda: _flood(app, measured, coalesced=True),
        "flood_each": lambda: _flood(app, measured, coalesced=False),
        "key": lambda: _stream(app, 5000, 30.0),
        "still": lambda: asyncio.sleep(120.0),
        "memory": lambda: _hour(app, measured),
    }[mode]

    async def drive() -> None:
        while app.feed.state.seq == 0 or app.feed.waiting:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        await driver()
        Path(report).write_text(json.dumps(measured))
        if mode not in ("first_paint", "key"):
            app.exit()

    async def main() -> None:
        task: asyncio.Task[None] | None = None

        def ready() -> None:
            nonlocal task
            task = asyncio.create_task(drive())

        app.call_later(ready)
        await app.run_async()

    asyncio.run(main())


def _output(number: int) -> Any:
    from engine.core.activity import AgentOutput, OutputKind
    from engine.core.model import Role

    text = f"{number}: the agent says something of an ordinary length, as agents do all day long"
    return AgentOutput(effect="e900", task="1.2", kind=OutputKind.TEXT, role=Role.IMPLEMENTER, text=text)


async def _stalls(measured: dict[str, Any], over: asyncio.Event) -> None:
    """How long the loop was away, by the clock and by its own CPU time: the second one does not see other processes."""
    worst, worst_cpu, gaps = 0.0, 0.0, []
    while not over.is_set():
        before, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(0.005)
        gap = time.perf_counter() - before - 0.005
        gaps.append(gap)
        worst, worst_cpu = max(worst, gap), max(worst_cpu, time.process_time() - cpu)
    measured["worst_stall_ms"] = round(worst * 1000, 1)
    measured["worst_stall_cpu_ms"] = round(worst_cpu * 1000, 1)
    measured["p99_stall_ms"] = round(statistics.quantiles(gaps, n=100)[98] * 1000, 1) if len(gaps) > 100 else None


async def _flood(app: Any, measured: dict[str, Any], *, coalesced: bool) -> None:
    from tui.app.feed import MOST_WAITING

    count = FLOOD if coalesced else UNCOALESCED
    before, over = _rss(), asyncio.Event()
    watcher = asyncio.create_task(_stalls(measured, over))
    cpu, wall, target = time.process_time(), time.perf_counter(), app.feed.taken + count
    if coalesced:
        for number in range(count):
            app.feed._pending.append(_output(number))
            if number % 250 == 249:
                await asyncio.sleep(0)
                while app.feed.waiting > MOST_WAITING:  # as the feed itself holds a link back
                    await asyncio.sleep(0.005)
        while app.feed.taken < target:
            await asyncio.sleep(0.01)
    else:
        for number in range(count):
            app.feed.take(_output(number))
            app.redraw()
            app.frame()
            await asyncio.sleep(0)
    await asyncio.sleep(0.2)
    measured.update(
        events=count,
        cpu_s=round(time.process_time() - cpu, 3),
        wall_s=round(time.perf_counter() - wall, 3),
        us_cpu_per_event=round((time.process_time() - cpu) / count * 1e6, 1),
        memory_mb=round(_rss() - before, 1),
    )
    if coalesced:
        measured["hold"] = {"wall_s": 10, "worst_stall_ms": 100, "memory_mb": 30}
    over.set()
    await watcher


async def _stream(app: Any, rate: int, seconds: float) -> None:
    end, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        for _ in range(rate // 100):
            app.feed._pending.append(_output(number))
            number += 1
        await asyncio.sleep(0.01)


async def _idle(measured: dict[str, Any], seconds: float) -> None:
    await asyncio.sleep(1.0)
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    measured["cpu_percent"] = round(100 * (time.process_time() - cpu) / (time.perf_counter() - wall), 2)
    measured["rss_mb"] = round(_rss(), 1)


async def _hour(app: Any, measured: dict[str, Any]) -> None:
    """3,600 seconds of a chatty run: 20 outputs a second, an iteration's facts every half minute; then another hour."""
    from engine.core.events import Envelope
    from tests.tui.recordings import sprint

    facts = [item.event for item in sprint()[0] if isinstance(item, Envelope)][2:]
    quarters: list[float] = []
    number, seq = 0, app.feed.state.seq
    for second in range(7200):
        for _ in range(20):
            app.feed._pending.append(_output(number))
            number += 1
        if second % 30 == 0:
            seq += 1
            event = facts[(second // 30) % len(facts)]
            app.feed._pending.append(Envelope(seq=seq, stream="s", at=1_790_000_000.0 + second, event=event))
        if second % 40 == 39:
            app.redraw()
            await asyncio.sleep(0.05)
        if second % 900 == 899:
            quarters.append(round(_rss(), 1))
    measured.update(rss_mb_at_quarters=quarters[:4], rss_mb_in_a_second_hour=quarters[4:], hold_mb=90)


def _rss() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


if __name__ == "__main__":
    child(sys.argv[1])
