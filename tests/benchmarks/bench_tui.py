"""What the dashboard costs, in a real pty: `python -m tests.benchmarks.bench_tui [name …]`. Prints and writes JSON.

first_paint   spawn to the first frame that shows the sprint, best of 5
flood         100,000 output events: CPU, wall, worst stall of the loop, memory; with and without coalescing
key           key to paint while 5,000 events a second come in: by the clock, and the CPU the dashboard needed for it
key_at_rest   key to paint while nothing else happens
terminal_bytes  what the terminal gets: by the second while nothing happens, and for a key
idle          CPU of a dashboard in which nothing happens, and of one whose agent is silent, also with 300 tasks
memory        an hour of a simulated run: memory at its quarters, and at those of a second hour
"""

from __future__ import annotations

import json
import os
import pty
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
from typing import Any, NamedTuple

from tests.benchmarks import calibration

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench-results" / "tui.json"
PRESSES = 24


# ── the parent: a terminal that drains ─────────────────────────────────────────────────────────────────────────────


class Child(NamedTuple):
    pid: int
    master: int
    started: float

    def cpu(self) -> float:
        """Seconds its main thread was on a CPU: other processes do not disturb this clock."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e9


def measure(mode: str, on_output: Callable[[bytes, Child], bool] | None = None, limit: float = 180.0) -> dict[str, Any]:
    """Run a child in a pty of 120×40 until it ends or `on_output` says it is enough."""
    report = Path(f"/tmp/bench-tui-{os.getpid()}-{mode}.json")
    report.unlink(missing_ok=True)
    started = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="xterm-256color", TEXTUAL_ANIMATIONS="none", BENCH_REPORT=str(report))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.tui_child", mode])
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
            if on_output is not None and on_output(data, Child(pid, master, started)):
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

        def watch(data: bytes, child: Child, seen: bytearray = seen) -> bool:
            seen.extend(data)
            if b"003-add-login" in seen:
                times.append(time.perf_counter() - child.started)
                return True
            return False

        measure("first_paint", watch, 30)
    return {"best_ms": round(min(times) * 1000), "median_ms": round(statistics.median(times) * 1000), "hold_ms": 800}


def key_to_paint() -> dict[str, Any]:
    """`x` folds and unfolds: the border says so. Pressed again and again while the flood runs."""
    lags: list[float] = []
    worked: list[float] = []
    state: dict[str, Any] = {"sent": 0.0, "cpu": 0.0, "seen": bytearray(), "since": 0.0}

    def watch(data: bytes, child: Child) -> bool:
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
                worked.append(child.cpu() - state["cpu"])
                state.update(sent=0.0, since=now - 2.0)
                os.write(child.master, b"x")  # fold it again; not measured
            return len(lags) >= PRESSES
        state["seen"].clear()
        state.update(sent=now, cpu=child.cpu())
        os.write(child.master, b"x")
        return False

    measure("key", watch, 60)
    return {
        "median_ms": round(statistics.median(lags) * 1000),
        "p90_ms": round(statistics.quantiles(lags, n=10)[-1] * 1000),
        "worst_ms": round(max(lags) * 1000),
        "median_cpu_ms": round(statistics.median(worked) * 1000),
        "worst_cpu_ms": round(max(worked) * 1000),
        "presses": len(lags),
        "hold_ms": 100,
    }


def key_at_rest() -> dict[str, Any]:
    """Keys on a dashboard whose agent is silent: from the press to the first and to the last byte of what it paints.

    `quiet` is the first byte on a machine that does nothing else (calibration.py); under load start it by `chrt -f 10`.
    """
    reference = calibration.Reference()
    keys = (b"j", b"k", b"\t", b"x")
    found: dict[str, list[tuple[float, float, float]]] = {key.decode(): [] for key in keys}
    state: dict[str, Any] = {"since": 0.0, "sent": 0.0, "cpu": 0.0, "first": 0.0, "last": 0.0, "turn": 0}
    seen = bytearray()

    def watch(data: bytes, child: Child) -> bool:
        now = time.perf_counter()
        if not state["since"]:
            seen.extend(data)
            state["since"] = now if b"003-add-login" in seen else 0.0
            return False
        if now - state["since"] < 2.0:
            return False
        if state["sent"]:
            if data:
                state["first"] = state["first"] or now
                state.update(last=now, cpu_then=child.cpu())
            if now - state["sent"] < 0.4:
                return False
            if state["first"]:
                times = state["first"] - state["sent"], state["last"] - state["sent"], state["cpu_then"] - state["cpu"]
                found[keys[state["turn"] % len(keys)].decode()].append(times)
            state.update(sent=0.0, turn=state["turn"] + 1)
            reference.take()
            now = time.perf_counter()
        if state["turn"] >= PRESSES * len(keys) // 2:
            return True
        state.update(sent=now, first=0.0, cpu=child.cpu())
        os.write(child.master, keys[state["turn"] % len(keys)])
        return False

    measure("still", watch, 90)
    every = [one for times in found.values() for one in times]
    median = statistics.median(first for first, _, _ in every) * 1000
    return {
        "first_byte_median_ms": round(median, 1),
        "first_byte_median_quiet_ms": round(median / reference.dearer, 1),
        "dearer": round(reference.dearer, 2),
        "first_byte_best_ms": round(min(first for first, _, _ in every) * 1000, 1),
        "last_byte_median_ms": round(statistics.median(last for _, last, _ in every) * 1000, 1),
        "cpu_median_ms": round(statistics.median(cpu for _, _, cpu in every) * 1000, 1),
        "by_key": {
            repr(key): round(statistics.median(first for first, _, _ in times) * 1000, 1)
            for key, times in found.items()
            if times
        },
        "presses": len(every),
        "hold_ms": 20,
    }


def terminal_bytes() -> dict[str, Any]:
    """What goes to the terminal while an agent is silent, by the second, and for a press of Tab: ssh pays it."""
    settle, idle, press = 2.0, 4.0, 0.5
    state: dict[str, float] = {"since": 0.0, "idle": 0, "pressed": 0.0}
    presses: list[int] = []
    seen = bytearray()

    def watch(data: bytes, child: Child) -> bool:
        now = time.perf_counter()
        seen.extend(data)
        if not state["since"]:
            state["since"] = now if b"003-add-login" in seen else 0.0
            return False
        if now - state["since"] < settle:
            return False
        if now - state["since"] < settle + idle:
            state["idle"] += len(data)
            return False
        if presses:
            presses[-1] += len(data)
        if now - state["pressed"] >= press:
            state["pressed"] = now
            presses.append(0)
            os.write(child.master, b"\t")
        return len(presses) > 5

    measure("silent", watch, 30)
    return {
        "idle_bytes_per_second": round(state["idle"] / idle),
        "bytes_per_key_median": round(statistics.median(presses[:-1])),
        "presses": len(presses) - 1,
        "hold_bytes_per_second": 500,
    }


BENCHES: dict[str, Callable[[], dict[str, Any]]] = {
    "first_paint": first_paint,
    "flood": lambda: measure("flood"),
    "flood_without_coalescing": lambda: measure("flood_each"),
    "key_to_paint": key_to_paint,
    "key_at_rest": key_at_rest,
    "idle": lambda: measure("idle"),
    "terminal_bytes": terminal_bytes,
    "silent_agent": lambda: measure("silent"),
    "silent_with_300_tasks": lambda: measure("silent_300"),
    "idle_with_300_tasks": lambda: measure("idle_300"),
    "memory_over_an_hour": lambda: measure("memory"),
}


def run(names: list[str] | None = None) -> dict[str, Any]:
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
    return results


if __name__ == "__main__":
    run(sys.argv[1:])
