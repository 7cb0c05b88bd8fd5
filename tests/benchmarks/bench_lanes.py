"""Lanes with real processes: sixteen independent tasks and a two-second agent, on one lane and on eight."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.clock import SystemClock
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.state import State
from engine.session import Session
from engine.session_options import Options
from tests.benchmarks.bench_engine import sprint_of
from tests.engine import small

TASKS = 16
AGENT_SECONDS = 2.0


def sprint(folder: Path, lanes: int, tasks: int) -> None:
    """The benchmark's own sprint, with an implementer that takes its time."""
    sprint_of(folder, tasks)
    settings = folder / ".devteam"
    scenario = (settings / "scenario.toml").read_text("utf-8")
    slow = f'output = ["thinking", "writing"]\ndelay = {AGENT_SECONDS / 2}\n'
    (settings / "scenario.toml").write_text(scenario.replace('task = "', f'{slow}task = "'), "utf-8")
    config = (settings / "config.toml").read_text("utf-8")
    (settings / "config.toml").write_text(f"lanes = {lanes}\n{config}", "utf-8")


async def played(folder: Path, lanes: int, tasks: int = TASKS) -> dict[str, Any]:
    """One sprint: wall time, CPU of ours and of all children, what was asked for, and where the time went."""
    repo = folder / "repo"
    sprint(repo, lanes, tasks)
    project = small.project_of(repo, folder / "state")
    seen: list[ev.Envelope] = []

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        seen.extend(envelopes)

    before, begun = os.times(), time.monotonic()
    options = Options(attended=False, trust="all", speed=1.0)
    async with Session.open(project, small.make(repo), SystemClock(), options) as session:
        session.runner.watch(watch)
        state = await session.run()
    wall, after = time.monotonic() - begun, os.times()
    assert state.outcome == "done", state.outcome_reason
    calls = Counter(
        one.event.effect.role.value
        for one in seen
        if isinstance(one.event, ev.EffectStarted) and isinstance(one.event.effect, ef.CallAgent)
    )
    gates = sum(isinstance(one.event, (ev.GateOpened, ev.GatePassed)) for one in seen)
    return {
        "wall_s": round(wall, 2),
        "cpu_s": round(sum(after[:4]) - sum(before[:4]), 2),
        "reviews": calls["reviewer"],
        "implementer_calls": calls["implementer"],
        "gates": gates,
        "busiest_s": busiest(seen),
    }


def busiest(seen: Sequence[ev.Envelope]) -> dict[str, float]:
    """Seconds from intent to fact, summed by kind of effect: what waits for what shows here."""
    started: dict[str, tuple[str, float]] = {}
    spent: Counter[str] = Counter()
    for one in seen:
        match one.event:
            case ev.EffectStarted(effect=effect):
                started[effect.id] = (type(effect).__name__, one.at)
            case event if (name := getattr(event, "id", "")) in started:
                kind, at = started.pop(name)
                spent[kind] += one.at - at
    return {kind: round(seconds, 2) for kind, seconds in spent.most_common(5)}


def run(tasks: int = TASKS) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for lanes in (1, 8):
        with tempfile.TemporaryDirectory() as folder:
            found[f"{lanes}_lanes"] = asyncio.run(played(Path(folder), lanes, tasks))
    one, eight = found["1_lanes"], found["8_lanes"]
    found["speed_up (hold 5)"] = round(one["wall_s"] / eight["wall_s"], 2)
    found["cpu_ratio (hold 1.2)"] = round(eight["cpu_s"] / one["cpu_s"], 2)
    return found


if __name__ == "__main__":
    import json

    print(json.dumps(run(int(sys.argv[1]) if len(sys.argv) > 1 else TASKS), indent=2))
