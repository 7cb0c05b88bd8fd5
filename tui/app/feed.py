"""The feed: one link, one worker, one buffer. The worker only appends; `flush` folds what came since the last frame."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from types import MappingProxyType

from engine import VERSION
from engine.core.activity import Activity, AgentOutput, AnyActivity, CheckProgress, Countdown, OutputKind
from engine.core.events import (
    ChecksFinished,
    CommandHandled,
    EffectStarted,
    Envelope,
    IterationStarted,
    Noted,
    PlanChanged,
    PolicyChanged,
    RunStarted,
    Unknown,
    decode_envelope,
)
from engine.core.fold import apply
from engine.core.model import Role
from engine.core.state import State
from engine.link.protocol import GetEvents, GetOutput, Item, Link, LinkStatus
from tui.kit.flight import Flight
from tui.kit.glyphs import UNICODE, Glyphs
from tui.kit.rows import CAPACITY
from tui.kit.stream import Stream
from tui.kit.view import CONNECTING, running_tasks

FRAME_ITEMS = 1500
"""Items folded in one frame: more would hold the keys back, the rest waits for the next frame."""
YIELD_EVERY = 250
"""Items taken before other tasks of the loop get their turn: a flood must not starve the screen."""
MOST_WAITING = 4 * FRAME_ITEMS
"""Items that may wait for a frame before the link is held back: memory stays flat however fast an agent talks."""
KEPT_EVENTS = 5000
KEPT_ROWS = 2000
"""Rows that a silent task's output keeps when room is needed; the log files have everything."""
UPGRADE = "leave with q and start devteam tui again"
HISTORY_PAGE = 500
LOOKED_BACK = 200
"""Events looked through on attaching for warnings of this run."""
RETRIES = (0.5, 1.0, 2.0, 5.0)
"""Pauses between two attempts to reach a lost engine."""


class Feed:
    """State as the interface knows it, and everything that came with it."""

    def __init__(self, link: Link, *, glyphs: Glyphs = UNICODE, flight: Flight | None = None) -> None:
        self.link = link
        self.flight = flight or Flight()
        """What every lane did when; of the time before anybody looked it is read behind the first picture."""
        self._recorded: Callable[[int, int], list[Envelope]] | None = getattr(link, "facts", None)
        """A recording knows all of its time at once: its flight is whole, wherever the slider is."""
        self._held_back: list[Envelope] | None = None
        """Facts that came while the flight's history was read."""
        self._history: asyncio.Task[None] | None = None
        self._asked: set[str] = set()
        self._grown = False
        """Something was read that no item says: a frame is due."""
        self.glyphs = glyphs
        self.state = State()
        self.status: LinkStatus = CONNECTING
        self.streams: dict[str, Stream] = {}
        self.events: deque[Envelope] = deque(maxlen=KEPT_EVENTS)
        self.notices: deque[tuple[str, str]] = deque(maxlen=50)
        """Things to announce: severity and words."""
        self.checks: MappingProxyType[str, tuple[CheckProgress, ...]] = MappingProxyType({})
        self.started: MappingProxyType[str, float] = MappingProxyType({})
        self.countdown: Countdown | None = None
        self.answers: dict[str, list[str]] = {}
        """What answerers have said so far, by effect."""
        self.taken = 0
        """Items folded so far."""
        self._pending: deque[Item] = deque()
        self._room = asyncio.Event()
        self._said = CONNECTING.status
        self._rows = 0
        self._newer = False
        self._told = 0
        """The last event whose warning was announced."""

    # ── the worker ──

    async def run(self) -> None:
        """Follow the link for ever: attach, read, and when it is lost, try again until it is back."""
        tries = 0
        while True:
            try:
                await self._attach()
                tries = 0
                await self._read()
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 the named boundary: whatever a link does, the screen stays
                self._say(
                    LinkStatus(status="lost", detail=f"the engine cannot be reached: {error}", hint="trying again")
                )
            else:
                if self._said not in ("lost", "read_only", "ended"):
                    self._say(
                        LinkStatus(status="ended", detail="the engine has ended", hint="resume with: devteam run")
                    )
                return
            await asyncio.sleep(RETRIES[min(tries, len(RETRIES) - 1)])
            tries += 1

    async def _attach(self) -> None:
        state = await self.link.snapshot()
        self._pending.clear()
        self.state = state
        self.streams, self._rows = {}, 0
        self.checks = MappingProxyType({})
        self._asked.clear()
        if self._recorded is not None:
            self._history = asyncio.create_task(self._read_recording(self._recorded))
        elif self.flight.seq < state.seq and self._held_back is None:
            self._held_back = []
            self._history = asyncio.create_task(self._read_history(state.seq))
        await self._say_again(state)
        for task in running_tasks(state)[:4] or list(state.tasks.values())[-1:]:
            past = await self.link.fetch(GetOutput(task=task.id))
            for activity in past.output:
                if activity.effect not in state.inflight:  # those are told again from their start by `follow`
                    self._activity(activity)

    async def _read_recording(self, facts: Callable[[int, int], list[Envelope]]) -> None:
        """The flight of all of a recording, behind the first picture; a feed that follows goes on where this ends."""
        while page := facts(self.flight.seq, HISTORY_PAGE):
            for envelope in page:
                self.flight.take(envelope)
            self._grown = True
            await asyncio.sleep(0)

    async def _read_history(self, upto: int) -> None:
        """The flight so far, page by page; what happens meanwhile is held back so that the order stays."""
        try:
            while self.flight.seq < upto:
                before = self.flight.seq
                answer = await self.link.fetch(GetEvents(after=before, limit=HISTORY_PAGE))
                for line in answer.events:
                    self.flight.take(decode_envelope(line))
                if self.flight.seq == before:
                    break
                self._grown = True  # a frame shows what is known already
                await asyncio.sleep(0)
        except Exception as error:  # noqa: BLE001 the named boundary: a strip without its beginning is still a strip
            self.notices.append(("warning", f"the beginning of the run cannot be read: {error}"))
        finally:
            held, self._held_back = self._held_back or [], None
            for envelope in held:
                self.flight.take(envelope)

    def missing_output(self, tasks: Iterable[str]) -> list[str]:
        """Those of the tasks whose output has not been asked for."""
        known = self.state.tasks
        return [
            task
            for task in tasks
            if task
            and task not in self.streams
            and task not in self._asked
            and task in known
            and known[task].started_at
        ]

    async def load_output(self, task: str) -> None:
        """What a task's agents said before anybody looked; the call under way is told by the link itself."""
        self._asked.add(task)
        try:
            past = await self.link.fetch(GetOutput(task=task))
        except Exception as error:  # noqa: BLE001 the named boundary: told, not thrown
            self.notices.append(("warning", f"the output of T{task} cannot be read: {error}"))
            return
        if task in self.streams:
            return
        for activity in past.output:
            if activity.effect not in self.state.inflight:
                self._activity(activity)
        self._grown = True

    async def _say_again(self, state: State) -> None:
        """Warnings of this run from before anybody looked, once: a restored journal is news to who comes later."""
        if not state.running:
            return
        answer = await self.link.fetch(GetEvents(after=max(self._told, state.seq - LOOKED_BACK), limit=LOOKED_BACK))
        for envelope in map(decode_envelope, answer.events):
            if isinstance(envelope.event, Noted) and envelope.at >= state.run_started_at - 10.0:
                self._note(envelope)
        self._told = state.seq

    async def _read(self) -> None:
        since = 0
        async for item in self.link.follow(self.state.seq):
            self._pending.append(item)
            if isinstance(item, LinkStatus):
                self._said = item.status
            since += 1
            if since >= YIELD_EVERY:
                since = 0
                await asyncio.sleep(0)
                if len(self._pending) > MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()

    def _say(self, status: LinkStatus) -> None:
        self._said = status.status
        self._pending.append(status)

    # ── the frame ──

    @property
    def waiting(self) -> int:
        return len(self._pending)

    def flush(self, limit: int = FRAME_ITEMS) -> bool:
        """Fold what has come; true if anything has."""
        pending, grown = self._pending, self._grown
        self._grown = False
        if not pending:
            return grown
        for _ in range(min(limit, len(pending))):
            self.take(pending.popleft())
        if len(pending) <= MOST_WAITING:
            self._room.set()
        return True

    def take(self, item: Item) -> None:
        """Fold one item."""
        self.taken += 1
        match item:
            case Envelope():
                self._envelope(item)
            case LinkStatus():
                self.status = item
            case Activity():
                self._activity(item)

    def _make_room(self, keep: Stream) -> None:
        """All streams together stay within one capacity: the ones that are silent longest give up their beginnings."""
        over = sum(len(stream.rows) for stream in self.streams.values()) - CAPACITY
        for stream in list(self.streams.values()):
            if over > 0 and stream is not keep:
                over -= stream.rows.shorten(min(over, len(stream.rows) - KEPT_ROWS))
        if over > 0:
            keep.rows.shorten(over)
        self._rows = sum(len(stream.rows) for stream in self.streams.values())

    def _envelope(self, envelope: Envelope) -> None:
        if envelope.seq <= self.state.seq:
            return
        again = bool(self.state.run_started_at)
        self.state = apply(self.state, envelope)
        self.events.append(envelope)
        if self._held_back is not None:
            self._held_back.append(envelope)
        elif self._recorded is None:
            self.flight.take(envelope)
        match envelope.event:
            case EffectStarted(effect=effect):
                self.started = MappingProxyType(
                    {
                        **{key: at for key, at in self.started.items() if key in self.state.inflight},
                        effect.id: envelope.at,
                    }
                )
            case RunStarted(version=version):
                self._run_started(version, again)
            case Unknown() if not self._newer:
                self._newer = True
                self.notices.append(("warning", f"the engine is newer than this dashboard; {UPGRADE}"))
            case ChecksFinished(task=task) | IterationStarted(task=task):
                self.checks = MappingProxyType({key: value for key, value in self.checks.items() if key != task})
            case PlanChanged(summary=summary):
                self.notices.append(("information", f"plan.md was edited: {summary or 'tasks changed'}"))
            case PolicyChanged(summary=summary):
                self.notices.append(("information", f"the config was edited: {summary or 'settings changed'}"))
            case Noted():
                self._note(envelope)
            case CommandHandled(ok=False, detail=detail, name=name):
                self.notices.append(("warning", f"{name} was refused: {detail}"))
            case _:
                pass

    def _run_started(self, version: str, again: bool) -> None:
        if self.status.status != "connected":  # a recording
            return
        if version != VERSION:
            self.notices.append(("warning", f"the engine is devteam {version}, this dashboard {VERSION}; {UPGRADE}"))
        elif again:
            self.notices.append(("information", "the engine is running again"))

    def _note(self, envelope: Envelope) -> None:
        self._told = max(self._told, envelope.seq)
        match envelope.event:
            case Noted(text=text, level=level, hint=hint) if level != "info":
                severity = "error" if level == "error" else "warning"
                self.notices.append((severity, f"{text} — {hint}" if hint else text))
            case _:
                pass

    def _activity(self, activity: AnyActivity | Activity) -> None:
        match activity:
            case AgentOutput():
                stream = self.streams.get(activity.task)
                if stream is None:
                    stream = self.streams[activity.task] = Stream()
                before = len(stream.rows)
                stream.add(activity, self.glyphs)
                self._rows += len(stream.rows) - before
                if self._rows > CAPACITY:
                    self._make_room(stream)
                if activity.role is Role.ANSWERER and activity.kind is OutputKind.TEXT:
                    self.answers.setdefault(activity.effect, []).append(activity.text)
            case CheckProgress():
                known = {progress.check: progress for progress in self.checks.get(activity.task, ())}
                known[activity.check] = activity
                self.checks = MappingProxyType({**self.checks, activity.task: tuple(known.values())})
            case Countdown():
                self.countdown = activity
            case _:
                pass
