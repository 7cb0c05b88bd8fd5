"""The demo: a small Python package, a plan of six tasks and a scripted agent that fails in instructive ways."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from engine.bus import Subscription
from engine.core import commands as cmd
from engine.core import events as ev
from engine.core.state import State
from engine.perform.agents.scripted import Scenario, load
from engine.perform.workspace.git import Git
from engine.plans.sprints import SprintFolder, list_sprints, new_sprint
from engine.session import Session

HERE = Path(__file__).parent
_WHO = {
    "GIT_AUTHOR_NAME": "you",
    "GIT_AUTHOR_EMAIL": "you@localhost",
    "GIT_COMMITTER_NAME": "you",
    "GIT_COMMITTER_EMAIL": "you@localhost",
}


class DemoRefused(Exception):  # noqa: N818  it is an answer, not a fault
    """The folder cannot be used for the demo."""


def prepare(folder: Path, today: str) -> SprintFolder:
    """Make the demo's repository in an empty folder, or take up the one that is there."""
    marker = folder / ".devteam" / "config.toml"
    if marker.is_file() and "scripted" in marker.read_text(encoding="utf-8"):
        if found := list_sprints(folder):
            return found[-1]
    elif folder.exists() and any(folder.iterdir()):
        raise DemoRefused(f"{folder} is not empty: give the demo a new folder with --dir")
    folder.mkdir(parents=True, exist_ok=True)
    files = tomllib.loads((HERE / "project.toml").read_text(encoding="utf-8"))["files"]
    for name, text in files.items():
        _write(folder / name, text.lstrip("\n"))
    git = Git(git_dir=folder / ".git", cwd=folder, work_tree=folder, env=_WHO)
    Git(git_dir=None, cwd=folder).run("init", "-q", "-b", "main", str(folder))
    git.run("add", "-A", "--", ".")
    git.run("commit", "-q", "-m", "tally: read amounts")
    _write(folder / ".devteam" / "scenario.toml", (HERE / "scenario.toml").read_text(encoding="utf-8"))
    _write(marker, _config())
    plan = (HERE / "plan.md").read_text(encoding="utf-8")
    return new_sprint(folder, plan, "plan.md", today)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _config() -> str:
    python = sys.executable.replace("\\", "\\\\").replace('"', '\\"')
    return (HERE / "config.toml.txt").read_text(encoding="utf-8").replace("@PYTHON@", python)


def scenario_of(folder: Path) -> Scenario:
    return load(folder / ".devteam" / "scenario.toml")


async def attend(session: Session, heard: Subscription, scenario: Scenario) -> None:
    """The scenario's human: answers every gate as the scenario says; with no word on it, skips or says yes."""
    asked: set[str] = set()
    async for message in heard:
        if not isinstance(message, ev.Envelope):
            continue
        match message.event:
            case ev.GateOpened() as gate:
                step = scenario.answer(gate.kind, gate.task)
                if step is not None and step.ask and gate.gate not in asked:
                    asked.add(gate.gate)
                    await session.send(cmd.Answer(gate=gate.gate, choice="ask", text=step.ask, by="scenario"))
                else:
                    await _answer(session, gate.gate, gate.kind, scenario, gate.task)
            case ev.GateReplied() as reply:
                gate_state = session.state.gates.get(reply.gate)
                if gate_state is not None and gate_state.open:
                    await _answer(session, reply.gate, gate_state.kind, scenario, gate_state.task)
            case ev.RunStarted():
                for waiting in session.state.open_gates():
                    await _answer(session, waiting.id, waiting.kind, scenario, waiting.task)
            case _:
                pass


async def _answer(session: Session, gate: str, kind: str, scenario: Scenario, task: str) -> None:
    step = scenario.answer(kind, task)
    choice = step.choice if step is not None else ("skip" if kind == "blocked" else "yes")
    text = step.text if step is not None else ""
    await session.send(cmd.Answer(gate=gate, choice=choice, text=text, by="scenario"))


def as_scripted(state: State, scenario: Scenario) -> list[str]:
    """What did not end as the scenario expects; empty: all did."""
    wrong = []
    for task, status in scenario.expect.items():
        found = state.tasks[task].status.value if task in state.tasks else "missing"
        if found != status:
            wrong.append(f"{task} should be {status}, is {found}")
    return wrong
