"""The link to an engine in this process: everything goes through the codec, and an ended run still answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.core.activity import AgentOutput
from engine.core.commands import Pause
from engine.core.events import Envelope
from engine.core.fold import fold
from engine.link.protocol import GetEvents, Item, LinkStatus
from engine.service.local import Desk
from engine.service.running import Options, inline
from tests.engine import small
from tests.patience import patience


async def test_a_run_in_this_process_is_followed(tmp_path: Path) -> None:
    sprint = small.make(tmp_path / "repo")
    desk = Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))
    seen: list[Item] = []
    async with inline(desk, sprint, Options(trust="all", attended=False, speed=1e6)) as (session, link):
        published: list[Envelope] = []
        session.watch(lambda batch, _state: published.extend(batch))

        async def follow() -> None:
            async for item in link.follow(0):
                seen.append(item)

        reader = asyncio.create_task(follow())
        state = await asyncio.wait_for(session.run(), patience(90))
        session.bus.close()
        await asyncio.wait_for(reader, patience(10))
        assert state.outcome == "done"
        facts = [item for item in seen if isinstance(item, Envelope)]
        assert fold(facts) == state
        assert published
        assert {"trying", "mending"} <= {item.text for item in seen if isinstance(item, AgentOutput)}
        assert isinstance(seen[-1], LinkStatus)
        again = await link.snapshot()
        assert again == state
        assert len((await link.fetch(GetEvents(limit=5000))).events) == len(facts)
        late = await asyncio.wait_for(link.send(Pause(by="you")), patience(5))
        assert not late.ok
        assert "the run has ended" in late.detail
