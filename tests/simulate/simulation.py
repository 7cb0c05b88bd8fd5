"""One simulated sprint. The runner, the core and the journal are the real ones; time, the repository, the agents, the
user and everything that goes wrong come from the seed. A checker looks at journal, branch and user together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from engine import runner as runner_module
from engine.bus import Bus
from engine.clock import VirtualClock
from engine.core import commands as cmd
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.fold import fold
from engine.core.model import MachineFault, Plan, TaskSpec, Verdict
from engine.core.policy import LimitPolicy
from engine.core.state import State, Status
from engine.journal import Journal, JournalError
from engine.perform.process.spawning import PerformError
from engine.project import fingerprint, load_state
from engine.runner import Runner, RunOptions
from tests.core.test_properties import Chaos, random_plan, random_policy
from tests.core.world import happy, plan_of
from tests.simulate.disk import Disk, PowerOff, spinning

STREAM = "001-sim"
MANY_RUNS = 40
MANY_STEPS = 20_000
"""Of time in one life: it has to come to an end before."""
QUIET_AFTER = 14
"""From this run on nothing goes wrong any more: whatever was left has to come to an end."""


Killed = PowerOff


@dataclass
class Repository:
    """The sprint branch as the workspace keeps it: a commit made twice is one commit, found by its effect."""

    commits: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Commit, task, effect, tree; all that were ever made."""
    branch: list[str] = field(default_factory=lambda: ["c0"])
    """The commits that are on it now, oldest first."""

    @property
    def head(self) -> str:
        return self.branch[-1]

    def commit(self, effect: ef.Commit, branch: str) -> ev.AnyEvent:
        for commit, task, made_by, tree in self.commits:
            mine = made_by == effect.id or (task == effect.task and tree == effect.tree and commit == self.head)
            if mine and commit in self.branch:
                return self._fact(effect, commit, tree, branch)
        if effect.base != self.head:
            return ev.BaseMoved(id=effect.id, task=effect.task, base=self.head, tree=f"{effect.tree}+{self.head}")
        self.branch.append(f"c{len(self.commits) + 1}")
        self.commits.append((self.head, effect.task, effect.id, effect.tree))
        return self._fact(effect, self.head, effect.tree, branch)

    def restore(self, effect: ef.RestoreBranch, state: State, kept: int) -> ev.BranchMoved:
        """The branch goes back to the first `kept` of its commits; tasks whose commits it loses are open again."""
        self.branch = self.branch[: max(1, kept)]
        return self._moved(effect.id, effect.reason, self._gone(state))

    def at_start(self, state: State) -> list[ev.AnyEvent]:
        """What reconciliation says: the branch lost commits and the engine died before it could record that."""
        gone = self._gone(state)
        return [self._moved("", "found at the start", gone)] if gone else []

    def _gone(self, state: State) -> tuple[str, ...]:
        complete = (task for task in state.tasks.values() if task.status is Status.COMPLETE and task.commit)
        return tuple(task.id for task in complete if task.commit not in self.branch)

    def _moved(self, effect: str, reason: str, gone: tuple[str, ...]) -> ev.BranchMoved:
        tree = next((tree for commit, _, _, tree in self.commits if commit == self.head), "t0")
        return ev.BranchMoved(id=effect, commit=self.head, tree=tree, backup="b", reason=reason, reopened=gone)

    @staticmethod
    def _fact(effect: ef.Commit, commit: str, tree: str, branch: str) -> ev.Committed:
        return ev.Committed(
            id=effect.id, task=effect.task, commit=commit, tree=tree, message=effect.message, branch=branch
        )


class Simulation:
    """`play` runs it to its end and raises AssertionError for whatever must never happen."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.clock = VirtualClock()
        self.repository = Repository()
        limits = LimitPolicy(calls_per_hour=self.rng.choice([0, 20, 100]), max_wait_seconds=600.0)
        self.policy = replace(random_policy(self.rng), limits=limits)
        self.plan = plan_of(*random_plan(self.rng), phases=self.rng.randrange(1, 3))
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
        self.edits: list[Plan] = []
        self.sent: list[asyncio.Future[object]] = []
        self.jumped = False
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
            fact = self.repository.commit(effect, state.branch)
            self._strike("after")
            return [fact]
        if isinstance(effect, ef.RestoreBranch):
            moved = self.repository.restore(effect, state, self.rng.randrange(len(self.repository.branch)) + 1)
            self._strike("after")
            return [moved]
        if isinstance(effect, ef.PrepareWorkspace):
            tree = effect.tree or self._tree_of(self.repository.head)
            base = effect.base or self.repository.head
            return [ev.WorkspaceReady(id=effect.id, task=effect.task, lane=effect.lane, tree=tree, base=base)]
        facts = self.chaos(self, effect) if self.trouble and self.rng.random() < self.wild else happy(self, effect)  # type: ignore[arg-type]
        return [replace(fact, tree=self._fresh(fact)) if isinstance(fact, ev.ScopeChecked) else fact for fact in facts]

    def _tree_of(self, commit: str) -> str:
        return next((tree for made, _, _, tree in self.repository.commits if made == commit), "t0")

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
            self._user_between_lives(state)
        raise AssertionError(f"no end after {self.runs} lives: {state.outcome} {state.outcome_reason} {waits(state)}")

    async def _one_life(self, quiet: bool) -> State:
        self.dead = self.jumped = False
        heard = len(self.acknowledged)
        with spinning(self.disk):
            state = await self._lived(quiet)
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
                outside=self._edited,
            )
            if not state.sprint:
                runner.append(ev.SprintCreated(sprint=STREAM, plan=self.plan, branch="devteam/sim", topic="sim"))
                self.acknowledged += list(journal.read(STREAM))
            journal.append = append  # type: ignore[method-assign]
            runner_module.SNAPSHOT_EVERY = self.snapshots
            self.disk.failing, self.disk.dying = self.trouble * 0.01, self.trouble * 0.002
            attended = self.attended and not quiet
            options = RunOptions(run=f"r{self.runs}", pid=self.runs, policy=self.policy, attended=attended, waits=False)
            run = asyncio.create_task(runner.run(options, self.repository.at_start(state)))
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
        if rng.random() < 0.2 and len(self.plan.tasks()) < 8:
            number = len(self.plan.tasks())
            phase = self.plan.phases[-1]
            more = replace(phase, tasks=(*phase.tasks, TaskSpec(id=f"9.{number}", title="One more")))
            self.plan = replace(self.plan, phases=(*self.plan.phases[:-1], more))
            self.edits.append(self.plan)

    def _edited(self) -> Sequence[ev.AnyEvent]:
        edits, self.edits = self.edits, []
        return [ev.PlanChanged(plan=plan, summary="edited") for plan in edits[-1:]]

    def _user_between_lives(self, state: State) -> None:
        """An edit nobody saw is still in the file: the next engine reads it at its start."""
        known = {task.id for task in (state.plan.tasks() if state.plan else ())}
        if state.plan is not None and {task.id for task in self.plan.tasks()} - known:
            self.edits = [self.plan]

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
        for task in state.tasks.values():
            if task.status is Status.COMPLETE and task.commit:
                assert task.checks and all(r.verdict is Verdict.PASS for r in task.checks if r.required)
        if not self.dead and state.outcome == "done":
            left = [task.id for task in state.tasks.values() if not task.ended]
            assert not left, f"called done beside {left}"
            unseen = {task.id for task in self.plan.tasks()} - set(state.tasks)
            assert not unseen or self.edits, f"called done beside {unseen}, which the user had written into the plan"
        if not self.dead:
            assert state.outcome and state.outcome_reason, "it ends, and says how"

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
        by_effect = [effect for _, _, effect, _ in self.repository.commits]
        assert len(by_effect) == len(set(by_effect)), "one effect made two commits"
        recorded = [fact.commit for fact in facts if isinstance(fact, ev.Committed)]
        made = [commit for commit, *_ in self.repository.commits]
        assert set(recorded) <= set(made), "a commit was recorded that is not on the branch"
        reopened = sum(isinstance(fact, ev.RetryRequested) for fact in facts)
        for task in state.tasks.values():
            mine = [commit for commit, owner, *_ in self.repository.commits if owner == task.id]
            mine = [commit for commit in mine if commit in self.repository.branch]
            assert len(mine) <= 1 + reopened, f"{task.id} was committed {len(mine)} times"
            if task.status is Status.COMPLETE and not task.spec.done and not self.dead:  # the dead had no time to say
                assert task.commit in mine, f"{task.id} is complete by {task.commit}, which is not on the branch"


def waits(state: State) -> str:
    tasks = {task.id: (task.status.value, task.step.value) for task in state.tasks.values() if not task.ended}
    gates = [gate.id for gate in state.open_gates()]
    return f"{tasks} in flight {list(state.inflight)} gates {gates} {state.suspended_reason}"


def simulate(seed: int, folder: Path) -> State:
    """One seed to its end."""
    return asyncio.run(Simulation(seed, folder).play())
