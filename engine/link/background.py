"""Starting an engine that outlives the terminal: a process in a session of its own, its words in a log file."""

from __future__ import annotations

from pathlib import Path

from engine.link.local import Desk
from engine.paths import make_state
from engine.perform.process import start_detached


def start_engine(desk: Desk, argv: list[str]) -> Path:
    """Start it and return the path of its log. Whether it took the lock is the caller's to watch."""
    log = make_state(desk.project.state).root / "engine.log"
    start_detached(argv, cwd=desk.root, env=dict(desk.project.env), log=log)
    return log
