"""Starting an engine that outlives the terminal: a process in a session of its own, its words in a log file."""

from __future__ import annotations

import time
from pathlib import Path

from engine.link.user_errors import UserError
from engine.paths import make_state
from engine.perform.process.spawner import start_detached
from engine.service.local import Desk

POLL_SECONDS = 0.05
ERROR, HINT = "devteam: ", "  → "
"""How the command line begins the two, which is what the engine's log has."""


def start_engine(desk: Desk, argv: list[str]) -> None:
    """Start it in the state directory, never among the repository's files; returns when it has taken the lock.

    There is no time limit: on a busy machine it takes long, and a process that ends without the lock has failed."""
    folder = make_state(desk.project.state).root
    log = folder / "engine.log"
    before = log.stat().st_size if log.is_file() else 0
    engine = start_detached(argv, cwd=folder, env=dict(desk.project.env), log=log)
    while desk.engine() is None:
        if engine.poll() is not None:
            _must_have_run(log, before)
            return
        time.sleep(POLL_SECONDS)


def _must_have_run(log: Path, before: int) -> None:
    """It ended before anybody saw its lock: either it was done at once, or it said why it could not start."""
    said = log.read_bytes()[before:].decode("utf-8", "replace").splitlines()
    first = next((at for at, line in enumerate(said) if line.startswith(ERROR)), None)
    if first is None and said:
        return
    told = ["it said nothing"] if first is None else [said[first].removeprefix(ERROR), *said[first + 1 :]]
    hint = next((at for at, line in enumerate(told) if line.startswith(HINT)), len(told))
    words, hints = "\n".join(told[:hint]), "\n".join(told[hint:]).removeprefix(HINT)
    raise UserError(f"the engine did not start: {words}", hints or f"its words are in {log}")
