"""A long history, in a process of its own: what it costs to write, to read, to say where it stands, and to show again.

    PYTHONPATH=TREE python probe_events.py EVENTS

`fold_all_s` is reading and folding all of it, as an engine does after an upgrade. `status_s` is the real `devteam
status`, interpreter and all, over a snapshot that another version made. `first_picture_s` is reading it all and the
first picture of a replay; `replay_s` the real `devteam tui --replay`, interpreter and all, until its terminal shows
the sprint. CPU seconds.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path
from typing import Any

import msgspec

from engine.core.events import SprintCreated
from engine.core.fold import fold
from engine.core.state import State
from engine.journal import Journal
from engine.link.replay import ReplayLink
from engine.plans.registry import read_plan
from tests.benchmarks.bench_journal import history
from tests.engine import small

ROOT = Path(__file__).parents[2]
PLAN = "# Long\n\nStatus: APPROVED\n\n## Phase 1: One\n\n- [ ] 1.1 First\n\n- [ ] 1.2 Second\n"


def probe(folder: Path, count: int) -> dict[str, Any]:
    repo = folder / "repo"
    sprint = small.make(repo, plan=PLAN)
    project = small.project_of(repo, folder / "state")

    ticks = itertools.count(1_800_000_000)  # seconds: a replay at its own speed is still at the beginning

    def opened(read_only: bool = False) -> Journal:
        backups = folder / "backups"
        return Journal.open(project.repo.db, clock=lambda: float(next(ticks)), backup_dir=backups, read_only=read_only)

    created = SprintCreated(sprint=sprint.id, plan=read_plan(sprint.plan_path), branch=sprint.branch, topic="long")
    facts = [created, *history(count - 1)]
    begun = time.process_time()
    with opened() as journal:
        for at in range(0, count, 100):
            journal.append(sprint.id, facts[at : at + 100])
    wrote = time.process_time() - begun
    with opened(read_only=True) as journal:
        begun = time.process_time()
        envelopes = list(journal.read())
        read = time.process_time() - begun
        state = fold(envelopes, State())
        folded = time.process_time() - begun
    with opened() as journal:
        journal.save_snapshot(sprint.id, count, msgspec.json.encode(state), "another version")
    begun = time.process_time()
    link = ReplayLink(envelopes, speed=1.0, at_end=False)
    asyncio.run(link.snapshot())
    picture = time.process_time() - begun
    return {
        "events": count,
        "append_us": round(wrote * 1e6 / count, 1),
        "read_s": round(read, 3),
        "fold_all_s": round(folded, 3),
        "fold_us": round((folded - read) * 1e6 / count, 1),
        "first_picture_s": round(read + picture, 3),
        "status_s": round(min(_status(folder) for _ in range(3)), 3),
        "replay_s": round(_replayed(folder, sprint.id), 3),
    }


def _environment(folder: Path) -> dict[str, str]:
    own = {"XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    return {**os.environ, **own, "TEXTUAL_ANIMATIONS": "none"}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _status(folder: Path) -> float:
    before = _children()
    argv = [sys.executable, "-m", "tui.cli.main", "status"]
    subprocess.run(argv, cwd=folder / "repo", env=_environment(folder), capture_output=True, check=True)
    return _children() - before


def _replayed(folder: Path, sprint: str, limit: float = 60.0) -> float:
    """CPU of the dashboard's process from its start until the sprint's name is on its terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder / "repo")
        argv = [sys.executable, "-m", "tui.cli.main", "tui", "--replay", sprint]
        os.execve(sys.executable, argv, _environment(folder))
    ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen, begun, used = bytearray(), time.monotonic(), 0.0
    try:
        while sprint.encode() not in seen:
            if time.monotonic() - begun > limit:
                raise RuntimeError(f"no picture in {limit} s: {bytes(seen[-300:])!r}")
            if select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 1 << 16)
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(master)
        os.waitpid(pid, 0)
    return used


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(probe(Path(place), int(sys.argv[1]))))
