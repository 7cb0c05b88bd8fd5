"""A dashboard ends with its terminal: also one that was gone before it looked, and one whose screen cannot leave."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patience
from tui.app.terminal_life import HUNG_UP

ROOT = Path(__file__).parents[2]
CHILD = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from tui.app import terminal_life
terminal_life.GRACE = 0.05
def leave():
    if sys.argv[2] == "raises":
        raise RuntimeError("no screen yet")
if sys.argv[1] == "before":
    terminal_life.end_with_terminal(0, leave)
os.write(1, b"ready")
sys.stdin.buffer.raw  # the terminal stays ours
os.read(3, 1)
if sys.argv[1] == "after":
    terminal_life.end_with_terminal(0, leave)
time.sleep(600)
"""


@pytest.mark.parametrize("leaves", ["says nothing", "raises"])
@pytest.mark.parametrize("looks", ["before", "after"])
def test_it_ends(looks: str, leaves: str) -> None:
    """It begins to look before or after its terminal is gone."""
    master, slave = pty.openpty()
    told, go = os.pipe()
    said = subprocess.PIPE

    def third() -> None:
        os.dup2(told, 3)

    argv = [sys.executable, "-c", CHILD, looks, leaves]
    child = subprocess.Popen(
        argv, stdin=slave, stdout=said, stderr=subprocess.DEVNULL, cwd=ROOT, preexec_fn=third, pass_fds=(3,)
    )
    try:
        os.close(slave)
        assert child.stdout is not None
        assert child.stdout.read(5) == b"ready"
        os.close(master)
        os.write(go, b"!")
        assert child.wait(timeout=patience(20)) == HUNG_UP
    finally:
        child.kill()
        child.wait()
        os.close(told)
        os.close(go)
