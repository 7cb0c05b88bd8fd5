"""Gates asked on a terminal: a real pseudo-terminal, typed at like a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from pathlib import Path

import pyte
import pytest

from tests.cli.ground import CONFIG, Ground, make, trusted
from tests.engine.test_controller import REST, planner, task, writes
from tests.patience import Deadline, patience


class Terminal:
    """A process on a terminal of width 60."""

    def __init__(self, ground: Ground, *words: str, program: list[str] | None = None) -> None:
        self._fd, slave = pty.openpty()
        env = {**ground.environment(), **self._sized(slave)}
        self.process = subprocess.Popen(
            [*program, *words] if program else ground.argv(*words),
            cwd=ground.folder,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=self._at_birth,
        )
        os.close(slave)
        self.seen = ""

    def _at_birth(self) -> None:
        """In the child, before its program: nothing here, so that the terminal is nobody's controlling one."""

    def _sized(self, slave: int) -> dict[str, str]:
        """The environment that tells the terminal's kind and size."""
        return {"COLUMNS": "60", "TERM": "xterm"}

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


class Screen(Terminal):
    """The dashboard on a terminal: what is read is what the terminal shows.

    Only changed cells are written, in any order: a word may come in pieces, and none comes twice."""

    WIDTH, HEIGHT = 100, 30

    def __init__(self, ground: Ground, *words: str, program: list[str] | None = None) -> None:
        self._screen = pyte.Screen(self.WIDTH, self.HEIGHT)
        self._stream = pyte.ByteStream(self._screen)
        super().__init__(ground, *words, program=program)

    def _sized(self, slave: int) -> dict[str, str]:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", self.HEIGHT, self.WIDTH, 0, 0))
        return {"COLUMNS": str(self.WIDTH), "LINES": str(self.HEIGHT), "TERM": "xterm-256color"}

    def shown(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def until(self, text: str, seconds: float = 30.0) -> None:
        """Read on until the terminal shows a text, if only for one frame."""
        deadline = Deadline(seconds)
        while text not in self.shown():
            assert not deadline.over(), f"no {text!r} in:\n{self.shown()}"
            if not select.select([self._fd], [], [], 0.2)[0]:
                continue
            try:
                self._stream.feed(os.read(self._fd, 512))
            except OSError:
                assert text in self.shown(), f"it ended without {text!r}:\n{self.shown()}"


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


@pytest.mark.parametrize("detached", ["continue", "pause"])
def test_a_run_whose_terminal_is_lost_goes_on_by_its_policy(tmp_path: Path, home: Path, detached: str) -> None:
    config = CONFIG.replace('"auto"', '"gated"').replace("[gates]", f'[gates]\ndetached = "{detached}"')
    ground = trusted(make(tmp_path / "repo", home, config=config))
    terminal = Terminal(ground, "run")
    terminal.until("G1 [yes/auto/ask/comment]")
    assert "watching  1; when nobody is" in ground.run("status").out, "whoever is asked attends"
    os.close(terminal._fd)
    if detached == "continue":
        assert terminal.process.wait(timeout=patience(60)) == 0
        assert ground.status()["outcome"] == "done"
        return
    ground.until(lambda: ground.status()["paused"])
    assert "watching  nobody; now: gates.detached = pause" in ground.run("status").out
    assert ground.run("stop", "--now").code == 0
    terminal.process.wait(timeout=patience(60))


WORDS = planner("", task("1.1", "src/a.txt")) + writes('task = "1.1"', "src/a.txt", "good")
IDEA = WORDS + REST.replace("a.txt", "src/a.txt")


@pytest.mark.parametrize("lost_at", ["the plan", "a task"])
def test_an_idea_goes_on_when_its_terminal_is_lost(tmp_path: Path, home: Path, lost_at: str) -> None:
    """PRD, plan and sprint are runs one after another: the loss holds for those that are still to come."""
    config = CONFIG.replace('"auto"', '"gated"')
    ground = trusted(make(tmp_path / "repo", home, config=config, plan="", scenario=IDEA))
    terminal = Terminal(ground, "implement", "write words", *(["--approve"] if lost_at == "a task" else []))
    terminal.until("G1 [")
    os.close(terminal._fd)
    ended = terminal.process.wait(timeout=patience(60))
    if lost_at == "the plan":
        assert ended == 3, "nobody approves a plan for the user"
        assert [gate["kind"] for gate in ground.status()["gates"]] == ["prd"]
        assert ground.run("answer", "G1", "yes").code == 0
        ended = ground.run("implement", "--approve", "--unattended").code
    assert ended == 0
    assert ground.read("src/a.txt") == "good\n", "it is landed"


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
    dashboard = Screen(ground, "tui")
    try:
        dashboard.until("damaged")
        dashboard.until("restored")
        dashboard.until("GATE")
        dashboard.type("q")
        dashboard.until("the engine goes on")
    finally:
        dashboard.close()
        ground.run("stop", "--now")


def test_a_dashboard_ends_with_its_terminal_though_no_signal_tells_it(tmp_path: Path, home: Path) -> None:
    """It would turn in circles at the end of its input for ever; the engine goes on, and asks nobody any more."""
    ground = trusted(make(tmp_path / "repo", home, config=CONFIG.replace('"auto"', '"gated"')))
    dashboard = Screen(ground, "tui")
    try:
        dashboard.until("GATE")
        os.close(dashboard._fd)  # the terminal dies; the dashboard has no controlling terminal, so no SIGHUP comes
        assert dashboard.process.wait(timeout=patience(30)) is not None
    finally:
        dashboard.process.kill()
        ground.run("stop", "--now")
