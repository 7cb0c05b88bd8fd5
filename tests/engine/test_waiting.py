"""The link where there is no sprint yet."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.core.commands import Pause
from engine.core.events import Envelope, SprintCreated
from engine.link.protocol import GetSprints, Item, LinkStatus
from engine.plans.sprints import new_sprint
from engine.service.links import waiting_link
from engine.service.local import Desk
from tests.engine import small
from tests.patience import patience


async def test_a_sprint_made_meanwhile_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    small.git(folder, "init", "-q")
    link = waiting_link(Desk(project=small.project_of(folder, tmp_path / "state")))
    assert (await link.snapshot()).plan is None
    assert not (await link.send(Pause())).ok
    assert (await link.fetch(GetSprints())).error
    following = link.follow(0)
    assert await anext(following) == LinkStatus(status="connected"), "nothing is amiss: there is no sprint yet"
    first = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0.05)
    assert not first.done()
    new_sprint(folder, small.PLAN, "plan.md", "2026-11-16")
    item = await asyncio.wait_for(first, patience(10))
    assert isinstance(item, Envelope)
    assert isinstance(item.event, SprintCreated)
    assert item.event.sprint == "001-make-good"
    await link.close()
    await following.aclose()


async def test_outside_a_repository_it_stays_empty_until_it_is_closed() -> None:
    link = waiting_link(None)

    async def told() -> list[Item]:
        return [item async for item in link.follow(0)]

    following = asyncio.ensure_future(told())
    await asyncio.sleep(0.01)
    await link.close()
    assert await asyncio.wait_for(following, patience(5)) == [LinkStatus(status="connected")]
