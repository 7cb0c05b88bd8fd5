"""One simulated sprint. The runner, the core and the journal are the real ones; time, the repository, the agents, the
user and everything that goes wrong come from the seed. A checker looks at journal, branch and user together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from engine import runner as runner_module
from engine.bus import Bus
from engine.clock import VirtualClock
from engine.core import commands as cmd
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.budget import elapsed
from engine.core.fold import fold
from engine.core.model import CheckResult, MachineFault, Verdict
from engine.core.policy import LimitPolicy
from engine.core.state import State, Status
from engine.journal import Journal, JournalError
from engine.perform.process.spawning import PerformError
from engine.perform.reconcile import at_start, before_moving
from engine.perform.workspace.facts import MovedBack
from engine.perform.workspace.workspace import Workspace
from engine.plans import in_place
from engine.project import fingerprint, load_state
from engine.run_options import RunOptions
from engine.runner import Runner
from tests.core.test_properties import Chaos, random_plan, random_policy
from tests.core.world import happy, plan_of
from tests.simulate.disk import Disk, PowerOff, spinning
from tests.simulate.plan_file import PlanFile
from tests.simulate.store import Store

STREAM = "001-sim"
MANY_RUNS = 40
MANY_STEPS = 20_000
"""Of time in one life: it has to come to an end before."""
QUIET_AFTER = 14
"""From this run on nothing goes wrong any more: whatever was left has to come to an end."""


ABSENT = 3
"""The seeds, by their rest of five, in which time passes between two engines."""
Killed = PowerOff


class Simulation:
    """`play` runs it to its end and raises AssertionError for whatever must never happen."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.clock = VirtualClock()
        self.store = Store()
        limits = LimitPolicy(calls_per_hour=self.rng.choice([0, 20, 100]), max_wait_seconds=600.0)
        self.policy = replace(random_policy(self.rng), limits=limits)
        self.plan = PlanFile(folder, plan_of(*random_plan(self.rng), phases=self.rng.randrange(1, 3)))
        self.chaos = Chaos(self.rng, self.policy.ladder.rungs[0].reserve_usd)
        self.attended = self.rng.random() < 0.5
        self.acknowledged: list[ev.Envelope] = []
        self.disk = Disk(self.rng)
        self.dead = False
        self.runs = 0
        self.trouble = 0.0
        """How much the nemesis does in this life: kills, full disks, faults, clock jumps."""
        self.wild = self.rng.choice([0.0, 0.1, 0.5])
        """How often agents, checks and reviews do something odd."""
        self.log: list[object] = []
        self.state = State()
        """What happy() and Chaos look at, as they do in the core's own world."""
        self.performed: list[str] = []
        self.typed_late = False
        """The user edited the plan after the run had ended, or as it did."""
        self.sent: list[asyncio.Future[object]] = []
        self.jumped = False
        self.ever_jumped = False
        self.lived = 0.0
        """Seconds in which there was an engine."""
        self.absence = random.Random(seed) if seed % 5 == ABSENT else None
        """Of dice of its own, so that the other seeds stay what they were: how long nobody starts the next engine."""
        self.snapshots = self.rng.choice([3, 40, 2000])

    # ── what Chaos wants of a world ────────────────────────────────────────────────────────────────────────────────

    @property
    def at(self) -> float:
        return self.clock.now()

    # ── the performer ──────────────────────────────────────────────────────────────────────────────────────────────

    async def perform(self, effect: ef.AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        self.state = state
        self.performed.append(effect.id)
        self.log.append(effect)
        await self.clock.sleep(self.rng.choice([0.0, 0.1, 1.0, 30.0]))
        self._strike("before")
        if isinstance(effect, ef.Probe):
            ok = self.rng.random() >= self.trouble
            return [ev.MachineProbed(id=effect.id, fault=effect.fault, ok=ok)]
        if self.rng.random() < self.trouble * 0.3:
            raise PerformError("the ground shakes", fault=self.rng.choice(list(MachineFault)))
        if isinstance(effect, ef.Commit):
            facts = self._committed(effect, state)
            self._strike("after")
            return facts
        if isinstance(effect, ef.RestoreBranch):
            moved = self.store.restore(effect, state, self.rng.randrange(len(self.store.line())) + 1)
            self._strike("after")
            return [moved]
        if isinstance(effect, ef.PrepareWorkspace):
            tree = effect.tree or self.store.tree_of(self.store.head())
            base = effect.base or self.store.head()
            return [ev.WorkspaceReady(id=effect.id, task=effect.task, lane=effect.lane, tree=tree, base=base)]
        facts = self.chaos(self, effect) if self.trouble and self.rng.random() < self.wild else happy(self, effect)  # type: ignore[arg-type]
        return [replace(fact, tree=self._fresh(fact)) if isinstance(fact, ev.ScopeChecked) else fact for fact in facts]

    @property
    def workspace(self) -> Workspace:
        return cast("Workspace", self.store)

    def _committed(self, effect: ef.Commit, state: State) -> list[ev.AnyEvent]:
        """As the shell does it."""
        try:
            made = self.store.commit(effect, state.branch)
        except MovedBack:
            moved = before_moving(self.workspace, state)
            if moved is None:
                raise
            return [moved, ev.EffectInterrupted(id=effect.id, reason="the branch was moved")]
        moved = before_moving(self.workspace, state) if isinstance(made, ev.BaseMoved) else None
        return [made] if moved is None else [moved, made]

    def _fresh(self, fact: ev.ScopeChecked) -> str:
        return f"{fact.tree}/{fact.task}"

    def _strike(self, where: str) -> None:
        if self.rng.random() < self.trouble * (0.08 if where == "before" else 0.3):
            self.dead = True
            raise Killed

    # ── the engine's lives ─────────────────────────────────────────────────────────────────────────────────────────

    async def play(self) -> State:
        while self.runs < MANY_RUNS:
            self.runs += 1
            quiet = self.runs >= QUIET_AFTER
            self.trouble = 0.0 if quiet else self.rng.choice([0.1, 0.3, 1.0])
            state = await self._one_life(quiet)
            self._check(state)
            if quiet and not state.running and state.outcome in ("done", "failed", "blocked", "limit"):
                return state
            if not quiet and self.rng.random() < self.trouble * 0.3:
                self.store.user_at_git(self.rng)
                self.plan.user_types(self.rng)
            if self.absence is not None:
                await self.clock.advance(self.absence.choice([0.0, 60.0, 86_400.0]))
        raise AssertionError(f"no end after {self.runs} lives: {state.outcome} {state.outcome_reason} {waits(state)}")

    async def _one_life(self, quiet: bool) -> State:
        self.dead = self.jumped = False
        heard, born = len(self.acknowledged), self.clock.monotonic()
        with spinning(self.disk):
            state = await self._lived(quiet)
        self.lived += self.clock.monotonic() - born
        self.ever_jumped = self.ever_jumped or self.jumped
        self._no_wait_was_cut_short(self.acknowledged[heard:])
        if self.disk.dead:
            self.disk.lose_power()
        return state

    async def _lived(self, quiet: bool) -> State:
        path = self.folder / "devteam.db"
        with Journal.open(path, clock=self.clock.now, backup_dir=self.folder / "backups") as journal:
            assert journal.recovery is None, "nothing was damaged"
            self._nothing_lost(journal)
            state = load_state(journal, STREAM)
            real = journal.append

            def append(stream: str, events: Sequence[ev.Fact]) -> list[ev.Envelope]:
                if self.dead:
                    raise Killed
                envelopes = real(stream, events)
                if self.rng.random() < self.trouble * 0.02:  # recorded, and dead before anybody heard of it
                    self.acknowledged += envelopes
                    self.dead = True
                    raise Killed
                self.acknowledged += envelopes
                return envelopes

            bus = Bus()
            runner = Runner(
                journal=journal,
                stream=STREAM,
                state=state,
                performer=self,
                clock=self.clock,
                bus=bus,
                fingerprint=fingerprint(),
                outside=lambda: self.plan.edits(runner.state),
                observers=(lambda _envelopes, state: self.plan.mark(state),),
            )
            self.plan.begin()
            self.store.meddled = self.typed_late = False
            if not state.sprint:
                plan = self.plan.read()
                runner.append(ev.SprintCreated(sprint=STREAM, plan=plan, branch="devteam/sim", topic="sim"))
                self.acknowledged += list(journal.read(STREAM))
            journal.append = append  # type: ignore[method-assign]
            runner_module.SNAPSHOT_EVERY = self.snapshots
            self.disk.failing, self.disk.dying = self.trouble * 0.01, self.trouble * 0.002
            attended = self.attended and not quiet
            boot, booted_at = self.clock.boot()
            options = RunOptions(
                run=f"r{self.runs}", pid=self.runs, policy=self.policy, attended=attended, waits=False, boot=boot,
                booted_at=booted_at,
            )  # fmt: skip
            run = asyncio.create_task(runner.run(options, self._found(state)))
            await self._drive(run, runner, quiet)
            self.disk.failing = self.disk.dying = 0.0
            self.dead = self.dead or self.disk.dead
            self.disk.dead = self.dead  # the process and its machine go together
            journal.append = real  # type: ignore[method-assign]
            recorded = fold(journal.read(STREAM))
            assert load_state(journal, STREAM) == recorded, "a snapshot knows something that the journal does not"
            if not self.dead:
                assert recorded == runner.state, "the engine knows something that the journal does not"
            return recorded

    async def _drive(self, run: asyncio.Task[State], runner: Runner, quiet: bool) -> None:
        began, steps = self.clock.monotonic(), 0
        while not run.done():
            await self.clock.advance(self.rng.choice([0.0, 0.1, 1.0, 7.0, 61.0, 600.0]))
            steps += 1
            if self.dead:
                run.cancel()
                break
            if not quiet and self.rng.random() < 0.05:
                self._user_at_work(runner)
            if self.rng.random() < self.trouble * 0.02:
                self.clock.jump(self.rng.choice([-3600.0, 3600.0, -10.0]))
                self.jumped = True
            if steps % 200 == 0 and runner.state.paused:
                self.sent.append(asyncio.ensure_future(runner.send(cmd.Resume())))
            assert steps < MANY_STEPS, f"no end in sight: {waits(runner.state)}"
            if self.clock.monotonic() - began > 40 * 3600:
                await self.clock.advance(3600.0)
        try:
            await run
        except (asyncio.CancelledError, Killed, JournalError):  # it said why it could not start, or never said anything
            self.dead = True
        for sent in self.sent:
            sent.cancel()
        await asyncio.gather(*self.sent, return_exceptions=True)
        self.sent = []

    # ── the user ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _user_at_work(self, runner: Runner) -> None:
        state, rng = runner.state, self.rng
        orders: list[cmd.AnyCommand] = [cmd.Pause(), cmd.Resume(), cmd.Resume(), cmd.Stop(now=rng.random() < 0.5)]
        for task in state.tasks:
            orders += [cmd.Skip(task=task), cmd.Retry(task=task), cmd.Steer(task=task, text="mind the gap")]
        for gate in state.open_gates():
            answer = cmd.Answer(gate=gate.id, choice=rng.choice(list(gate.choices)), text="do it so")
            orders += [answer] * 8
        self.sent.append(asyncio.ensure_future(runner.send(rng.choice(orders))))
        if rng.random() < 0.2:
            self.typed_late = self.typed_late or not runner.state.running
            self.plan.user_types(rng)
        if rng.random() < 0.1:
            self.store.user_at_git(rng)

    # ── the checker ────────────────────────────────────────────────────────────────────────────────────────────────

    def _nothing_lost(self, journal: Journal) -> None:
        there = {envelope.seq: envelope.event for envelope in journal.read(STREAM)}
        for envelope in self.acknowledged:
            assert there.get(envelope.seq) == envelope.event, f"acknowledged and gone: {envelope.seq}"

    def _check(self, state: State) -> None:
        facts = [envelope.event for envelope in self.acknowledged]
        intents = [fact.effect.id for fact in facts if isinstance(fact, ev.EffectStarted)]
        assert len(intents) == len(set(intents)), "an effect was issued twice"
        assert set(self.performed) <= set(intents), "done before it was written down"
        self._commits(state, facts)
        spent = 0.0
        for fact in facts:
            if isinstance(fact, ev.AgentFinished):
                spent += max(0.0, fact.charged_usd)
        assert state.spent_usd >= spent - 1e-6, "money was forgotten"
        assert self.ever_jumped or elapsed(state) <= self.lived + 1.0, "time without an engine was charged"
        # Of a commit that was taken up again, after a retry perhaps, the evidence is what its tree was given.
        green = {
            (fact.task, fact.tree) for fact in facts if isinstance(fact, ev.ChecksFinished) and _passed(fact.results)
        }
        for task in state.tasks.values():
            if task.status is Status.COMPLETE and task.commit:
                judged = (task.id, self.store.tree_of(task.commit)) in green
                assert judged or _passed(task.checks), f"{task.id} is complete without evidence"
        if not self.dead and state.outcome == "done":
            left = [task.id for task in state.tasks.values() if not task.ended]
            assert not left, f"called done beside {left}"
            unseen = {task.id for task in self.plan.read().tasks()} - set(state.tasks)
            late = self.typed_late
            assert not unseen or late, f"called done beside {unseen}, which the user had written into the plan"
        if not self.dead:
            assert state.outcome and state.outcome_reason, "it ends, and says how"
            self.plan.holds(state)

    def _found(self, state: State) -> list[ev.AnyEvent]:
        """What the engine's own reconciliation says before a run; the journal it may ask is the one there is."""
        if not state.head and not state.base:
            return []
        recorded = {one.event.commit for one in self.acknowledged if isinstance(one.event, ev.Committed)}
        return at_start(self.workspace, state, lambda: recorded)

    def _no_wait_was_cut_short(self, heard: Sequence[ev.Envelope]) -> None:
        """A wait ends at its time, unless somebody stopped it or the wall clock was moved."""
        ended_by = (ev.StopRequested, ev.SkipRequested, ev.SprintCancelled)
        if self.jumped or any(isinstance(one.event, ended_by) for one in heard):
            return
        until: dict[str, float] = {}
        for envelope in heard:
            fact = envelope.event
            if isinstance(fact, ev.EffectStarted) and isinstance(fact.effect, ef.Wait):
                until[fact.effect.id] = fact.effect.until
            elif isinstance(fact, ev.WaitEnded) and fact.id in until:
                assert envelope.at >= until[fact.id] - 0.001, f"{fact.id} ended before its time"

    def _commits(self, state: State, facts: Sequence[ev.Fact]) -> None:
        made, there = self.store.made, self.store.line()
        by_effect = [entry.effect for entry in made.values()]
        assert len(by_effect) == len(set(by_effect)), "one effect made two commits"
        recorded = [fact.commit for fact in facts if isinstance(fact, ev.Committed)]
        assert set(recorded) <= set(made), "a commit was recorded that was never made"
        kept = {commit for ref in (self.store.tip, *self.store.backups) for commit in self.store.line(ref)}
        assert set(made) <= kept | set(there), "a commit that was made is on no ref any more"
        reopened = sum(isinstance(fact, ev.RetryRequested) for fact in facts)
        for task in state.tasks.values():
            mine = [commit for commit in there if commit in made and made[commit].task == task.id]
            assert len(mine) <= 1 + reopened, f"{task.id} was committed {len(mine)} times"
            unsaid = self.dead or self.store.meddled  # the dead had no time to say; nor who ended before it was moved
            if task.status is Status.COMPLETE and not task.spec.done and not unsaid:
                assert task.commit in mine, f"{task.id} is complete by {task.commit}, which is not on the branch"


def _passed(results: Sequence[CheckResult]) -> bool:
    return bool(results) and all(result.verdict is Verdict.PASS for result in results if result.required)


def waits(state: State) -> str:
    tasks = {task.id: (task.status.value, task.step.value) for task in state.tasks.values() if not task.ended}
    gates = [gate.id for gate in state.open_gates()]
    return f"{tasks} in flight {list(state.inflight)} gates {gates} {state.suspended_reason}"


def simulate(seed: int, folder: Path) -> State:
    """One seed to its end."""
    late = in_place.LATE_SECONDS
    in_place.LATE_SECONDS = ()  # there is one thread: nobody writes to a file that was just replaced
    try:
        return asyncio.run(Simulation(seed, folder).play())
    finally:
        in_place.LATE_SECONDS = late
