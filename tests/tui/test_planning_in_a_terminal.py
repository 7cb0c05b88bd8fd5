"""From one sentence to landed commits in a terminal: `devteam plan`, `run` and `land` in tmux, typed by a person."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine import small
from tests.engine.test_planning import SCENARIO
from tests.tui.test_end_to_end import Terminal

pytestmark = [pytest.mark.torture, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminal]:
    folder = tmp_path / "repo"
    small.make(folder, scenario=SCENARIO)
    shutil.rmtree(folder / ".devteam/sprints")
    words = f"cd {folder}; alias devteam='{sys.executable} -m tui.cli.main'; PS1='ready> '"
    (tmp_path / "rc").write_text(words.replace("; ", "\n") + "\n")
    made = Terminal(tmp_path / "tmux", 110, 45, f"bash --rcfile {tmp_path / 'rc'} -i")
    yield made
    made.close()


def typed(shell: Terminal, line: str, *until: str) -> str:
    shell.keys("-l", line)
    shell.keys("Enter")
    return shell.wait(*until)


@pytest.mark.timeout(600)
def test_two_questions_one_revision_approval_then_the_sprint(shell: Terminal, tmp_path: Path) -> None:
    shell.wait("ready>")
    typed(shell, 'devteam plan "write good words"', "Trust them?")
    assert "If you do not say: good" in typed(shell, "y", "G1 [")
    typed(shell, "the word good", "G2 [")
    seen = typed(shell, "y", "G3 [")
    assert "may run beside 1.1, and both may touch word.txt" in seen, "the engine's own checks came first"
    assert "approved by its reviewer (draft 2)" in seen
    assert "Expected: about $" in seen and "verify: grep -q good other.txt" in seen
    assert "because files were there before" in typed(shell, "ask why files?", "because files were there")
    shell.wait("G3 [")
    typed(shell, "y", "the plan is approved (by you)")
    folder = tmp_path / "repo"
    assert small.git(folder, "log", "--format=%s") == "start\n", "nothing ran before"
    assert "Final review: approved" in typed(shell, "clear; devteam run", "To take it over: devteam land")
    typed(shell, "clear; devteam land", "landed ")
    assert (folder / "other.txt").read_text() == "good\n"
    assert small.git(folder, "status", "--short") == " M user.txt\n?? .devteam/\n", "the user's edit is as it was"
    assert "Traceback" not in shell.screen()
