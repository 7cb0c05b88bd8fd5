"""The whole product in a real terminal: `devteam demo` in tmux, gates answered by keys, the screen read back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.core.council import SEATS
from tests.patience import Deadline

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.torture, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]


class Terminal:
    """A tmux server of its own, so that nobody's sessions are touched."""

    def __init__(self, socket: Path, width: int, height: int, command: str) -> None:
        self._base = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "screen-256color", "LC_ALL": "C.UTF-8"}
        environment["XDG_STATE_HOME"] = str(socket.parent / "state")
        environment.pop("NO_COLOR", None)
        size = ["-x", str(width), "-y", str(height)]
        subprocess.run([*self._base, "new-session", "-d", "-s", "t", *size, command], check=True, env=environment)

    def keys(self, *keys: str) -> None:
        subprocess.run([*self._base, "send-keys", "-t", "t", *keys], check=True)

    def screen(self) -> str:
        done = subprocess.run(
            [*self._base, "capture-pane", "-p", "-t", "t"], check=True, capture_output=True, text=True
        )
        return done.stdout

    def wait(self, *words: str, seconds: float = 120.0) -> str:
        """The screen once it shows one of these words."""
        deadline = Deadline(seconds)
        while not deadline.over():
            seen = self.screen()
            if any(word in seen for word in words):
                return seen
            time.sleep(0.2)
        raise AssertionError(f"none of {words} came:\n{self.screen()}")

    def press_until(self, key: str, words: str) -> None:
        """Press as a person does: not while the gate has only just come into sight, and again if it was too early."""
        for _ in range(10):
            time.sleep(1.0)
            if words in self.screen():
                return
            self.keys(key)
        self.wait(words, seconds=30)

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], check=False)


@pytest.fixture(params=[(80, 24), (200, 50)], ids=["80x24", "200x50"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    command = f"{sys.executable} -m tui.cli.main demo --dir {tmp_path / 'demo'}; echo LEFT $?; sleep 60"
    made = Terminal(tmp_path / "tmux", *request.param, command)
    yield made
    made.close()


@pytest.mark.timeout(420)
def test_the_demo_is_run_and_answered(terminal: Terminal, tmp_path: Path) -> None:
    gate = terminal.wait("TASK GATE")
    assert "T1.1" in gate
    assert "waiting for you" in gate
    assert "commits" in gate, "what y will cause"
    terminal.keys("d")
    terminal.wait("FILES")
    terminal.keys("Escape")
    terminal.wait("WAITING FOR YOU")
    terminal.keys("h")
    terminal.wait("FLIGHT", "2 3 iteration, output")  # beside a gate 80×24 has no room for the strip
    terminal.keys("h")
    terminal.wait("WAITING FOR YOU")
    terminal.press_until("a", "auto: task")
    for _ in range(12):
        seen = terminal.wait("FIX GATE", "BLOCKED  T", "engine ended", seconds=180)
        if "engine ended" in seen:
            break
        time.sleep(0.5)
        terminal.keys("y" if "FIX GATE" in seen else "s")
        time.sleep(1.5)
    terminal.wait("engine ended")
    terminal.wait("MEASURED", "L land")
    terminal.keys("q")
    left = terminal.wait("LEFT")
    assert "Traceback" not in left
    assert "Needs you" in left or "Cost:" in left
    heard = "".join(path.read_text() for path in (tmp_path / "state").rglob("logs/**/*.jsonl"))
    assert {seat for seat in SEATS if f'"seat":"{seat}"' in heard} == set(SEATS), "the council's words name their seat"


@pytest.mark.timeout(300)
def test_a_demo_that_nobody_watches_comes_to_its_end(tmp_path: Path) -> None:
    command = f"{sys.executable} -m tui.cli.main demo --speed 30 --dir {tmp_path / 'demo'}; echo LEFT $?; sleep 60"
    terminal = Terminal(tmp_path / "tmux", 120, 40, command)
    try:
        terminal.wait("watch:", seconds=30)
        left = terminal.wait("LEFT 0", seconds=240)
        assert "went another way" not in left
        assert "Needs you" in left
    finally:
        terminal.close()
