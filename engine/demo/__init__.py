"""The demo: a small Python package, a plan of six tasks and a scripted agent that fails in instructive ways."""

from __future__ import annotations

import asyncio
import math
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from engine import files
from engine.bus import Subscription
from engine.core import commands as cmd
from engine.core import events as ev
from engine.core.state import State
from engine.perform.agents.scripted import Scenario, load
from engine.perform.workspace.git import Git
from engine.plans.sprints import SprintFolder, list_sprints, new_sprint
from engine.session import Session

HERE = Path(__file__).parent
BY = "scenario"
"""Who answered, in the journal."""
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
    files.write(path, text, mode=files.SHARED, durable=False)


def _config() -> str:
    python = sys.executable.replace("\\", "\\\\").replace('"', '\\"')
    return (HERE / "config.toml.txt").read_text(encoding="utf-8").replace("@PYTHON@", python)


def scenario_of(folder: Path) -> Scenario:
    return load(folder / ".devteam" / "scenario.toml")


Quiet = Callable[[], float]


async def attend(
    session: Session, heard: Subscription, scenario: Scenario, patience: float = 0.0, quiet: Quiet = lambda: math.inf
) -> None:
    """The scenario's human: answers every gate as the scenario says; with no word on it, skips or says yes.

    With `patience` somebody may be watching: they have so many seconds to answer a gate themselves,
    counted anew from whenever they touched the keys (`quiet`: seconds since then): who reads or types is not overtaken.
    """
    asked: set[str] = set()
    waiting: set[asyncio.Task[None]] = set()

    async def answer(gate: str, kind: str, task: str, question: str = "") -> None:
        left = patience
        while left > 0:
            await asyncio.sleep(left)
            left = patience - quiet()
        known = session.state.gates.get(gate)
        if known is None or not known.open:
            return
        if question and gate not in asked:
            asked.add(gate)
            await session.send(cmd.Answer(gate=gate, choice="ask", text=question, by=BY))
        else:
            await _answer(session, gate, kind, scenario, task)

    def later(gate: str, kind: str, task: str, question: str = "") -> None:
        one = asyncio.create_task(answer(gate, kind, task, question))
        waiting.add(one)
        one.add_done_callback(waiting.discard)

    try:
        async for message in heard:
            if not isinstance(message, ev.Envelope):
                continue
            match message.event:
                case ev.GateOpened() as gate:
                    step = scenario.answer(gate.kind, gate.task)
                    later(gate.gate, gate.kind, gate.task, step.ask if step is not None else "")
                case ev.GateReplied() as reply:
                    known = session.state.gates.get(reply.gate)
                    if known is not None:
                        later(known.id, known.kind, known.task)
                case ev.RunStarted():
                    for open_gate in session.state.open_gates():
                        later(open_gate.id, open_gate.kind, open_gate.task)
                case _:
                    pass
    finally:
        for one in waiting:
            one.cancel()


async def _answer(session: Session, gate: str, kind: str, scenario: Scenario, task: str) -> None:
    step = scenario.answer(kind, task)
    choice = step.choice if step is not None else ("skip" if kind == "blocked" else "yes")
    text = step.text if step is not None else ""
    await session.send(cmd.Answer(gate=gate, choice=choice, text=text, by=BY))


def as_scripted(state: State, scenario: Scenario) -> list[str]:
    """What did not end as the scenario expects; empty: all did."""
    wrong = []
    for task, status in scenario.expect.items():
        found = state.tasks[task].status.value if task in state.tasks else "missing"
        if found != status:
            wrong.append(f"{task} should be {status}, is {found}")
    return wrong
