"""Running a sprint in this process, with or without somebody who watches: the heavy door."""

from __future__ import annotations

import asyncio
import contextlib
import math
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path

import msgspec

from engine import demo
from engine.bus import Subscription
from engine.clock import SystemClock
from engine.core.activity import Countdown
from engine.core.commands import Ack, Stop
from engine.core.events import Envelope, GateAnswered
from engine.core.state import State
from engine.demo import as_scripted, prepare, scenario_of
from engine.link.inline import InlineLink
from engine.link.protocol import Answered, AnyQuery
from engine.link.user_errors import as_user_error
from engine.perform.agents.scripted import Scenario
from engine.plans.sprints import SprintFolder
from engine.run_options import Boundary, Observer
from engine.runner import JOURNAL_HOLD
from engine.service.links import SprintSource
from engine.service.local import Desk, open_desk
from engine.session import Session
from engine.session_options import Options

__all__ = [
    "Options",
    "Session",
    "Subscription",
    "as_scripted",
    "demo_attended",
    "inline",
    "outliving_the_terminal",
    "prepare",
    "run",
    "run_demo",
    "scenario_of",
]

OnEvent = Callable[[Envelope, State], None]
Attend = Callable[[Session], Coroutine[None, None, None]]


@contextlib.asynccontextmanager
async def inline(desk: Desk, sprint: SprintFolder, options: Options) -> AsyncIterator[tuple[Session, InlineLink]]:
    """A session and the link to it; the caller runs the session."""
    async with Session.open(desk.project, sprint, SystemClock(), options) as session:
        source = SprintSource(desk=desk, folder=sprint)
        _answer_queries(session, source)
        yield session, InlineLink(session, source)


async def run(
    desk: Desk,
    sprint: SprintFolder,
    options: Options,
    on_event: OnEvent,
    attend: Attend | None = None,
    boundary: Boundary = lambda _where, _effect: None,
    on_hold: Callable[[str], None] = lambda _words: None,
) -> State:
    """Run a sprint. Ctrl-C and SIGTERM stop it so that it can be taken up again; SIGHUP is ignored.

    `on_hold` is told why nothing can be recorded, which is the one thing that no event can say."""
    async with Session.open(desk.project, sprint, SystemClock(), options, boundary) as session:
        _answer_queries(session, SprintSource(desk=desk, folder=sprint))
        for envelope in desk.events(sprint.id, session.opened_at):
            on_event(envelope, session.state)  # what was said while it opened: a new sprint, an edited plan
        session.watch(_each(on_event))
        beside = [asyncio.create_task(_tell_holds(session, on_hold))]
        beside += [asyncio.create_task(attend(session))] if attend is not None else []
        try:
            with _signals(session):
                return await session.run()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)


async def _tell_holds(session: Session, on_hold: Callable[[str], None]) -> None:
    """Each reason once."""
    told = ""
    async for message in session.bus.subscribe():
        if isinstance(message, Countdown) and message.effect == JOURNAL_HOLD and message.reason != told:
            told = message.reason
            on_hold(told)


def _answer_queries(session: Session, source: SprintSource) -> None:
    """Viewers in other processes ask as those in this one do."""
    reader = msgspec.json.Decoder(AnyQuery)

    def answer(raw: bytes) -> bytes:
        try:
            found = source.answer(reader.decode(raw), session.state)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            found = Answered(error=f"not a query: {error}")
        except Exception as error:  # noqa: BLE001  boundary: a query that fails is the viewer's news, not our end
            told = as_user_error(error)
            found = Answered(error=str(told or f"{type(error).__name__}: {error}"))
        return msgspec.json.encode(found)

    session.answering = answer


def _each(on_event: OnEvent) -> Observer:
    def observe(envelopes: Sequence[Envelope], state: State) -> None:
        for envelope in envelopes:
            on_event(envelope, state)

    return observe


@contextlib.contextmanager
def _signals(session: Session) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    pending: set[asyncio.Task[Ack]] = set()

    def stop() -> None:
        pending.add(loop.create_task(session.send(Stop(now=True, by="signal"))))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        with outliving_the_terminal():
            yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def outliving_the_terminal() -> Iterator[None]:
    """SIGHUP is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@contextlib.asynccontextmanager
async def demo_attended(
    session: Session, scenario: Scenario, patience: float, quiet: Callable[[], float] = lambda: math.inf
) -> AsyncIterator[asyncio.Event]:
    """Gates that nobody answers in time are answered by the scenario. The event is set once a human answered one."""
    human = asyncio.Event()

    def hear(envelopes: Sequence[Envelope], _state: State) -> None:
        if any(isinstance(one.event, GateAnswered) and one.event.by != demo.BY for one in envelopes):
            human.set()

    session.watch(hear)
    attendant = asyncio.create_task(demo.attend(session, session.bus.subscribe(), scenario, patience, quiet))
    try:
        yield human
    finally:
        attendant.cancel()
        await asyncio.gather(attendant, return_exceptions=True)


async def run_demo(
    folder: Path,
    desk_env: dict[str, str],
    home: Path,
    options: Options,
    today: str,
    on_event: OnEvent,
    boundary: Boundary = lambda _where, _effect: None,
) -> tuple[State, list[str]]:
    """The demo, its gates answered by the scenario. Gives the final state and what did not end as scripted."""
    sprint = prepare(folder, today)
    scenario = scenario_of(folder)
    desk = open_desk(folder, desk_env, home)

    async def attend(session: Session) -> None:
        await demo.attend(session, session.bus.subscribe(), scenario)

    state = await run(desk, sprint, options, on_event, attend, boundary)
    return state, as_scripted(state, scenario)
