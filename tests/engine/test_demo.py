"""The demo's scenario answers its gates: at once when nobody can watch, else only those that nobody answers in time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.commands import Answer
from engine.core.state import Status
from engine.perform.agents.scripted import load
from engine.service.running import demo_attended
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

GATED = small.CONFIG.replace('task = "auto"', 'task = "gated"')


@pytest.mark.parametrize("human", [False, True], ids=["nobody is there", "somebody answers the first"])
async def test_a_gate_that_nobody_answers_is_answered_by_the_scenario(tmp_path: Path, human: bool) -> None:
    sprint = small.make(tmp_path / "repo", config=GATED)
    project = small.project_of(tmp_path / "repo", tmp_path / "state")
    answered: list[tuple[str, str]] = []
    options = Options(attended=True, waits=True, trust="all", speed=1e9)
    async with (
        Session.open(project, sprint, SystemClock(), options) as session,
        demo_attended(session, load(tmp_path / "repo/.devteam/scenario.toml"), 0.4) as somebody,
    ):
        pending: set[asyncio.Task[object]] = set()

        def hear(envelopes: object, _state: object) -> None:
            for envelope in envelopes:  # type: ignore[attr-defined]
                match envelope.event:
                    case ev.GateOpened(gate=gate, task=task) if human and task == "1.1":
                        reply = session.send(Answer(gate=gate, choice="yes", by="you"))
                        pending.add(asyncio.get_running_loop().create_task(reply))
                    case ev.GateAnswered(gate=gate, by=by):
                        answered.append((gate, by))
                    case _:
                        pass

        session.watch(hear)
        async with asyncio.timeout(patience(60)):
            state = await session.run()
        assert somebody.is_set() is human
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())
    assert answered == [("G1", "you" if human else "scenario"), ("G2", "scenario")]
