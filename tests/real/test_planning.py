"""The planning conversation with real CLIs against the model server: two questions, one revision, the approval."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.clock import SystemClock
from engine.core.commands import Answer
from engine.core.effects import CallAgent
from engine.core.model import Role
from engine.core.planning_state import Stage, Until
from engine.core.state import State
from engine.plans.registry import read_plan
from engine.plans.sprints import request_sprint
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.agents.fake_model_server import say
from tests.engine import small
from tests.real.conftest import MakeLoop
from tests.real.loops import CRITERION, Loop

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
DECISION = {"decision": "Greetings live in files", "why": "as words do", "alternatives": []}
QUESTIONS = [
    {"text": "Which word?", "assumption": "hello"},
    {"text": "Upper case?", "assumption": "no"},
]


def drafted(status: str, scope: str = "hello.txt", questions: list[dict[str, str]] | None = None) -> dict[str, Any]:
    task = {
        "id": "1.1", "title": "Write a greeting", "description": "Put the word hello into hello.txt.",
        "accept": [CRITERION], "scope": [scope], "depends_on": [], "verify": ["grep -qx hello hello.txt"],
        "complexity": 1, "proof": "", "allow": [],
    }  # fmt: skip
    ready = status == "READY"
    return {
        "status": status,
        "questions": questions or [],
        "title": "Say hello" if ready else "",
        "topic": "greeting" if ready else "",
        "summary": "A greeting in a file." if ready else "",
        "phases": [{"id": "1", "title": "Words", "scaffold": False, "tasks": [task]}] if ready else [],
        "later": [],
        "decisions": [DECISION] if ready else [],
    }


async def live(loop: Loop, *answers: tuple[str, str]) -> State:
    for gate, words in answers:
        assert Desk(project=loop.project()).tell(Answer(gate=gate, choice=words, by="you")).ok
    options = Options(attended=True, waits=False, trust="all", until=Until.PLAN)
    async with Session.open(loop.project(), loop.sprint(), SystemClock(), options) as session:
        return await session.run()


@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_the_whole_conversation(real_loop: MakeLoop, name: str) -> None:
    loop = real_loop(name)
    request_sprint(loop.folder, "say hello in a file", "2026-11-17")
    objection = {"task": "1.1", "text": "any file could be written", "fix": "name hello.txt"}
    script = loop.script(
        [
            say("There is one word in word.txt; no tests."),
            loop.structured(drafted("NEEDS_CLARIFICATION", questions=QUESTIONS)),
            loop.structured(drafted("READY", scope="**/*.txt")),
            loop.structured({"approved": False, "issues": [objection], "summary": "too wide"}),
            loop.structured(drafted("READY")),
            loop.structured({"approved": True, "issues": [], "summary": "small and clear"}),
        ]
    )
    before = small.user_side(loop.folder)
    state = await live(loop)
    assert [gate.title for gate in state.open_gates()] == ["Which word?", "Upper case?"], state.outcome_reason
    state = await live(loop, ("G1", "hello, please"), ("G2", "y"))
    assert state.planning is not None and state.planning.version == 2, state.outcome_reason
    (gate,) = state.open_gates()
    assert gate.kind == "plan" and "Expected:" in gate.body and state.plan is None, "a draft never runs"
    plan = read_plan(loop.sprint().plan_path)
    assert (plan.status, plan.tasks()[0].scope, plan.tasks()[0].accept) == ("DRAFT", ("hello.txt",), (CRITERION,))
    state = await live(loop, (gate.id, "yes"))
    assert state.planning is not None and state.planning.stage is Stage.APPROVED and state.outcome == "done"
    assert read_plan(loop.sprint().plan_path).status == "APPROVED"
    asked = [effect.role for effect in loop.effects(CallAgent)]
    planner, reviewer = Role.PLANNER, Role.PLAN_REVIEWER
    assert asked == [Role.GATHERER, planner, planner, reviewer, planner, reviewer]
    sent = json.dumps(script.requests)
    assert "hello, please" in sent and "any file could be written" in sent, "answers and objections reach the model"
    (learning,) = loop.sprint().learnings.glob("0*.md")
    assert learning.read_text().startswith("# Greetings live in files")
    assert small.user_side(loop.folder) == before and loop.survivors() == []
