"""One contract for every way to an engine: in this process, over its socket, and from a recording.

Facts come in order without gaps and fold to the snapshot; a question without an answer gets an error, no exception;
a command is acknowledged; closing ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.activity import AgentOutput
from engine.core.commands import Ack, Answer, Pause, Skip
from engine.core.fold import fold
from engine.core.state import State
from engine.link.inline import InlineLink
from engine.link.protocol import Answered, GetDiff, GetEvidence, GetFile, GetReport, Link
from engine.link.recording import record
from engine.link.replay import ReplayLink
from engine.plans.sprints import SprintFolder
from engine.service.links import SprintSource, attached_link
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

Made = AbstractAsyncContextManager[tuple[Link, Callable[[], object]]]


@contextlib.asynccontextmanager
async def inline(desk: Desk, sprint: SprintFolder) -> AsyncIterator[tuple[Link, Callable[[], object]]]:
    async with _session(desk, sprint) as (session, begin):
        yield InlineLink(session, SprintSource(desk=desk, folder=sprint)), begin


@contextlib.asynccontextmanager
async def socket(desk: Desk, sprint: SprintFolder) -> AsyncIterator[tuple[Link, Callable[[], object]]]:
    async with _session(desk, sprint) as (_, begin):
        yield attached_link(desk, sprint), begin


@contextlib.asynccontextmanager
async def replay(desk: Desk, sprint: SprintFolder) -> AsyncIterator[tuple[Link, Callable[[], object]]]:
    async with _session(desk, sprint) as (_, begin):
        await begin()
    recorded = await record(attached_link(desk, sprint))
    yield ReplayLink(recorded, name=sprint.id, speed=0.0, at_end=False), lambda: None


@contextlib.asynccontextmanager
async def _session(desk: Desk, sprint: SprintFolder) -> AsyncIterator[tuple[Session, Callable[[], object]]]:
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(desk.project, sprint, SystemClock(), options) as session:
        source = SprintSource(desk=desk, folder=sprint)
        from engine.service.running import _answer_queries

        _answer_queries(session, source)
        running: list[asyncio.Task[State]] = []

        def begin() -> asyncio.Task[State]:
            running.append(asyncio.create_task(session.run()))
            return running[0]

        yield session, begin
        for one in running:
            await one


WAYS = {"inline": inline, "socket": socket, "replay": replay}


@pytest.mark.parametrize("way", WAYS)
async def test_the_contract(tmp_path: Path, way: str) -> None:
    sprint = small.make(tmp_path / "repo")
    desk = Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))
    async with asyncio.timeout(patience(60)), WAYS[way](desk, sprint) as (link, begin):
        known = await link.snapshot()
        first = known.seq
        facts: list[ev.Envelope] = []
        words: list[str] = []
        begin()
        async for item in link.follow(0):
            match item:
                case ev.Envelope():
                    facts.append(item)
                    if isinstance(item.event, ev.RunEnded):
                        break
                case AgentOutput():
                    words.append(item.text)
                case _:
                    pass
        seqs = [one.seq for one in facts]
        assert seqs == sorted(set(seqs)) and first <= seqs[-1], "in order, each once"
        recorded = [one.seq for one in desk.events(sprint.id)]
        assert seqs == recorded, "and none left out"
        ended = fold(facts)
        assert ended.outcome == "done"
        first_words = set() if way == "socket" else {"trying"}  # the socket is there once the run is: it may be late
        assert {*first_words, "mending"} <= set(words), "the agent is heard live"
        assert (await link.snapshot()).tasks.keys() == ended.tasks.keys()

        middle = seqs[len(seqs) // 2]
        if isinstance(link, ReplayLink):  # goes on from its slider, which stands at the end now
            link.seek(next(one.at for one in facts if one.seq == middle))
            middle = (await link.snapshot()).seq
        rest: list[int] = []
        async for item in link.follow(middle):
            if isinstance(item, ev.Envelope):
                rest.append(item.seq)
                if isinstance(item.event, ev.RunEnded):
                    break
        assert rest == [seq for seq in seqs if seq > middle], "from any point on"

        for query in (GetDiff(task="9"), GetEvidence(task="9"), GetReport(task="9"), GetFile(name="../../etc/passwd")):
            answer = await link.fetch(query)
            assert isinstance(answer, Answered) and (answer.error or not answer.text), query
        for command in (Pause(by="test"), Answer(gate="G99", choice="yes", by="test"), Skip(task="9", by="test")):
            ack = await link.send(command)
            assert isinstance(ack, Ack) and not ack.ok and ack.detail, "refused in words"
        await link.close()


@pytest.mark.parametrize("way", WAYS)
async def test_closing_ends_whoever_follows(tmp_path: Path, way: str) -> None:
    sprint = small.make(tmp_path / "repo")
    desk = Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))
    async with asyncio.timeout(patience(60)), WAYS[way](desk, sprint) as (link, begin):
        begin()
        seen = asyncio.Event()

        async def follow() -> None:
            async for item in link.follow(0):
                if isinstance(item, ev.Envelope):
                    seen.set()

        following = asyncio.create_task(follow())
        await seen.wait()
        await link.close()
        if way == "inline":
            following.cancel()  # its bus ends with the session, which this process owns
        await asyncio.gather(following, return_exceptions=True)
