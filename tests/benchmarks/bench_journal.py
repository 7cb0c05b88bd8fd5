"""What the journal costs: durable appends, one by one and batched, and the resume of 100,000 events.

`python -m tests.benchmarks.bench_journal` prints JSON. It measures, it never fails on a time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine.core.effects import CallAgent
from engine.core.events import AgentFinished, Decided, EffectStarted, Fact, Noted
from engine.core.model import AgentResult, Decision, ResultKind, Role, Rung, Tokens
from engine.journal import Journal

RESUME_EVENTS = 100_000
HOLD = {"single_per_s": 300, "batched_per_s": 10_000, "resume_s": 1.0, "single_cpu_ms": 0.5}


def history(count: int) -> list[Fact]:
    """Events as a sprint has them: intents, results, decisions, notes."""
    rung = Rung(name="haiku", agent="claude", model="haiku")
    events: list[Fact] = []
    for n in range(0, count, 4):
        effect = CallAgent(id=f"E{n}", task="1.2", lane=0, role=Role.IMPLEMENTER, rung=rung, iteration=n, attempt=1)
        result = AgentResult(kind=ResultKind.OK, text="Hashed the passwords. " * 6, tokens=Tokens(input=n, output=812))
        events += [
            EffectStarted(effect=effect),
            AgentFinished(id=f"E{n}", task="1.2", role=Role.IMPLEMENTER, rung=rung, result=result, iteration=n),
            Decided(task="1.2", iteration=n, decision=Decision.ITERATE, reason="tests: 2 of 43 fail", rung=1),
            Noted(text="a line worth keeping"),
        ]
    return events[:count]


def _measure(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _open(path: Path, read_only: bool = False) -> Journal:
    return Journal.open(path, clock=lambda: 1.8e9, backup_dir=path.parent / "backups", read_only=read_only)


def _writing(path: Path, singles: int) -> dict[str, float]:
    events = history(RESUME_EVENTS)
    batches = [events[n : n + 100] for n in range(singles, RESUME_EVENTS, 100)]
    with _open(path) as journal:
        single, single_cpu = _measure(lambda: [journal.append("s", [event]) for event in events[:singles]])
        batched, batched_cpu = _measure(lambda: [journal.append("s", batch) for batch in batches])
        backup, backup_cpu = _measure(journal.backup)
    return {
        "single_per_s": round(singles / single),
        "single_cpu_ms": round(single_cpu / singles * 1000, 3),
        "batched_per_s": round((RESUME_EVENTS - singles) / batched),
        "batched_cpu_ms": round(batched_cpu / (RESUME_EVENTS - singles) * 1000, 4),
        "backup_s": round(backup, 3),
        "backup_cpu_s": round(backup_cpu, 3),
    }


def _resuming(path: Path) -> dict[str, float]:
    """Open, which verifies every event; then decode every event, as a fold without a snapshot does."""
    opened: list[Journal] = []
    verify, verify_cpu = _measure(lambda: opened.append(_open(path)))
    decode, decode_cpu = _measure(lambda: sum(1 for _ in opened[0].read()))
    with _open(path, read_only=True) as viewer:
        poll, _ = _measure(lambda: [viewer.tail(RESUME_EVENTS) for _ in range(1000)])
    opened[0].close()
    return {
        "resume_s": round(verify + decode, 3),
        "resume_cpu_s": round(verify_cpu + decode_cpu, 3),
        "verify_s": round(verify, 3),
        "decode_s": round(decode, 3),
        "idle_poll_us": round(poll * 1000, 1),
    }


def run(folder: Path | None = None, singles: int = 2000, repeats: int = 5) -> dict[str, object]:
    """The figures, on the folder's file system; the resume is the best of `repeats`."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "devteam.db"
        written = _writing(path, singles)
        resumed = min((_resuming(path) for _ in range(repeats)), key=lambda result: result["resume_s"])
        size = round(path.stat().st_size / 1e6, 1)
    return {"bench": "journal", **written, "resume_events": RESUME_EVENTS, **resumed, "size_mb": size, "hold": HOLD}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(), indent=2) + "\n")
