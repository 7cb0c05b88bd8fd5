"""ReplayLink: a recording behind the same door as an engine. Plays at any speed, pauses, seeks; changes nothing."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import assert_never

from engine.closing_summary import summary
from engine.core.activity import AnyActivity
from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope, encode_envelope
from engine.core.fold import apply, fold
from engine.core.state import State
from engine.core.statistics import of_sprint as of_events
from engine.core.status_words import of_sprint
from engine.link.codec import CodecError, Recorded, decode_item
from engine.link.protocol import (
    Answered,
    AnyQuery,
    GetDiff,
    GetEvents,
    GetEvidence,
    GetFile,
    GetLearnings,
    GetOutput,
    GetPrompt,
    GetReport,
    GetSprints,
    GetStatistics,
    Item,
    LinkStatus,
    SprintLine,
)
from engine.link.recorded_facts import evidence, outputs, rising
from engine.link.user_errors import UserError

LONGEST_GAP = 3.0
"""Seconds of silence that are played; a night's wait for a limit is not watched twice."""
CHECKPOINT = 500
"""Items between two kept states, so that a seek folds few events however long the run was."""
SLICE = 50
"""Envelopes folded at a time behind the screen: some milliseconds."""
PAUSE = 0.002
"""Seconds left to the screen between two slices."""
FIRST_PICTURE = 0.5
"""Seconds left to the screen for its first picture before that begins."""
REFUSAL = "this is a recording: nothing can be changed in it"


class ReplayError(UserError):
    """A recording that cannot be played; says where it is wrong and what to do."""


class ReplayLink:
    """Plays facts and activities. `speed` 1 is real time, 0 as fast as they can be taken."""

    def __init__(
        self,
        items: Iterable[Envelope | AnyActivity | Recorded],
        *,
        speed: float = 0.0,
        name: str = "",
        at_end: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.speed = speed
        self.paused = False
        self._items: list[Envelope | AnyActivity] = []
        self._answers: list[Recorded] = []
        for item in items:
            if isinstance(item, Recorded):
                self._answers.append(item)
            else:
                self._items.append(item)
        self._times = rising([item.at for item in self._items])
        self._states: list[tuple[int, State]] = [(0, State())]
        """Kept states, as far as it was folded: a picture of the beginning waits for nothing."""
        self._latest = State()
        self._facts: list[Envelope] | None = None
        self._folded = 0
        self._at = len(self._items) if at_end else 0
        self._beyond = 0.0
        """Seconds after the last item that was played, where a seek went between two."""
        self._monotonic = monotonic
        self._since = monotonic()
        self._moved = asyncio.Event()
        self._closed = False

    # ── the clock and the slider ──

    @property
    def position(self) -> int:
        """Items played so far."""
        return self._at

    @property
    def length(self) -> int:
        return len(self._items)

    @property
    def start(self) -> float:
        return self._times[0] if self._times else 0.0

    @property
    def end(self) -> float:
        return self._times[-1] if self._times else 0.0

    def facts(self, after: int, limit: int) -> list[Envelope]:
        """Facts of the whole recording, wherever the slider is: for a picture of all of its time."""
        if self._facts is None:
            self._facts = [item for item in self._items if isinstance(item, Envelope)]
        first = bisect_right(self._facts, after, key=lambda fact: fact.seq)
        return self._facts[first : first + limit]

    def now(self) -> float:
        """The recording's own time: what the screen's clocks show."""
        if not self._times:
            return 0.0
        here = self._times[max(0, self._at - 1)] + self._beyond
        if self.paused or self.speed <= 0 or self._at >= len(self._items):
            return here
        return min(here + (self._monotonic() - self._since) * self.speed, self._times[self._at])

    def seek(self, at: float) -> None:
        """Go to a time, also to one at which nothing happened. Who follows takes a new snapshot then."""
        self.seek_item(bisect_right(self._times, at))
        if 0 < self._at < len(self._items):
            self._beyond = max(0.0, at - self._times[self._at - 1])

    def seek_item(self, position: int) -> None:
        self._at = max(0, min(len(self._items), position))
        self._beyond = 0.0
        self._touch()

    def pause(self, paused: bool = True) -> None:
        self.paused = paused
        self._touch()

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self._touch()

    def _touch(self) -> None:
        self._since = self._monotonic()
        self._moved.set()

    # ── the link ──

    async def snapshot(self) -> State:
        while (wanted := self._at) > self._folded:
            self._fold_to(min(wanted, self._folded + SLICE))
            await asyncio.sleep(0)
        return self.state_at(self._at)

    def state_at(self, position: int) -> State:
        """State after so many items, from the nearest kept one."""
        self._fold_to(position)
        if position == self._folded:
            return self._latest
        kept, state = self._states[bisect_right(self._states, position, key=lambda entry: entry[0]) - 1]
        return fold((item for item in self._items[kept:position] if isinstance(item, Envelope)), state)

    def _fold_to(self, position: int) -> None:
        """Fold on from where it was left, keeping a state now and then."""
        for index in range(self._folded, position):
            item = self._items[index]
            if isinstance(item, Envelope):
                self._latest = apply(self._latest, item)
            self._folded = index + 1
            if self._folded - self._states[-1][0] >= CHECKPOINT:
                self._states.append((self._folded, self._latest))

    async def _fold_behind(self) -> None:
        """The rest of the recording while it is watched, so that a seek has little left to do."""
        await asyncio.sleep(FIRST_PICTURE)
        while self._folded < len(self._items):
            self._fold_to(min(len(self._items), self._folded + SLICE))
            await asyncio.sleep(PAUSE)

    async def follow(self, after: int) -> AsyncIterator[Item]:
        """What comes after the slider; first, like every link, what the effects under way have said already."""
        yield LinkStatus(status="read_only", detail="a recording" + (f": {self.name}" if self.name else ""))
        under_way = self.state_at(self._at).inflight
        for item in self._items[: self._at]:
            if not isinstance(item, Envelope) and item.effect in under_way:
                yield item
        behind = asyncio.ensure_future(self._fold_behind())
        try:
            async for played in self._played():
                yield played
        finally:
            behind.cancel()

    async def _played(self) -> AsyncIterator[Item]:
        said_end = False
        while not self._closed:
            self._moved.clear()
            if self._at >= len(self._items):
                if not said_end:
                    said_end = True
                    yield LinkStatus(status="read_only", detail="end of the recording")
                await self._moved.wait()
                continue
            said_end = False
            if not await self._due():
                continue
            item = self._items[self._at]
            self._at += 1
            self._beyond = 0.0
            self._since = self._monotonic()
            yield item

    async def _due(self) -> bool:
        """Wait for the next item's time; false if the slider moved meanwhile."""
        if self.paused:
            await self._moved.wait()
            return False
        if self.speed <= 0 or self._at == 0:
            return True
        gap = min(self._times[self._at] - self._times[self._at - 1] - self._beyond, LONGEST_GAP) / self.speed
        left = gap - (self._monotonic() - self._since)
        if left <= 0:
            return True
        try:
            await asyncio.wait_for(self._moved.wait(), left)
        except TimeoutError:
            return True
        return False

    async def send(self, command: AnyCommand) -> Ack:
        return Ack(ok=False, detail=REFUSAL)

    async def fetch(self, query: AnyQuery) -> Answered:
        for recorded in reversed(self._answers):
            if recorded.query == query:
                return recorded.answer
        played = self._items[: self._at]
        match query:
            case GetEvents():
                facts = [item for item in played if isinstance(item, Envelope) and item.seq > query.after]
                return Answered(events=tuple(encode_envelope(item) for item in facts[: query.limit]))
            case GetOutput():
                return Answered(output=tuple(outputs(played, query)))
            case GetEvidence():
                return Answered(evidence=tuple(evidence(played, query.task)))
            case GetReport():
                return self._report(query, [item for item in played if isinstance(item, Envelope)])
            case GetSprints():
                state = self.state_at(self._at)
                done, total = state.progress()
                status = of_sprint(state)
                title = state.plan.title if state.plan else ""
                line = SprintLine(
                    id=state.sprint,
                    title=title,
                    status=status,
                    done=done,
                    total=total,
                    spent_usd=state.spent_usd,
                    at=state.now,
                )
                return Answered(sprints=(line,))
            case GetStatistics():
                return Answered(statistics=(of_events(item for item in played if isinstance(item, Envelope)),))
            case GetDiff() | GetPrompt() | GetFile() | GetLearnings():
                return Answered(error="the recording does not hold this")
            case _:
                assert_never(query)

    def _report(self, query: GetReport, facts: list[Envelope]) -> Answered:
        from engine import report

        state = self.state_at(self._at)
        if not query.task:
            return Answered(text=summary(state))
        if query.iteration:
            found = list(report.iterations(facts, query.task, query.iteration))
            return Answered(text=found[-1]) if found else Answered(error=f"no iteration {query.iteration} yet")
        task = state.tasks.get(query.task)
        return (
            Answered(text=report.completion(state, task)) if task else Answered(error=f"there is no task {query.task}")
        )

    async def close(self) -> None:
        self._closed = True
        self._moved.set()

    # ── files ──

    @classmethod
    def from_lines(
        cls, lines: Iterable[bytes], *, name: str = "", speed: float = 0.0, at_end: bool = True
    ) -> ReplayLink:
        """A recording from its lines; blank ones are passed over. A last line cut short by a crash is left out."""
        items: list[Envelope | AnyActivity | Recorded] = []
        broken: tuple[int, CodecError] | None = None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if broken is not None:
                raise ReplayError(
                    f"{name or 'recording'}, line {broken[0]}: {broken[1]}", "remove the line and try again"
                )
            try:
                item = decode_item(line)
            except CodecError as error:
                broken = (number, error)
                continue
            if not isinstance(item, LinkStatus):
                items.append(item)
        if not items and broken is not None:
            raise ReplayError(f"{name or 'recording'}, line {broken[0]}: {broken[1]}", "name a .jsonl file of devteam")
        return cls(items, name=name, speed=speed, at_end=at_end)

    @classmethod
    def from_file(cls, path: Path, *, speed: float = 0.0, at_end: bool = True) -> ReplayLink:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ReplayError(f"{path} cannot be read: {error.strerror}", "name a .jsonl file or a sprint") from error
        link = cls.from_lines(data.split(b"\n"), name=path.name, speed=speed, at_end=at_end)
        if not link.length:
            raise ReplayError(f"{path} holds no event", "record one with: devteam run --json > run.jsonl")
        return link
