"""The feed and the app over a link that fails, floods or comes back: nothing is lost, everything is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from engine import VERSION
from engine.core import events as ev
from engine.core.activity import AgentOutput, OutputKind
from engine.core.commands import Ack
from engine.core.fold import fold
from engine.core.model import Role
from engine.core.state import State
from engine.link.protocol import Answered, AnyQuery, Item, LinkStatus
from tests.tui.driving import app_on, press, running, settle
from tests.tui.links import LiveLink, live
from tests.tui.recordings import sprint
from tui.app import feed as feed_module
from tui.app.attention import Attention, title_of
from tui.app.feed import FRAME_ITEMS, Feed
from tui.kit.view import View
from tui.panels.header import notice_line

FACTS = [item for item in sprint()[0] if isinstance(item, ev.Envelope)]
STARTED = next(fact.event for fact in FACTS if isinstance(fact.event, ev.RunStarted))


class Shaky:
    """Breaks after a few items, twice; then goes on to the end."""

    def __init__(self) -> None:
        self.attached = 0

    async def snapshot(self) -> State:
        self.attached += 1
        return fold(FACTS[: 20 * (self.attached - 1)])

    async def follow(self, after: int) -> AsyncIterator[Item]:
        yield LinkStatus(status="connected")
        for fact in FACTS:
            if fact.seq > after:
                yield fact
                if self.attached < 3 and fact.seq == after + 10:
                    raise ConnectionError("gone")

    async def send(self, command: object) -> Ack:
        raise ConnectionError("gone")

    async def fetch(self, query: AnyQuery) -> Answered:
        return Answered()

    async def close(self) -> None:
        return None


async def test_a_lost_link_is_said_and_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "RETRIES", (0.03,))
    link = Shaky()
    feed = Feed(link)  # type: ignore[arg-type]
    said: list[str] = []
    task = asyncio.create_task(feed.run())
    for _ in range(300):
        await asyncio.sleep(0.002)
        feed.flush()
        if not said or said[-1] != feed.status.status:
            said.append(feed.status.status)
        if feed.state.seq == FACTS[-1].seq:
            break
    task.cancel()
    assert feed.state == fold(FACTS)
    assert link.attached == 3
    assert "lost" in said


async def test_a_flood_is_taken_in_frames_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "MOST_WAITING", 1000)
    outputs = [
        AgentOutput(effect="e", task="1.1", kind=OutputKind.TEXT, role=Role.IMPLEMENTER, text=str(number))
        for number in range(10_000)
    ]

    class Flood(Shaky):
        async def follow(self, after: int) -> AsyncIterator[Item]:
            for output in outputs:
                yield output
            await asyncio.sleep(60)

    feed = Feed(Flood())  # type: ignore[arg-type]
    task = asyncio.create_task(feed.run())
    most = 0
    while feed.taken < len(outputs):
        for _ in range(200):  # a screen that is slow to draw: the link runs, no frame comes
            await asyncio.sleep(0)
        most = max(most, feed.waiting)
        feed.flush(FRAME_ITEMS)
    task.cancel()
    assert most <= 1000 + 2 * feed_module.YIELD_EVERY
    assert [row.text for row in list(feed.streams["1.1"].rows)[-3:]] == ["9997", "9998", "9999"]


async def test_a_hidden_panel_draws_nothing() -> None:
    async with running("parallel", size=(80, 24)) as (app, pilot, link):
        hidden = app.screen.query_one("#ladder")
        drawn: list[int] = []
        hidden.draw = lambda *args: drawn.append(1) or []  # type: ignore[method-assign]
        link.more(ev.Noted(text="x"))
        await settle(pilot)
        assert drawn == []
        await press(pilot, "4")
        assert drawn


async def test_a_warning_from_before_is_told_to_who_comes_later_and_once() -> None:
    items = list(live("parallel")._items)
    last = max(item.seq for item in items if isinstance(item, ev.Envelope))
    at = items[-1].at
    note = ev.Noted(text="The journal was damaged: 277 events are restored", level="warning")
    link = LiveLink([*items, ev.Envelope(seq=last + 1, stream="s", at=at, event=note)], at_end=True)
    feed = Feed(link)
    await feed._attach()
    assert list(feed.notices) == [("warning", note.text)]
    await feed._attach()
    assert len(feed.notices) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        pytest.param(LinkStatus(status="lost", detail="the engine died", hint="devteam run"), "devteam run", id="lost"),
        pytest.param(
            LinkStatus(status="lost", detail="journal is damaged at 12", hint="devteam doctor"), "damaged", id="corrupt"
        ),
        pytest.param(LinkStatus(status="ended", detail="no engine is running"), "no engine", id="ended"),
    ],
)
def test_the_link_is_put_in_words(status: LinkStatus, words: str) -> None:
    state = fold(FACTS[:60])
    line = notice_line(View(state=state, now=state.now, link=status), 120)
    assert words in "".join(text for text, _ in line)


ANNOUNCED: list[tuple[ev.AnyEvent | ev.Unknown, str]] = [
    (replace(STARTED, version="9.0"), "the engine is devteam 9.0, this dashboard"),
    (ev.Unknown(type="from_the_future", raw={}), "newer than this dashboard"),
    (replace(STARTED, version=VERSION), "the engine is running again"),
]


async def test_what_happens_to_the_engine_is_told() -> None:
    """Edits, another engine, one that knows more than we do, one that is lost and comes back, a command that fails."""
    async with running("parallel") as (app, pilot, link):

        def told(words: str) -> bool:
            return any(words in note.message for note in app._notifications)

        link.more(
            ev.PlanChanged(plan=app.feed.state.plan, summary="2.4 added"),
            ev.PolicyChanged(policy=app.feed.state.policy, summary="lanes 3"),
        )
        await settle(pilot)
        assert told("plan.md was edited") and told("2.4 added") and told("lanes 3")
        for event, words in ANNOUNCED:
            app.clear_notifications()
            link.more(event, event)
            await settle(pilot)
            assert told(words)
            assert app.screen.NAME == "dashboard"
        header = app.screen.query_one("#header")
        for status, rows in (("lost", 3), ("connected", 2)):
            app.feed._pending.append(LinkStatus(status=status, detail="gone"))  # type: ignore[arg-type]
            await settle(pilot)
            assert len(header.lines) == rows

        async def gone(command: object) -> Ack:
            raise ConnectionError("pipe closed")

        link.send = gone  # type: ignore[method-assign]
        await press(pilot, "space")
        assert told("cannot be reached")


async def test_a_sprint_that_appears_ends_the_welcome() -> None:
    from tests.tui.links import LiveLink

    link = LiveLink([])
    link.sent = []
    app = app_on(link)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert app.screen.NAME == "welcome"
        link.more(FACTS[0].event, FACTS[1].event)
        await settle(pilot)
        await settle(pilot)
        assert app.screen.NAME == "dashboard"


async def test_resizing_live() -> None:
    async with running("fix_gate", size=(240, 60)) as (app, pilot, _link):
        for width, height in ((80, 24), (50, 10), (120, 40), (60, 16), (200, 50)):
            await pilot.resize_terminal(width, height)
            await settle(pilot)
            assert app.size == (width, height)
            assert app.screen.query_one("#too-small").display == (width < 60 or height < 16)


def test_bell_once_for_each_new_thing() -> None:
    bell = Attention(bell=True)
    state = fold(FACTS[:60])
    quiet = View(state=state, now=state.now, link=LinkStatus(status="connected"))
    assert not bell.needed(quiet, 0)
    assert bell.needed(quiet, 1)
    lost = View(state=state, now=state.now, link=LinkStatus(status="lost"))
    assert bell.needed(lost, 0)
    assert not bell.needed(lost, 0)
    ended = View(state=fold(FACTS), link=LinkStatus(status="connected"))
    assert bell.needed(ended, 0)
    assert not bell.needed(ended, 0)


def test_no_bell_for_what_is_past() -> None:
    opened = Attention(bell=True)
    assert not opened.needed(View(), 0)
    assert not opened.needed(View(state=fold(FACTS), link=LinkStatus(status="connected")), 0), "it had ended before"
    replay = View(state=fold(FACTS[:60]), link=LinkStatus(status="read_only"), replaying=True)
    assert not opened.needed(replay, 1)
    assert title_of(replay) == "replay · devteam 003-add-login"


def test_the_title_names_the_gates_first() -> None:
    items, marks = sprint()
    state = fold(item for item in items[: marks["queue"]] if isinstance(item, ev.Envelope))
    assert title_of(View(state=state)) == "3 gates waiting · devteam 003-add-login"
