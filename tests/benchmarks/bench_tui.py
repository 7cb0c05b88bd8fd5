"""What the dashboard costs, in a real pty: `python -m tests.benchmarks.bench_tui [name …]`. Prints and writes JSON.

first_paint   spawn to the first frame that shows the sprint, best of 5
flood         100,000 output events: CPU, wall, worst stall of the loop, memory; with and without coalescing
key           key to paint while 5,000 events a second come in
idle          CPU of a dashboard in which nothing happens, and of one whose agent is silent
memory        an hour of a simulated run: memory at its quarters
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import resource
import select
import signal
import statistics
import struct
import sys
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench-results" / "tui.json"
FLOOD = 100_000
UNCOALESCED = 3_000
"""Events of the flood without coalescing: all of them would take minutes, so the ratio is per event."""


# ── the child: a dashboard over a made-up link ─────────────────────────────────────────────────────────────────────


def child(mode: str) -> None:
    from tests.tui.links import live
    from tui.app import DevteamApp
    from tui.options import TuiOptions

    report = os.environ["BENCH_REPORT"]
    link = live("end" if mode == "idle" else "parallel")
    app = DevteamApp(link, TuiOptions(watch=False, bell=False))
    measured: dict[str, Any] = {}
    driver: Callable[[], Any] = {
        "first_paint": lambda: asyncio.sleep(0),
        "idle": lambda: _idle(measured, 10.0),
        "silent": lambda: _idle(measured, 10.0),
        "flood": lambda: _flood(app, measured, coalesced=True),
        "flood_each": lambda: _flood(app, measured, coalesced=False),
        "key": lambda: _stream(app, 5000, 12.0),
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
    from tui.feed import MOST_WAITING

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
    """3,600 seconds of a chatty run: 20 outputs a second, an iteration's facts every half minute."""
    from engine.core.events import Envelope
    from tests.tui.recordings import sprint

    facts = [item.event for item in sprint()[0] if isinstance(item, Envelope)][2:]
    quarters: list[float] = []
    number, seq = 0, app.feed.state.seq
    for second in range(3600):
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
    measured["rss_mb_at_quarters"] = quarters


def _rss() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


# ── the parent: a terminal that drains ─────────────────────────────────────────────────────────────────────────────


def run(
    mode: str, on_output: Callable[[bytes, int, float], bool] | None = None, limit: float = 180.0
) -> dict[str, Any]:
    """Run a child in a pty of 120×40 until it ends or `on_output` says it is enough."""
    report = Path(f"/tmp/bench-tui-{os.getpid()}-{mode}.json")
    report.unlink(missing_ok=True)
    started = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="xterm-256color", TEXTUAL_ANIMATIONS="none", BENCH_REPORT=str(report))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.bench_tui", "--child", mode])
    ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    try:
        while time.perf_counter() - started < limit:
            ready, _, _ = select.select([master], [], [], 0.05)
            data = b""
            if ready:
                try:
                    data = os.read(master, 1 << 16)
                except OSError:
                    break
                if not data:
                    break
            if on_output is not None and on_output(data, master, started):
                break
    finally:
        os.kill(pid, signal.SIGTERM)
        os.close(master)
        os.waitpid(pid, 0)
    found = json.loads(report.read_text()) if report.exists() else {}
    report.unlink(missing_ok=True)
    return found


def first_paint() -> dict[str, Any]:
    times: list[float] = []
    for _ in range(5):
        seen = bytearray()

        def watch(data: bytes, _master: int, started: float, seen: bytearray = seen) -> bool:
            seen.extend(data)
            if b"003-add-login" in seen:
                times.append(time.perf_counter() - started)
                return True
            return False

        run("first_paint", watch, 30)
    return {"best_ms": round(min(times) * 1000), "median_ms": round(statistics.median(times) * 1000), "hold_ms": 800}


def key_to_paint() -> dict[str, Any]:
    """`x` folds and unfolds: the border says so. Pressed ten times while the flood runs."""
    lags: list[float] = []
    state: dict[str, Any] = {"sent": 0.0, "seen": bytearray(), "since": 0.0, "unfolded": False}

    def watch(data: bytes, master: int, started: float) -> bool:
        now = time.perf_counter()
        state["seen"].extend(data)
        if not state["since"]:
            if b"003-add-login" in state["seen"]:
                state["since"] = now
            return False
        if now - state["since"] < 2.5:
            return False
        if state["sent"]:
            if b"unfolded" in state["seen"] or now - state["sent"] > 2.0:
                lags.append(now - state["sent"])
                state.update(sent=0.0, since=now - 2.0)
                os.write(master, b"x")  # fold it again; not measured
            return len(lags) >= 8
        state["seen"].clear()
        state["sent"] = now
        os.write(master, b"x")
        return False

    run("key", watch, 60)
    return {
        "median_ms": round(statistics.median(lags) * 1000),
        "worst_ms": round(max(lags) * 1000),
        "presses": len(lags),
        "hold_ms": 100,
    }


BENCHES: dict[str, Callable[[], dict[str, Any]]] = {
    "first_paint": first_paint,
    "flood": lambda: run("flood"),
    "flood_without_coalescing": lambda: run("flood_each"),
    "key_to_paint": key_to_paint,
    "idle": lambda: run("idle"),
    "silent_agent": lambda: run("silent"),
    "memory_over_an_hour": lambda: run("memory"),
}


def main(names: list[str]) -> None:
    results: dict[str, Any] = {}
    for name in names or list(BENCHES):
        results[name] = BENCHES[name]()
        print(f"{name:26} {json.dumps(results[name])}", flush=True)
    flood, each = results.get("flood"), results.get("flood_without_coalescing")
    if flood and each:
        ratio = each["us_cpu_per_event"] / max(flood["us_cpu_per_event"], 0.001)
        results["coalescing_ratio"] = round(ratio, 1)
        print(f"{'coalescing saves':26} {ratio:.0f}× CPU per event")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main(sys.argv[1:])
