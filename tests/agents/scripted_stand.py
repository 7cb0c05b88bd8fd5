"""The scripted agent as the conformance suite needs it: the behaviours of the fake programs, as scenarios."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine.core.model import AgentResult
from engine.perform.agents.scripted import Scenario, ScriptedAgent
from engine.perform.process.spawning import AgentCall, Output, Spawner
from tests.agents.conftest import NOW
from tests.agents.fake_clis.behaviour import FAILURES, wanted

SCENARIOS = {
    "ok": {
        "edit": [{"path": "made.txt", "content": "made by an agent\n"}],
        "output": ["Making it."],
        "text": "Made it.",
    },
    "resume": {"text": "Went on."},
    "blocked": {"claim": "blocked", "issues": "no database to talk to"},
    "hang": {"fault": "hang"},
    "loop": {"output": [{"type": "tool", "tool": "run", "text": f"step {n}"} for n in range(30)], "delay": 0.05},
    "crash": {"fault": "crash"},
    "noresult": {"fault": "no_result"},
    "garbage": {"output": [{"type": "from-the-future", "n": 1}, "\u0000\x1b[31m odd"]},
    "huge": {"output": ["x" * 3_000_000]},
    "twice": {},
    "prose": {"text": "Error 429: usage limit reached, resets at 5pm"},
    "json-good": {"structured": {"verdict": "pass", "n": 3}},
    "orphan": {"fault": "ignore_sigterm", "output": ["started"]},
} | {kind: {"fault": kind, "hint": "what the scenario says"} for kind in FAILURES}


class Scripted:
    """The scripted agent with the scenario that a prompt of this suite asks for."""

    name = "scripted"

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        step = {"role": call.role.value, "tokens": {"input": 100, "output": 20}, **SCENARIOS[wanted(call.prompt)]}
        scenario = msgspec.convert({"call": [step]}, Scenario)
        return await ScriptedAgent(scenario, now=lambda: NOW).call(call, spawner, emit)
