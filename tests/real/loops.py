"""A small repository whose ladder is one real CLI, pointed at the model server: whole sprints through the loop."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.effects import AnyEffect
from engine.core.model import AgentResult
from engine.core.state import State
from engine.journal import Journal
from engine.perform.process.reaper import find_orphans
from engine.plans.sprints import SprintFolder, list_sprints, new_sprint
from engine.project import Project, open_project
from engine.session import Session
from engine.session_options import Options
from tests.agents.fake_model_server import FakeModelServer, Script, Step, say, use
from tests.engine import small
from tests.real.agents import dialect_of

CRITERION = "hello.txt says hello"
PLAN = f"""# Say hello

Status: APPROVED
Topic: greeting

## Phase 1: Words

- [ ] 1.1 Write a greeting
      description: Put the word hello into hello.txt.
      accept: {CRITERION}
      scope: hello.txt
      verify: grep -qx hello hello.txt
      complexity: 1
"""
REVIEW = {
    "approved": True,
    "criteria": [{"text": CRITERION, "met": True, "reference": "hello.txt:1"}],
    "issues": [],
    "notes": [],
    "summary": "it says hello",
}
CONFIG = """
[ladder]
failures = [3]

[[ladder.rungs]]
name = "only"
agent = {agent}
model = {model}
reserve_usd = 0.5

[agents.{agent_name}]
program = {program}
args = {args}

[task_loop]
max_iterations = 2

[error_recovery]
initial_delay_seconds = 0.2

[checks]
preset = "none"

[[checks.run]]
name = "words"
kind = "own"
command = "! grep -rq bad --include=*.txt ."

[gates]
fix = "auto"
task = "auto"

[timeouts]
implementation = 120
review = 120
"""


@dataclass
class Loop:
    """One repository, one agent, one script."""

    name: str
    place: Path
    server: FakeModelServer
    env: dict[str, str]

    @property
    def folder(self) -> Path:
        return self.place / "repo"

    @property
    def agent(self) -> str:
        return "claude" if self.name.startswith("claude") else self.name

    def project(self) -> Project:
        return open_project(self.folder, self.env, self.place / "home")

    def sprint(self) -> SprintFolder:
        return list_sprints(self.folder)[-1]

    def script(self, steps: list[Step]) -> Script:
        return self.server.script(self.place.name, steps)

    async def run(self, watch: Callable[[ev.AnyEvent], None] = lambda _event: None) -> State:
        """One unattended run to its end; `watch` sees every fact as it is recorded."""
        options = Options(attended=False, trust="all")
        async with Session.open(self.project(), self.sprint(), SystemClock(), options) as session:
            session.watch(lambda envelopes, _state: [watch(one.event) for one in envelopes])
            return await session.run()

    def events(self) -> list[ev.AnyEvent]:
        project = self.project()
        with Journal.open(project.repo.db, clock=time.time, backup_dir=project.backups) as journal:
            return [one.event for one in journal.read(self.sprint().id)]

    def results(self, role: str = "") -> list[AgentResult]:
        ended = [event for event in self.events() if isinstance(event, ev.AgentFinished)]
        return [event.result for event in ended if not role or event.role.value == role]

    def effects(self, kind: type[AnyEffect]) -> list[Any]:
        begun = [event.effect for event in self.events() if isinstance(event, ev.EffectStarted)]
        return [effect for effect in begun if isinstance(effect, kind)]

    def survivors(self) -> list[int]:
        runs = [event.run for event in self.events() if isinstance(event, ev.RunStarted)]
        return [pid for run in runs for pid in find_orphans(run)]

    # ── what the model says ────────────────────────────────────────────────────────────────────────────────────────

    def write(self, content: str = "hello\n") -> Step:
        """The implementer's tool call, in the words of its program."""
        path = str(self.folder / "hello.txt")
        match self.agent:
            case "claude":
                return use("Write", {"file_path": path, "content": content})
            case "codex":
                return use("exec_command", {"cmd": f"echo {content.strip()} > hello.txt"})
            case "gemini":
                return use("write_file", {"file_path": "hello.txt", "content": content})
            case _:
                return use("write", {"filePath": path, "content": content})

    def shell(self, command: str) -> Step:
        match self.agent:
            case "claude":
                return use("Bash", {"command": command, "description": "run it"})
            case "codex":
                return use("exec_command", {"cmd": command})
            case "gemini":
                return use("run_shell_command", {"command": command, "description": "run it"})
            case _:
                return use("bash", {"command": command, "description": "run it"})

    def review(self) -> Step:
        return self.structured(REVIEW)

    def structured(self, answer: dict[str, Any]) -> Step:
        """An answer that follows a schema, in the way of its program."""
        if self.agent == "claude":
            return use("StructuredOutput", answer)
        words = json.dumps(answer)
        return say(words if self.agent == "codex" else f"Looked at it.\n\n```json\n{words}\n```")

    def good(self) -> list[Step]:
        """A whole task: a file is written, the work is claimed, the review approves."""
        return [self.write(), say("Wrote it.\nSTATUS: complete\nISSUES: none"), self.review()]


def make(name: str, place: Path, server: FakeModelServer) -> Loop:
    """The repository, its plan and its configuration. Skips where the CLI cannot be installed."""
    config, env, model = dialect_of(name, server.url(place.name))
    folder, home = place / "repo", place / "home"
    for made in (folder, home, place / "state"):
        made.mkdir(parents=True)
    (folder / "word.txt").write_text("none\n")
    (folder / "user.txt").write_text("the user's own\n")
    small.git(folder, "init", "-q", "-b", "main")
    small.git(folder, "add", "-A")
    small.git(folder, "commit", "-q", "-m", "start")
    (folder / "user.txt").write_text("the user's own, edited and not committed\n")
    agent = "claude" if name.startswith("claude") else name
    (folder / ".devteam").mkdir()
    # JSON strings and lists are TOML too.
    settings = {
        "agent": json.dumps(agent),
        "agent_name": agent,
        "model": json.dumps(model),
        "program": json.dumps(config.program),
        "args": json.dumps(list(config.args)),
    }
    (folder / ".devteam" / "config.toml").write_text(CONFIG.format(**settings))
    new_sprint(folder, PLAN, "plan.md", "2026-11-16")
    base = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(place / "state"), "LANG": "C.UTF-8"}
    return Loop(name, place, server, {**base, **env})
