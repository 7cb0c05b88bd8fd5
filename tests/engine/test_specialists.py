"""Role prompts of the user's: whose file is read for whom, and what is not read at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.core.effects import CallAgent
from engine.core.model import Role
from engine.core.policy import DEFAULT_RUNGS
from engine.perform.role_prompts import role_prompt
from tests.core.story import ONE, Story, begin

FILES = {
    ".devteam/agents/reviewer.md": "be strict",
    ".devteam/agents/planner.md": "small tasks",
    ".devteam/agents/implementer.md": "plain code",
    ".devteam/agents/db-expert.md": "---\nname: db-expert\ntools: Read\n---\nknow the schema\n",
    ".devteam/agents/systems-thinker.md": "look at the queue",
    ".claude/agents/frontend.md": "---\nname: frontend\nmodel: opus\n---\nuse the design tokens\n",
    ".claude/agents/db-expert.md": "not this one",
    ".claude/agents/reviewer.md": "nor this one",
    "secret.md": "never",
}


@pytest.mark.parametrize(
    ("role", "agent", "seat", "wanted"),
    [
        pytest.param(Role.REVIEWER, "", "", "be strict", id="a role"),
        pytest.param(Role.PLANNER, "", "", "small tasks", id="others too"),
        pytest.param(Role.IMPLEMENTER, "", "", "plain code", id="the implementer"),
        pytest.param(Role.IMPLEMENTER, "db-expert", "", "know the schema", id="the agent of a task, front matter out"),
        pytest.param(Role.IMPLEMENTER, "frontend", "", "use the design tokens", id="an agent of Claude Code"),
        pytest.param(Role.IMPLEMENTER, "haiku", "", "plain code", id="a rung is no file"),
        pytest.param(Role.IMPLEMENTER, "../../secret", "", "plain code", id="no way out of the folder"),
        pytest.param(Role.REVIEWER, "db-expert", "", "be strict", id="the agent of a task does not review"),
        pytest.param(Role.COUNCILLOR, "", "systems-thinker", "look at the queue", id="a seat"),
        pytest.param(Role.COUNCILLOR, "", "pattern-matcher", "", id="a seat without a file"),
        pytest.param(Role.SYNTHESIST, "", "", "", id="a role without a file"),
    ],
)
def test_whose_prompt(tmp_path: Path, role: Role, agent: str, seat: str, wanted: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    state = begin(Story(), replace(ONE, agent=agent)).state
    effect = CallAgent(id="1", task="1.1", role=role, rung=DEFAULT_RUNGS[0], iteration=1, attempt=1, seat=seat)
    assert role_prompt(tmp_path, state, effect) == wanted
