"""The runner with a real journal: intents before effects, facts after, commands, stops, and what a failure comes to."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from engine.bus import Bus
from engine.clock import VirtualClock
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.budget import elapsed
from engine.core.commands import Answer, Pause, Resume, Skip, Steer, Stop
from engine.core.model import AgentResult, ResultKind, Role, TaskSpec
from engine.core.policy import GatePolicy, LimitPolicy, Policy
from engine.core.state import State, Status
from engine.journal import Journal, JournalError, JournalFull
from engine.journal.journal_errors import JournalBroken, JournalReadOnly
from engine.perform.process.spawning import PerformError
from engine.project import load_state, shown_state
from engine.run_options import RunOptions
from engine.runner import Runner
from tests.core.world import happy, outcome, plan_of

PLAN = plan_of(TaskSpec(id="1.1", title="A"), TaskSpec(id="1.2", title="B"))


class Scripted:
    """Performs effects with the made-up facts of the core's tests; `hold` keeps one from landing."""

    def __init__(self, special: Callable[[ef.AnyEffect], Sequence[ev.AnyEvent] | None] = lambda _effect: None) -> None:
        self.special = special
        self.log: list[int] = []
        self.state = State()
        self.hold: set[str] = set()
        self.begun = asyncio.Event()
        self.running = 0
        self.most = 0

    async def perform(self, effect: ef.AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        self.state = state
        self.log.append(1)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if type(effect).__name__ in self.hold:
                self.begun.set()
                await asyncio.Event().wait()
            await asyncio.sleep(0)
            found = self.special(effect)
            return happy(self, effect) if found is None else found  # type: ignore[arg-type]
        finally:
            self.running -= 1


class Bench:
    """A journal on disk and the runs on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = VirtualClock()
        self.bus = Bus()
        self.runs = 0

    def open(self) -> Journal:
        return Journal.open(self.folder / "devteam.db", clock=self.clock.now, backup_dir=self.folder / "backups")

    def runner(self, journal: Journal, performer: Scripted) -> Runner:
        state = load_state(journal, "s")
        made = Runner(
            journal=journal,
            stream="s",
            state=state,
            performer=performer,
            clock=self.clock,
            bus=self.bus,
            fingerprint="f",
        )
        if not state.sprint:
            made.append(ev.SprintCreated(sprint="s", plan=PLAN, branch="devteam/s", topic="t"))
        return made

    def options(self, policy: Policy | None = None, *, attended: bool = False) -> RunOptions:
        self.runs += 1
        return RunOptions(run=f"r{self.runs}", pid=1, policy=policy or Policy(), attended=attended)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def kinds(journal: Journal) -> list[str]:
    return [ev.type_of(envelope.event) for envelope in journal.read("s")]


async def test_every_effect_has_its_intent_before_its_facts(bench: Bench) -> None:
    with bench.open() as journal:
        state = await bench.runner(journal, Scripted()).run(bench.options())
        assert state.outcome == "done"
        begun: set[str] = set()
        for envelope in journal.read("s"):
            match envelope.event:
                case ev.EffectStarted(effect=effect):
                    assert effect.id not in begun
                    begun.add(effect.id)
                case ev.WorkspaceReady() | ev.AgentFinished() | ev.ChecksFinished() | ev.Committed() as fact:
                    assert fact.id in begun
                case _:
                    pass
        assert load_state(journal, "s") == state


async def test_lanes_work_at_the_same_time(bench: Bench) -> None:
    performer = Scripted()
    with bench.open() as journal:
        state = await bench.runner(journal, performer).run(bench.options(Policy(lanes=2)))
    assert state.outcome == "done"
    assert performer.most > 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(PerformError("no space", kind="transient", hint="make some"), "transient", id="ours"),
        pytest.param(ValueError("a bug"), "transient", id="a bug"),
    ],
)
async def test_a_failing_performer_fails_the_effect_and_not_the_engine(
    bench: Bench, error: Exception, kind: str
) -> None:
    waiting = [error]

    def once(effect: ef.AnyEffect) -> None:
        if isinstance(effect, ef.Commit) and waiting:
            raise waiting.pop()

    with bench.open() as journal:
        running = asyncio.create_task(bench.runner(journal, Scripted(once)).run(bench.options()))
        while not running.done():
            await asyncio.sleep(0.001)
            await bench.clock.advance(5)
        assert running.result().outcome == "done"
        failed = [one.event for one in journal.read("s") if isinstance(one.event, ev.EffectFailed)]
    assert [one.kind for one in failed] == [kind]
    assert str(error) in failed[0].message


async def test_a_usage_limit_is_waited_for_on_the_clock(bench: Bench) -> None:
    waiting = [1]
    start = bench.clock.now()

    def limited(effect: ef.AnyEffect) -> list[ev.AnyEvent] | None:
        if isinstance(effect, ef.CallAgent) and effect.role is Role.IMPLEMENTER and waiting:
            waiting.pop()
            return [outcome(effect, AgentResult(kind=ResultKind.LIMIT, reset_at=start + 600, error="limit"))]
        return None

    heard = bench.bus.subscribe()
    with bench.open() as journal:
        running = asyncio.create_task(bench.runner(journal, Scripted(limited)).run(bench.options()))
        for _ in range(2000):
            await asyncio.sleep(0.001)
            if bench.clock.sleeping():
                break
        assert not running.done()
        await bench.clock.advance(599)
        assert not running.done()
        await bench.clock.advance(2)
        state = await running
    assert state.outcome == "done"
    assert state.tasks["1.1"].iteration == 1
    bench.bus.close()
    assert [type(one).__name__ for one in [message async for message in heard]].count("Countdown") == 1


async def test_commands_are_acknowledged_by_events(bench: Bench) -> None:
    policy = Policy(gates=GatePolicy(task="gated"))
    performer = Scripted()
    with bench.open() as journal:
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options(policy, attended=True)))
        while not runner.state.open_gates():
            await asyncio.sleep(0.001)
        assert not (await runner.send(Answer(id="a", gate="G9", choice="yes"))).ok
        assert (await runner.send(Steer(id="b", task="1.1", text="mind"))).ok
        assert (await runner.send(Pause(id="c"))).ok
        assert (await runner.send(Resume(id="d"))).ok
        assert (await runner.send(Answer(id="e", gate="G1", choice="auto"))).ok
        state = await running
        handled = [one.event for one in journal.read("s") if isinstance(one.event, ev.CommandHandled)]
    assert state.outcome == "done"
    assert [(one.command, one.ok) for one in handled] == [
        ("a", False),
        ("b", True),
        ("c", True),
        ("d", True),
        ("e", True),
    ]
    assert state.tasks["1.1"].comments == ("mind",)


async def test_a_stop_now_ends_the_effect_and_the_next_run_repeats_it(bench: Bench) -> None:
    performer = Scripted()
    performer.hold = {"CallAgent"}
    with bench.open() as journal:
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options()))
        await performer.begun.wait()
        assert (await runner.send(Stop(now=True))).ok
        stopped = await running
        assert stopped.outcome == "stopped"
        assert "effect_interrupted" in kinds(journal)
        spent = stopped.spent_usd
    with bench.open() as journal:
        state = await bench.runner(journal, Scripted()).run(bench.options())
    assert state.outcome == "done"
    assert state.tasks["1.1"].iteration == 1
    assert spent > 0, "an interrupted call is charged as reserved"


async def test_skipping_a_running_task_ends_its_agent(bench: Bench) -> None:
    performer = Scripted()
    performer.hold = {"CallAgent"}
    with bench.open() as journal:
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options()))
        await performer.begun.wait()
        performer.hold = set()
        await runner.send(Skip(task="1.1"))
        state = await running
    assert state.tasks["1.1"].status is Status.SKIPPED
    assert state.tasks["1.2"].status is Status.COMPLETE


@pytest.mark.parametrize("error", [JournalFull, JournalBroken, JournalReadOnly])
async def test_a_full_or_failing_disk_under_the_journal_holds_the_run_and_loses_nothing(
    bench: Bench, error: type[JournalError]
) -> None:
    """Every third append fails twice; nothing is recorded twice, started twice or forgotten."""
    with bench.open() as journal:
        real, tries = journal.append, itertools.count()

        def failing(stream: str, events: Sequence[ev.Fact]) -> list[ev.Envelope]:
            if next(tries) % 3:
                raise error("the disk is full", "make room")
            return real(stream, events)

        runner = bench.runner(journal, performer := Scripted())
        journal.append = failing  # type: ignore[method-assign]
        running = asyncio.create_task(runner.run(bench.options()))
        sent = asyncio.create_task(runner.send(Steer(task="1.1", text="mind the gap")))
        while not running.done():
            await bench.clock.advance(5.0)
        assert (await running).outcome == "done"
        assert (await sent).ok
        journal.append = real  # type: ignore[method-assign]
        intents = [e.event.effect.id for e in journal.read("s") if isinstance(e.event, ev.EffectStarted)]
        assert len(intents) == len(set(intents))
        assert kinds(journal).count("steered") == 1
        assert len(performer.log) == len(intents) - 1, "all but Finish were performed, once each"


async def test_a_journal_that_stays_unwritable_ends_the_run_with_its_words(bench: Bench) -> None:
    performer = Scripted()
    performer.hold = {"CallAgent"}
    with bench.open() as journal:
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options(Policy(limits=LimitPolicy(max_wait_seconds=600.0)))))
        while not performer.begun.is_set():
            await bench.clock.advance(1.0)

        def full(*_: object) -> list[ev.Envelope]:
            raise JournalFull("the disk is full", "make room")

        journal.append = full  # type: ignore[method-assign, assignment]
        sent = asyncio.create_task(runner.send(Pause()))
        with pytest.raises(JournalError, match="disk is full"):
            while not running.done():
                await bench.clock.advance(60.0)
            await running
        sent.cancel()
    assert performer.running == 0, "the agent was ended"


async def test_a_stop_is_obeyed_while_the_journal_cannot_be_written(bench: Bench) -> None:
    """It cannot be recorded; whoever asked for it has the run ended all the same, and the next one goes on."""
    performer = Scripted()
    performer.hold = {"CallAgent"}
    with bench.open() as journal:
        real = journal.append
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options(Policy(limits=LimitPolicy(max_wait_seconds=1e9)))))
        while not performer.begun.is_set():
            await bench.clock.advance(1.0)

        def full(*_: object) -> list[ev.Envelope]:
            raise JournalFull("the disk is full", "make room")

        journal.append = full  # type: ignore[method-assign, assignment]
        held = asyncio.create_task(runner.send(Pause()))
        for _ in range(20):
            await bench.clock.advance(10.0)
        assert not running.done(), "it waits for the disk"
        sent = asyncio.create_task(runner.send(Stop(now=True)))
        for _ in range(4):
            await bench.clock.advance(1.0)
        assert running.done()
        with pytest.raises(JournalError, match="disk is full"):
            await running
        for one in (held, sent):
            one.cancel()
        journal.append = real  # type: ignore[method-assign]
    assert performer.running == 0, "the agent was ended"
    with bench.open() as journal:
        assert (await bench.runner(journal, Scripted()).run(bench.options())).outcome == "done"


async def test_what_the_user_edits_is_known_before_a_task_is_taken_and_before_the_end(bench: Bench) -> None:
    """No watcher told of it: the plan grows when its last task is done; the run does not end beside an open task."""
    more = plan_of(*PLAN.tasks(), TaskSpec(id="1.3", title="C"))
    with bench.open() as journal:
        runner = bench.runner(journal, Scripted())
        looks: list[int] = []

        def outside() -> Sequence[ev.AnyEvent]:
            done, _ = runner.state.progress()
            looks.append(done)
            return [ev.PlanChanged(plan=more)] if done == 2 and "1.3" not in runner.state.tasks else []

        runner._outside = outside
        state = await runner.run(bench.options())
    assert state.outcome == "done"
    assert state.tasks["1.3"].status is Status.COMPLETE
    assert len(looks) >= 4, "before each of three tasks, and before the end"


async def test_a_resume_folds_from_the_snapshot(bench: Bench) -> None:
    with bench.open() as journal:
        ended = await bench.runner(journal, Scripted()).run(bench.options())
        kept = journal.load_snapshot("s", "f")
        assert kept is not None
        assert kept[0] == ended.seq
        assert load_state(journal, "s") == ended


async def test_what_is_shown_after_an_upgrade_is_not_folded_from_the_start(bench: Bench) -> None:
    """A snapshot of another version is good enough to look at where all of it is read; an engine never takes it."""
    with bench.open() as journal:
        ended = await bench.runner(journal, Scripted()).run(bench.options())
        journal.append("s", [ev.Noted(text="after the snapshot")])
        read: list[int] = []
        real = journal.read

        def counted(*where: object, **more: object) -> Iterator[ev.Envelope]:
            for envelope in real(*where, **more):  # type: ignore[arg-type]
                read.append(envelope.seq)
                yield envelope

        journal.read = counted  # type: ignore[method-assign]
        whole = load_state(journal, "s")
        assert len(read) == ended.seq + 1
        read.clear()
        assert shown_state(journal, "s") == whole
        assert read == [ended.seq + 1]


@pytest.mark.parametrize("old", [b'"gone_field":1,', b'"tasks":7,'], ids=["unknown", "type"])
async def test_a_snapshot_of_another_version_that_says_more_is_not_shown(bench: Bench, old: bytes) -> None:
    with bench.open() as journal:
        ended = await bench.runner(journal, Scripted()).run(bench.options())
        kept = journal.load_snapshot("s", None)
        assert kept is not None
        wrong = msgspec.json.encode(msgspec.structs.replace(ended, branch="another"))
        journal.save_snapshot("s", kept[0], b"{" + old + wrong[1:], "older")  # the first of two values is read, too
        assert shown_state(journal, "s") == ended


async def test_an_edit_read_while_the_journal_is_full_is_not_forgotten_at_the_end(bench: Bench) -> None:
    """Found by the simulation: the look is made once, so what it saw must be kept until it is recorded."""
    more = plan_of(*PLAN.tasks(), TaskSpec(id="1.3", title="C"))
    with bench.open() as journal:
        runner = bench.runner(journal, Scripted())
        real, looked = journal.append, []

        def outside() -> Sequence[ev.AnyEvent]:
            if runner.state.progress()[0] < 2 or looked:
                return []
            looked.append(1)
            return [ev.PlanChanged(plan=more)]

        def append(stream: str, events: Sequence[ev.Fact]) -> list[ev.Envelope]:
            if looked == [1]:
                looked.append(2)
                raise JournalFull("the disk is full", "make room")
            return real(stream, events)

        runner._outside, journal.append = outside, append  # type: ignore[method-assign]
        running = asyncio.create_task(runner.run(bench.options()))
        while not running.done():
            await bench.clock.advance(5.0)
        assert (await running).tasks["1.3"].status is Status.COMPLETE


async def test_the_time_in_which_no_engine_lived_is_no_working_time(bench: Bench) -> None:
    """Dead with something under way, taken up a day later: of a budget of wall time as much is left as was."""
    performer = Scripted()
    performer.hold = {"CallAgent"}
    with bench.open() as journal:
        runner = bench.runner(journal, performer)
        running = asyncio.create_task(runner.run(bench.options()))
        await performer.begun.wait()
        died_at = elapsed(runner.state)
        await bench.clock.advance(86_400.0)
        next_one = bench.runner(journal, Scripted())
        next_one._take_up(bench.options(), [])
        assert "effect_interrupted" in kinds(journal)
        assert elapsed(next_one.state) == died_at
        running.cancel()
        await asyncio.wait([running])
