"""The planning conversation in a real terminal: two questions, a revision, an edit in $EDITOR, the approval."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plans.registry import read_plan
from engine.plans.sprints import list_sprints
from tests.engine import small
from tests.engine.test_planning import SCENARIO
from tests.tui.test_end_to_end import ROOT, Terminal

pytestmark = [pytest.mark.torture, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a scripted planner and no sprint."""
    small.make(tmp_path / "repo", scenario=SCENARIO)
    shutil.rmtree(tmp_path / "repo/.devteam/sprints")
    return tmp_path / "repo"


def typed(folder: Path, words: str) -> str:
    """What is typed: devteam in that repository, with an editor that changes one word."""
    editor = shlex.quote("sed -i 's/Write other/Write my other/'")
    program = f"{shlex.quote(sys.executable)} -m tui.cli.main {words} --trust all"
    return f"cd {shlex.quote(str(folder))}; export EDITOR={editor}; {program}; echo LEFT $?; sleep 60"


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for one in opened:
        one.close()


def press_while(terminal: Terminal, key: str, words: str) -> None:
    """Press as long as this is asked: a key too many would answer the gate behind it."""
    terminal.wait(words)
    for _ in range(20):
        time.sleep(1.0)
        if words not in terminal.screen():
            return
        terminal.keys(key)
    raise AssertionError(f"{words} is still asked:\n{terminal.screen()}")


def approved(folder: Path) -> None:
    (sprint,) = list_sprints(folder)
    plan = read_plan(sprint.plan_path)
    assert plan.status in ("APPROVED", "IN_PROGRESS", "COMPLETE")
    assert [task.title for task in plan.tasks()] == ["Write word", "Write my other"], "as it was edited"
    context = sprint.context_path.read_text()
    assert "Which word? → good, please (you)" in context and "Upper case? → no (you)" in context


@pytest.mark.timeout(600)
def test_asked_and_answered_line_by_line(folder: Path, terminals: list[Terminal]) -> None:
    terminal = Terminal(folder.parent / "tmux", 120, 50, typed(folder, "plan 'write good words'"))
    terminals.append(terminal)
    terminal.wait("G1 [yes/")
    terminal.keys("good, please", "Enter")
    terminal.wait("G2 [yes/")
    terminal.keys("y", "Enter")
    shown = terminal.wait("G3 [yes/")
    assert "draft 2" in shown and "Expected: about $" in shown, "one revision, then the gate with cost and time"
    terminal.keys("ask why files?", "Enter")
    terminal.wait("because files were there before")
    terminal.keys("edit", "Enter")
    terminal.wait("draft 3")
    terminal.wait("G4 [yes/")
    terminal.keys("y", "Enter")
    left = terminal.wait("LEFT")
    assert "LEFT 0" in left and "Traceback" not in left
    approved(folder)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
def test_asked_by_the_dashboard(folder: Path, terminals: list[Terminal], size: tuple[int, int]) -> None:
    """Asked without a terminal (exit 3), answered in the dashboard, which starts an engine of its own for it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder.parent / "state")}
    words = [sys.executable, "-m", "tui.cli.main", "plan", "write good words", "--trust", "all", "--json"]
    asked = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert asked.returncode == 3, asked.stderr
    terminal = Terminal(folder.parent / "tmux", *size, typed(folder, "tui"))
    terminals.append(terminal)
    seen = terminal.wait("the planner asks")
    assert "planning: write good" in seen and "no sprint" not in seen
    time.sleep(1.0)  # a gate that has only just come into sight takes no key
    terminal.keys("c")
    terminal.wait("f2 or")
    terminal.keys("good, please")
    terminal.wait("│ good, please")
    terminal.keys("C-s")
    press_while(terminal, "y", "Upper case? — the planner asks")
    terminal.wait("yes: approve")
    terminal.press_until("E", "G4")
    press_while(terminal, "y", "yes: approve")
    terminal.wait("engine ended", seconds=240)
    terminal.keys("q")
    assert "Traceback" not in terminal.wait("LEFT")
    approved(folder)
