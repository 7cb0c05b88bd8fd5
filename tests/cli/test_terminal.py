"""Gates asked on a terminal: a real pseudo-terminal, typed at like a person would."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from pathlib import Path

from tests.cli.ground import CONFIG, Ground, make, trusted
from tests.patience import Deadline, patience


class Terminal:
    """A process on a terminal of width 60."""

    def __init__(self, ground: Ground, *words: str, program: list[str] | None = None) -> None:
        self._fd, slave = pty.openpty()
        env = {**ground.environment(), "COLUMNS": "60", "TERM": "xterm"}
        self.process = subprocess.Popen(
            [*program, *words] if program else ground.argv(*words),
            cwd=ground.folder,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str, seconds: float = 30.0) -> None:
        """Read on until a text appears; what was read up to it is forgotten."""
        deadline = Deadline(seconds)
        while text not in self.seen:
            assert not deadline.over(), f"no {text!r} in:\n{self.seen}"
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self._fd, 65536).decode("utf-8", "replace")
                except OSError:
                    assert text in self.seen, self.seen
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def close(self) -> int:
        try:
            return self.process.wait(timeout=patience(20))
        finally:
            if self.process.poll() is None:
                self.process.kill()
            os.close(self._fd)


def test_gates_on_a_terminal(tmp_path: Path, home: Path) -> None:
    ground = trusted(make(tmp_path / "repo", home, config=CONFIG.replace('"auto"', '"gated"')))
    terminal = Terminal(ground, "run")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.type("ask why one?\n")
    terminal.until("Because.")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.type("bogus\n")
    terminal.until("no answer to a task gate")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.type("y\n")
    terminal.until("G2 [yes/auto/ask/comment]")
    assert ground.run("answer", "G2", "auto").code == 0
    terminal.until("(answered elsewhere)")
    terminal.until("successfully completed")
    assert terminal.close() == 0, "an answer from elsewhere ends the question here"


def test_control_c_and_control_d_at_a_gate(tmp_path: Path, home: Path) -> None:
    ground = trusted(make(tmp_path / "repo", home, config=CONFIG.replace('"auto"', '"gated"')))
    terminal = Terminal(ground, "run")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.type("\x04")
    terminal.until("devteam answer G1")
    terminal.process.send_signal(2)
    terminal.until("run ended: stopped")
    assert terminal.close() == 130
    assert ground.status()["gates"][0]["gate"] == "G1"


def test_the_dashboard_on_a_damaged_journal(tmp_path: Path, home: Path) -> None:
    """It starts an engine, which restores what it can; the dashboard says so and shows the sprint."""
    ground = trusted(make(tmp_path / "repo", home, config=CONFIG.replace('"auto"', '"gated"')))
    terminal = Terminal(ground, "run")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.process.send_signal(2)
    assert terminal.close() == 130
    journal = ground.folder / ".devteam" / "devteam.db"
    size = journal.stat().st_size
    with journal.open("r+b") as file:
        file.seek(100)
        file.write(b"\xa5" * (size - 200))
    dashboard = Terminal(ground, "tui")
    try:
        dashboard.until("damaged")
        dashboard.until("restored")
        dashboard.until("GATE")
        dashboard.type("q")
        dashboard.until("the engine goes on")
    finally:
        dashboard.close()
        ground.run("stop", "--now")
