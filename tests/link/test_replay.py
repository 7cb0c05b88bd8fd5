"""ReplayLink: a recording is as good as an engine, except that nothing can be changed in it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from engine.core.activity import AgentOutput, OutputKind
from engine.core.commands import Pause
from engine.core.events import EffectStarted, Envelope, Noted, decode_envelope
from engine.core.fold import fold
from engine.core.model import Role
from engine.link import protocol as ct
from engine.link.recording import in_order, record
from engine.link.replay import ReplayError, ReplayLink
from tests.tui.recordings import FIXTURE, lines, sprint, upto, whole

FACTS = [item for item in sprint()[0] if isinstance(item, Envelope)]


async def gather(link: ReplayLink, after: int = 0) -> list[ct.Item]:
    found: list[ct.Item] = []
    async for item in link.follow(after):
        if isinstance(item, ct.LinkStatus) and "end of" in item.detail:
            break
        found.append(item)
    return found


async def test_snapshot_then_follow_gives_every_fact_once() -> None:
    link = whole(at_end=False)
    link.seek_item(200)
    state = await link.snapshot()
    rest = [item for item in await gather(link, state.seq) if isinstance(item, Envelope)]
    assert rest == [fact for fact in FACTS if fact.seq > state.seq]
    assert fold(rest, state) == fold(FACTS)


@pytest.mark.parametrize("position", [0, 1, 57, 200, 499, 10_000])
async def test_a_seek_gives_the_state_of_that_moment(position: int) -> None:
    link = whole()
    link.seek_item(position)
    played = [item for item in link._items[:position] if isinstance(item, Envelope)]
    assert await link.snapshot() == fold(played)


async def test_a_seek_by_time_and_back() -> None:
    link = whole()
    middle = (link.start + link.end) / 2
    link.seek(middle)
    state = await link.snapshot()
    assert state.now <= middle
    link.seek(link.end)
    assert await link.snapshot() == fold(FACTS)
    link.seek(0.0)
    assert (await link.snapshot()).seq == 0


async def test_a_seek_between_two_items_stays_there_and_playing_goes_on_from_it() -> None:
    """Else a step that is shorter than a silence would never leave it."""
    times = [fact.at for fact in FACTS]
    before, after = max(pairwise(times), key=lambda pair: pair[1] - pair[0])
    now = 0.0
    link = ReplayLink(FACTS, speed=1.0, monotonic=lambda: now)
    link.seek(before + 1.0)
    link.pause()
    assert link.now() == pytest.approx(before + 1.0, rel=0, abs=0.01) and after > before + 2.0
    now += 100.0
    assert link.now() == pytest.approx(before + 1.0, rel=0, abs=0.01), "it stands"
    link.pause(False)
    now += 0.5
    assert link.now() == pytest.approx(before + 1.5, rel=0, abs=0.01)
    assert [fact.seq for fact in link.facts(0, 10_000)] == [fact.seq for fact in FACTS], "all of it, wherever it stands"
    assert link.facts(FACTS[4].seq, 2) == FACTS[5:7]


async def test_a_recording_of_a_recording_is_the_same() -> None:
    made = await record(whole())
    assert [item for item in made if isinstance(item, Envelope)] == FACTS
    outputs = [item for item in sprint()[0] if isinstance(item, AgentOutput)]
    assert sorted((item.effect, item.at, item.text) for item in made if isinstance(item, AgentOutput)) == sorted(
        (item.effect, item.at, item.text) for item in outputs
    )
    begun: set[str] = set()
    for item in made:
        if isinstance(item, Envelope):
            begun |= {item.event.effect.id} if isinstance(item.event, EffectStarted) else set()
        else:
            assert item.effect in begun, "nobody speaks before the call has begun"


async def test_what_effects_under_way_have_said_comes_first() -> None:
    link = upto("parallel")
    early = [item for item in await gather(link) if isinstance(item, AgentOutput)]
    assert {item.task for item in early} == {"1.2", "1.3"}


async def test_playing_takes_the_recordings_time_and_can_be_paused() -> None:
    now = [0.0]
    link = ReplayLink(FACTS[:10], speed=1000.0, at_end=False, monotonic=lambda: now[0])
    link.pause()
    task = asyncio.create_task(gather(link))
    await asyncio.sleep(0.03)
    assert link.position == 0
    link.pause(False)
    for _ in range(200):
        now[0] += 0.1
        await asyncio.sleep(0.002)
        if task.done():
            break
    assert len([item for item in await task if isinstance(item, Envelope)]) == 10
    assert link.now() == FACTS[9].at


async def test_nothing_can_be_changed() -> None:
    ack = await whole().send(Pause())
    assert not ack.ok
    assert "recording" in ack.detail


async def test_queries_are_answered_from_what_it_holds() -> None:
    link = whole()
    events = await link.fetch(ct.GetEvents(after=5, limit=3))
    assert [decode_envelope(line).seq for line in events.events] == [6, 7, 8]
    evidence = await link.fetch(ct.GetEvidence(task="1.2"))
    assert [record.iteration for record in evidence.evidence] == [5, 4, 3, 2, 1]
    output = await link.fetch(ct.GetOutput(task="1.3"))
    assert output.output
    report = await link.fetch(ct.GetReport(task="1.2", iteration=3))
    assert "Iteration 3/10" in report.text
    assert "diff --git" in (await link.fetch(ct.GetDiff(task="1.2"))).text
    assert (await link.fetch(ct.GetPrompt(effect="e1"))).error
    assert (await link.fetch(ct.GetSprints())).sprints[0].id == "003-add-login"


async def test_a_file_is_played(tmp_path: Path) -> None:
    assert await ReplayLink.from_file(FIXTURE).snapshot() == fold(FACTS)


def test_a_last_line_cut_by_a_crash_is_left_out() -> None:
    link = ReplayLink.from_lines((lines()[:-40]).split(b"\n"))
    assert link.length > 400


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"hello\nworld\n", "line 1", id="no recording"),
        pytest.param(b"", "holds no event", id="empty"),
        pytest.param(lines()[:5000] + b"\n{}\n" + lines()[:300] + b"\n", "line", id="broken in the middle"),
    ],
)
def test_a_bad_file_says_where(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(ReplayError, match=words) as caught:
        ReplayLink.from_file(path)
    assert caught.value.hint


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="cannot be read"):
        ReplayLink.from_file(tmp_path / "none.jsonl")


def test_no_lines_are_an_empty_recording() -> None:
    assert ReplayLink.from_lines([]).length == 0


def test_a_recording_keeps_the_facts_in_order_when_the_clock_was_set_back() -> None:
    times = [10.0, 11.0, 5.0, 12.0]
    facts = [Envelope(seq=n, stream="s", at=at, event=Noted(text=str(n))) for n, at in enumerate(times, 1)]
    said = AgentOutput(effect="e", task="1.1", lane=0, at=10.5, kind=OutputKind.TEXT, role=Role.REVIEWER)
    assert in_order(facts, [said]) == [facts[0], said, *facts[1:]]


async def test_the_first_picture_folds_nothing_and_the_rest_is_folded_behind_it() -> None:
    """However long a recording is, its beginning is shown at once; a seek has little left to fold after a while."""
    facts = FACTS * 8
    link = ReplayLink(facts, at_end=False)
    link.pause()
    assert (await link.snapshot()).seq == 0
    assert link._folded == 0
    stream = link.follow(0)
    async for status in stream:
        assert isinstance(status, ct.LinkStatus)
        break
    waiting = asyncio.ensure_future(anext(stream))
    while link._folded < len(facts):
        await asyncio.sleep(0)
    for position in (len(facts), 1, 501, 1700, len(facts) // 2):
        assert link.state_at(position) == fold(facts[:position])
    assert len(link._states) > 3
    await link.close()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await stream.aclose()  # type: ignore[attr-defined]
