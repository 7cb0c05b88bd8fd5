"""The dashboard's link to an engine in another process: everything arrives while it runs, and its end is said."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from engine.core import events as ev
from engine.core.activity import AgentOutput
from engine.core.fold import apply, fold
from engine.link.protocol import LinkStatus
from engine.link.recording import record
from engine.service.links import attached_link
from engine.service.local import Desk
from engine.service.recorded import recorded as read_where_it_lies
from tests.engine import small
from tests.patience import patience

ROOT = Path(__file__).parents[2]


async def test_a_running_engine_is_followed_from_another_process(tmp_path: Path) -> None:
    folder, state = tmp_path / "repo", tmp_path / "state"
    sprint = small.make(folder)
    desk = Desk(project=small.project_of(folder, state))
    link = attached_link(desk, sprint)
    known = await link.snapshot()
    argv = [sys.executable, "-m", "tests.torture.life", "small", str(folder), str(state), str(tmp_path / "acks")]
    engine = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    statuses: list[str] = []
    said: list[str] = []

    async def follow() -> None:
        nonlocal known
        async for item in link.follow(known.seq):
            match item:
                case ev.Envelope():
                    known = apply(known, item)
                case LinkStatus():
                    statuses.append(item.status)
                    if item.status == "ended" and known.outcome:
                        return
                case AgentOutput():
                    said.append(item.text)
                case _:
                    pass

    try:
        await asyncio.wait_for(follow(), patience(90))
    finally:
        engine.kill()
        _out, err = engine.communicate()
        await link.close()
    assert known.outcome == "done", err.decode()
    assert known == await attached_link(desk, sprint).snapshot()
    assert "connected" in statuses
    assert {"trying", "mending"} <= set(said)
    recorded = await record(attached_link(desk, sprint))
    assert read_where_it_lies(desk, sprint) == recorded
    assert fold(item for item in recorded if isinstance(item, ev.Envelope)) == known
    words = [item.text for item in recorded if isinstance(item, AgentOutput)]
    assert words.index("trying") < words.index("mending")
    assert [item.at for item in recorded] == sorted(item.at for item in recorded)
