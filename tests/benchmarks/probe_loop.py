"""The loop alone, with performers that answer at once: CPU of an iteration by lanes and by tasks.

    PYTHONPATH=TREE python probe_loop.py TASKS LANES

Decide, fold, durable journal and bus; no processes, no git.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.bus import Bus
from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.core.policy import BudgetPolicy, CheckpointPolicy, LimitPolicy, Policy
from engine.core.state import State
from engine.journal import Journal
from engine.run_options import RunOptions
from engine.runner import Runner
from tests.benchmarks.bench_engine import Instant, cpu


async def probe(folder: Path, tasks: int, lanes: int) -> dict[str, Any]:
    specs = tuple(
        TaskSpec(id=f"1.{number}", title=f"Task {number}", complexity=14, scope=(f"f{number}.txt",))
        for number in range(tasks)
    )
    plan = Plan(title="many", phases=(PhaseSpec(id="1", title="one", tasks=specs),))
    policy = Policy(
        lanes=lanes,
        limits=LimitPolicy(calls_per_hour=0),
        budget=BudgetPolicy(session_usd=1e9, day_usd=1e9),
        checkpoints=CheckpointPolicy(on_task_complete=False, on_phase_change=False, baselines=()),
    )
    iterations = 0

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        nonlocal iterations
        iterations += sum(isinstance(one.event, ev.Decided) for one in envelopes)

    clock = SystemClock()
    with Journal.open(folder / "devteam.db", clock=clock.now, backup_dir=folder / "b") as journal:
        runner = Runner(
            journal=journal, stream="s", state=State(), performer=Instant(1), clock=clock, bus=Bus(),
            observers=(watch,),
        )  # fmt: skip
        runner.append(ev.SprintCreated(sprint="s", plan=plan, branch="b", topic="t"))
        begun = cpu()
        await runner.run(RunOptions(run="r", pid=1, policy=policy, attended=False))
        spent = cpu() - begun
    return {"tasks": tasks, "lanes": lanes, "iterations": iterations, "cpu_ms": round(spent * 1000 / iterations, 2)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(asyncio.run(probe(Path(place), *map(int, sys.argv[1:3])))))
