"""journal ⇄ decide ⇄ perform: load, decide, perform one effect per free lane, append the facts, again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from engine.bus import Bus
from engine.clock import Clock
from engine.core import events as ev
from engine.core.activity import Countdown
from engine.core.commands import Ack, AnyCommand, Stop
from engine.core.decide import Decisions, decide
from engine.core.effects import AnyEffect, Commit, Finish, Wait
from engine.core.fold import apply
from engine.core.model import MachineFault
from engine.core.orders import obey
from engine.core.state import State
from engine.journal import Journal
from engine.journal.journal_errors import JournalBroken, JournalError, JournalFull, JournalReadOnly
from engine.perform.process.spawning import PerformError
from engine.run_options import Boundary, Observer, Performer, RunOptions

SNAPSHOT_EVERY = 2000
JOURNAL_HOLD = "journal"
"""The wait of a run that cannot record anything."""
LONGEST_HOLD = 30.0
"""Seconds between two tries to write to a journal whose disk is full or fails."""
LOOKED_AT = 1.0
"""Seconds after which such a wait has seen that somebody wants to stop."""

Recorded = TypeVar("Recorded")


class Runner:
    """One run of one sprint. Lives on one event loop; every append is durable before anything follows from it."""

    def __init__(
        self,
        *,
        journal: Journal,
        stream: str,
        state: State,
        performer: Performer,
        clock: Clock,
        bus: Bus,
        fingerprint: str = "",
        observers: Sequence[Observer] = (),
        boundary: Boundary = lambda _where, _effect: None,
        outside: Callable[[], Sequence[ev.AnyEvent]] = tuple,
        on_bug: Callable[[AnyEffect, Exception], None] = lambda _effect, _error: None,
    ) -> None:
        """`outside` says what the user changed in the plan or the configuration since it was last asked.

        `on_bug` is told what the boundary around a performer caught."""
        self._on_bug = on_bug
        self._journal = journal
        self._stream = stream
        self.state = state
        self._performer = performer
        self._clock = clock
        self._bus = bus
        self._fingerprint = fingerprint
        self._observers = list(observers)
        self._boundary = boundary
        self._outside = outside
        self._tasks: dict[str, asyncio.Task[list[ev.AnyEvent]]] = {}
        self._woken = asyncio.Event()
        self._inbox: list[tuple[AnyCommand, asyncio.Future[Ack]]] = []
        self._stop_asked = False
        self._snapshot_at = state.seq
        self._told: list[ev.AnyEvent] = []

    async def run(self, options: RunOptions, found: Sequence[ev.AnyEvent] = ()) -> State:
        """To the end of the run. From whatever point it ends at, the journal can be taken up again.

        `found`: what is on the branch and in the logs and was not in the journal, or the other way round."""
        self._take_up(options, found)
        try:
            while self.state.running:
                landed = [*self._told, *self._landed()]
                self._told = []
                if self._inbox:
                    await self._recorded(partial(self.append, *landed))
                    landed = []
                    await self._obey()
                self._end_what_is_unwanted()
                if not await self._recorded(partial(self._step, landed)):
                    await self._woken.wait()
                    self._woken.clear()
        finally:
            await self._end_all()
        self._save_snapshot()
        return self.state

    async def send(self, command: AnyCommand) -> Ack:
        """A human's command; answered once its events are in the journal."""
        return await self.put(command)

    def put(self, command: AnyCommand) -> asyncio.Future[Ack]:
        """A command to be obeyed before anything else is decided; the answer comes later."""
        answer: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        self._inbox.append((command, answer))
        self._stop_asked = self._stop_asked or isinstance(command, Stop)
        self._woken.set()
        return answer

    def watch(self, observer: Observer) -> None:
        self._observers.append(observer)

    def tell(self, *events: ev.AnyEvent) -> None:
        """Facts from outside the loop; it records them and looks again at what is to be done."""
        self._told += events
        self._woken.set()

    def append(self, *events: ev.AnyEvent) -> None:
        """Record facts, fold them, tell everybody."""
        if not events:
            return
        known = self._journal.recovery
        envelopes = self._journal.append(self._stream, events)
        if self._journal.recovery is not known and self._journal.recovery is not None:  # its file was gone
            self.tell(ev.Noted(text=self._journal.recovery.words(), level="warning"))
        for envelope in envelopes:
            self.state = apply(self.state, envelope)
            self._bus.publish(envelope)
        for observer in self._observers:
            observer(envelopes, self.state)
        if self.state.seq - self._snapshot_at >= SNAPSHOT_EVERY:
            self._save_snapshot()

    # ── the loop ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _take_up(self, options: RunOptions, found: Sequence[ev.AnyEvent]) -> None:
        """Whatever the run before had under way is over: it is said so, and decided on anew."""
        lost = [ev.EffectInterrupted(id=effect, reason="the engine ended") for effect in self.state.inflight]
        started = ev.RunStarted(
            run=options.run,
            pid=options.pid,
            policy=options.policy,
            attended=options.attended,
            waits=options.waits,
            sandbox=options.sandbox,
            version=options.version,
            utc_offset=options.utc_offset,
            max_iterations=options.max_iterations,
            day_spent_usd=options.day_spent_usd,
            recent_calls=options.recent_calls,
            measured=options.measured,
            config_hash=options.config_hash,
            checks=options.checks,
            until=options.until,
            history=options.history,
            disputed=options.disputed,
            boot=options.boot,
            booted_at=options.booted_at,
            last_at=options.last_sign or self.state.now,
        )
        self.append(*lost, started, *found)

    def _step(self, landed: Sequence[ev.AnyEvent]) -> bool:
        """Record what landed, what is decided on it and what is to be done, in one transaction; then start that.

        False when there is nothing but to wait.
        """
        events = list(landed)
        thought = self._imagined(self.state, events)
        while True:
            decisions = decide(thought)
            if _commits_to_the_plan(decisions):
                # What the user changed is kept until it is recorded, and decided on in the next step.
                self._told += self._outside()
                if self._told:
                    self.append(*events)
                    return True
            if not decisions.events:
                break
            events += decisions.events
            thought = self._imagined(thought, decisions.events)
        events += [ev.EffectStarted(effect=effect) for effect in decisions.effects]
        over = next((effect for effect in decisions.effects if isinstance(effect, Finish)), None)
        if over is not None:
            events.append(ev.RunEnded(run=self.state.run, outcome=over.outcome, reason=over.reason))
        self.append(*events)
        if over is None:
            for effect in decisions.effects:
                self._start(effect)
        return bool(events)

    def _imagined(self, state: State, events: Sequence[ev.AnyEvent]) -> State:
        """The state as it will be once these events are recorded."""
        now = self._clock.now()
        for event in events:
            state = apply(state, ev.Envelope(seq=state.seq + 1, stream=self._stream, at=now, event=event))
        return state

    def _start(self, effect: AnyEffect) -> None:
        task = asyncio.create_task(self._perform(effect), name=effect.id)
        task.add_done_callback(lambda _task: self._woken.set())
        self._tasks[effect.id] = task

    async def _perform(self, effect: AnyEffect) -> list[ev.AnyEvent]:
        self._boundary("before", effect)
        try:
            if isinstance(effect, Wait):
                facts: list[ev.AnyEvent] = await self._wait(effect)
            else:
                facts = list(await self._performer.perform(effect, self.state))
        except PerformError as error:
            facts = [
                ev.EffectFailed(id=effect.id, kind=error.kind, message=str(error), hint=error.hint, fault=error.fault)
            ]
        except Exception as error:  # noqa: BLE001  boundary: a bug in a performer fails the effect, not the engine
            self._on_bug(effect, error)
            said = f"{type(error).__name__}: {error}"
            facts = [ev.EffectFailed(id=effect.id, kind="transient", message=said, hint="please report this")]
        self._boundary("after", effect)
        return facts

    async def _wait(self, effect: Wait) -> list[ev.AnyEvent]:
        said = Countdown(
            effect=effect.id,
            task=effect.task,
            lane=effect.lane,
            at=self._clock.now(),
            until=effect.until,
            reason=effect.reason,
        )
        self._bus.publish(said)
        await self._clock.sleep_until(effect.until)
        return [ev.WaitEnded(id=effect.id)]

    def _landed(self) -> list[ev.AnyEvent]:
        """The facts of the effects that have come to their end."""
        landed: list[ev.AnyEvent] = []
        for name, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[name]
                landed += self._facts_of(name, task)
        return landed

    def _facts_of(self, name: str, task: asyncio.Task[list[ev.AnyEvent]]) -> list[ev.AnyEvent]:
        if task.cancelled():
            effect = self.state.inflight.get(name)
            if isinstance(effect, Wait):
                return [ev.WaitEnded(id=name)]
            return [ev.EffectInterrupted(id=name, reason="ended on request")]
        return task.result()

    async def _recorded(self, record: Callable[[], Recorded]) -> Recorded:
        """Record something, as soon as the journal's disk takes it: nothing is decided, started or lost until then.

        Whoever wants it to stop meanwhile is obeyed, although that cannot be recorded: the next start finds it out."""
        tries, began = 0, self._clock.monotonic()
        while True:
            try:
                return record()
            except (JournalFull, JournalBroken, JournalReadOnly) as error:
                if self._stop_asked or self._clock.monotonic() - began > self.state.policy.limits.max_wait_seconds:
                    raise
                pause = min(LONGEST_HOLD, 2.0 ** min(tries, 6))
                until = self._clock.now() + pause
                reason = f"{error.fault or MachineFault.STORE_FAULT}: {error} {error.hint}"
                self._bus.publish(Countdown(effect=JOURNAL_HOLD, at=self._clock.now(), until=until, reason=reason))
                tries += 1
                while pause > 0 and not self._stop_asked:
                    await self._clock.sleep(min(pause, LOOKED_AT))
                    pause -= LOOKED_AT

    async def _obey(self) -> None:
        waiting, self._inbox = self._inbox, []
        for command, answer in waiting:
            outcome = obey(self.state, command)
            name = str(command.__struct_config__.tag)
            handled = ev.CommandHandled(command=command.id, name=name, ok=outcome.ok, detail=outcome.detail)
            await self._recorded(partial(self.append, *outcome.events, handled))
            if not answer.done():
                answer.set_result(Ack(ok=outcome.ok, detail=outcome.detail))

    def _end_what_is_unwanted(self) -> None:
        """Stopping ends waits at once, and everything if it is to be now; a skipped task's effects end too."""
        for name, task in self._tasks.items():
            effect = self.state.inflight.get(name)
            if effect is None or task.done():
                continue
            owner = self.state.tasks.get(effect.task)
            # A commit under way may have landed already: it is let come to its end.
            skipped = owner is not None and owner.skip_asked and not isinstance(effect, Commit)
            idle = isinstance(effect, Wait) and bool(self.state.stopping)
            if skipped or idle or self.state.stopping == "now":
                task.cancel()

    async def _end_all(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for _command, answer in self._inbox:
            if not answer.done():
                said = "the run has ended; the command is taken up at the next start"
                answer.set_result(Ack(ok=False, detail=said, late=True))

    def _save_snapshot(self) -> None:
        if not self._fingerprint:
            return
        import msgspec

        self._snapshot_at = self.state.seq
        state = msgspec.json.encode(self.state)
        with contextlib.suppress(JournalError):  # only a cache: what it is made of is recorded, once
            self._journal.save_snapshot(self._stream, self.state.seq, state, self._fingerprint)


def _commits_to_the_plan(decisions: Decisions) -> bool:
    """A task is taken, or the run ends: what the user wrote until now has to be known."""
    taken = any(isinstance(event, ev.TaskStarted) for event in decisions.events)
    return taken or any(isinstance(effect, Finish) for effect in decisions.effects)
