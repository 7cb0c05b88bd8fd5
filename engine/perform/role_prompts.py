"""What the user wrote for a speciality or a role: .devteam/agents/NAME.md, also in the form of Claude Code's files."""

from __future__ import annotations

import re
from pathlib import Path

from engine.core.effects import CallAgent
from engine.core.model import Role
from engine.core.state import State

LONGEST = 20_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def role_prompt(checkout: Path, state: State, effect: CallAgent) -> str:
    """The file named by the task's `agent:` for its implementer, or by a councillor's seat, else by the role itself.

    A task may also name one of Claude Code's own agents of this repository (.claude/agents)."""
    task = state.tasks.get(effect.task)
    ours = checkout / ".devteam" / "agents"
    places = [(ours, effect.role.value)]
    if effect.role is Role.IMPLEMENTER and task is not None and task.spec.agent:
        places = [(ours, task.spec.agent), (checkout / ".claude" / "agents", task.spec.agent), *places]
    elif effect.seat:
        places.insert(0, (ours, effect.seat))
    return next((text for folder, name in places if (text := _read(folder, name))), "")


def _read(folder: Path, name: str) -> str:
    """The body without its front matter. A name that is no plain file name is none of ours."""
    if not _NAME.fullmatch(name):
        return ""
    try:
        text = (folder / f"{name}.md").read_text("utf-8", "replace")
    except OSError:
        return ""
    return _FRONT.sub("", text.replace("\r\n", "\n"))[:LONGEST].strip()
