"""What enters is redacted once, where it enters; what is recorded is folded once in each process."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine import VERSION
from engine.channel.client import Watching
from engine.clock import SystemClock
from engine.core import events as ev
from engine.core import fold as fold_module
from engine.core.state import State
from engine.perform.checks.run import execute
from engine.perform.secrets.redact import Redactor
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

LINES = 15_000
LINE = "a line of output that is some fifty characters long"
LOUD = """
yes '{line}' | head -{lines}
printf 'good\\n' > word.txt
"""
RECORDED = 500_000
"""Bytes at most of an agent's answer and of the facts of one task: they are looked at once more, so that one forgotten
field of one event is no leak. However much is said, it is not more than this."""
CONFIG = (
    small.CONFIG.replace('agent = "scripted"', 'agent = "loud"', 1)
    .replace('command = "! grep', f"command = \"yes '{LINE}' | head -{LINES}; ! grep", 1)
    .replace('agent = "scripted"', 'agent = "loud"')
    + '\n[agents.loud]\nargv = ["/bin/sh", ".tools/agent.sh"]\noutput = "text"\n\n[task_loop]\nreview = false\n'
)
PLAN = small.PLAN[: small.PLAN.index("- [ ] 1.2")]


async def lived(place: Path, config: str = CONFIG, viewers: int = 0) -> tuple[list[ev.Envelope], int]:
    """A run whose agent and check print much: what was recorded, how much of it viewers heard."""
    repo = place / "repo"
    (repo / ".tools").mkdir(parents=True)
    (repo / ".tools" / "agent.sh").write_text(LOUD.format(line=LINE, lines=LINES))
    sprint = small.make(repo, config=config, plan=PLAN)
    project = small.project_of(repo, place / "state")
    options = Options(attended=False, trust="all", speed=1e9, follows_viewers=bool(viewers), asks_nobody=True)
    async with asyncio.timeout(patience(60)), Session.open(project, sprint, SystemClock(), options) as session:
        heard = session.bus.subscribe()
        running = asyncio.create_task(session.run())
        while viewers and not project.state.socket.exists():
            await asyncio.sleep(0.01)
        watching = [await Watching.open(project.state.socket, VERSION, 0) for _ in range(viewers)]
        seen = [asyncio.create_task(_facts(one)) for one in watching]
        state = await running
        assert state.outcome == "done", state.outcome_reason
        recorded = [message async for message in heard if isinstance(message, ev.Envelope)]
    return recorded, sum([await one for one in seen])


async def _facts(watching: Watching) -> int:
    return sum([1 async for item in watching.items() if isinstance(item, ev.Envelope)])


async def test_a_byte_of_output_is_looked_at_once_for_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: Counter[str] = Counter()
    real = Redactor.settled

    def counted(self: Redactor, data: bytes, begin: int = 0, *, after: bool = False, last: bool = True):  # type: ignore[no-untyped-def]
        looked["lines"] += data.count(LINE.encode(), begin)
        return real(self, data, begin, after=after, last=last)

    def measured(*given: Any) -> object:
        looked["checks"] += 1
        return really(*given)

    really = execute.measured_of
    monkeypatch.setattr(Redactor, "settled", counted)
    monkeypatch.setattr(execute, "measured_of", measured)
    await lived(tmp_path)
    entered = LINES * (1 + looked["checks"])
    assert looked["checks"]
    assert looked["lines"] >= entered, "it was looked at"
    assert looked["lines"] <= entered + RECORDED // len(LINE), f"{looked['lines'] / entered:.2f} times"


async def test_a_fact_is_folded_once_whoever_looks_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views, log, notifications, channel and two viewers beside the engine: they have its state, or do without."""
    folded: list[ev.Envelope] = []
    real = fold_module.apply

    def counted(state: State, envelope: ev.Envelope) -> State:
        folded.append(envelope)
        return real(state, envelope)

    for name in ("engine.runner", "engine.core.fold", "engine.report", "engine.core.statistics"):
        monkeypatch.setattr(f"{name}.apply", counted)
    recorded, heard = await lived(tmp_path, small.CONFIG, viewers=2)
    times = Counter(id(envelope) for envelope in folded)  # what was only thought of is another object
    assert {times[id(envelope)] for envelope in recorded} == {1}
    assert heard >= 2 * len(recorded) - 4, "the viewers were told all of it"
