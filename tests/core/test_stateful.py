"""The loop as a machine that anything may happen to at any moment: facts, commands, edits of the plan, deaths.

Hypothesis picks every move, so that what breaks is shown as the shortest history that breaks it.
"""

from __future__ import annotations

import random
from collections import Counter

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from engine.core import commands as cmd
from engine.core import events as ev
from engine.core.decide import decide
from engine.core.fold import fold
from engine.core.model import TaskSpec
from engine.core.orders import obey
from engine.core.policy import Policy
from engine.core.state import State, Status
from tests.core.test_properties import NAMED, Chaos, assert_invariants, kill_and_resume, random_plan, random_policy
from tests.core.world import World, happy, plan_of
from tests.depth import examples

SEEDS = st.integers(0, 2**16)
TASKS = st.sampled_from(["1.0", "1.1", "1.2", "9.9"])


class Loop(RuleBasedStateMachine):
    """A sprint. Nothing is done by itself: each rule is one move of the engine, the world or the human."""

    @initialize(seed=SEEDS, attended=st.booleans())
    def begin(self, seed: int, attended: bool) -> None:
        rng = random.Random(seed)
        self.policy: Policy = random_policy(rng)
        self.chaos = Chaos(rng, self.policy.ladder.rungs[0].reserve_usd)
        self.world = World(self.chaos, max_steps=50_000)
        self.world.begin(plan_of(*random_plan(rng), phases=rng.randrange(1, 3)), self.policy, attended=attended)
        self.committed: set[str] = set()

    # ── the engine and the world ───────────────────────────────────────────────────────────────────────────────────

    @rule(turns=st.integers(1, 8))
    def decide(self, turns: int) -> None:
        for _ in range(turns):
            running = self.world.state.running
            if not self.world.turn():
                break
            if running and not self.world.state.running:
                self._ended_well()

    @rule(effects=st.integers(1, 20), seed=SEEDS, well=st.booleans())
    def land(self, effects: int, seed: int, well: bool) -> None:
        """Effects under way end, well or badly, in any order, and what follows is decided."""
        rng = random.Random(seed)
        self.chaos.rng = rng
        self.world.script = happy if well else self.chaos
        for _ in range(effects):
            self.decide(turns=8)
            if not self.world.state.inflight:
                break
            self.world.land(rng.choice(list(self.world.state.inflight.values())))

    @rule(seconds=st.sampled_from([0.0, 30.0, 4000.0, 90_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.at += seconds

    @precondition(lambda self: self.world.state.running)
    @rule()
    def killed(self) -> None:
        kill_and_resume(self.world, self.policy, self.world.state.attended)

    @precondition(lambda self: not self.world.state.running)
    @rule(attended=st.booleans())
    def run_again(self, attended: bool) -> None:
        self.world.begin(plan_of(), self.policy, attended=attended)

    # ── the human ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(
        gate=st.integers(0, 5),
        choice=st.sampled_from(
            ["yes", "auto", "skip", "ask", "comment", "retry", "accept", "replan", "stop", "", "sudo"]
        ),
        text=st.sampled_from(["", "use argon2"]),
    )
    def answer(self, gate: int, choice: str, text: str) -> None:
        gates = list(self.world.state.gates)
        name = gates[gate % len(gates)] if gates else "G1"
        self._obey(cmd.Answer(gate=name, choice=choice, text=text))

    @rule(task=TASKS, text=st.sampled_from(["", "mind the gap"]))
    def steer_skip_retry(self, task: str, text: str) -> None:
        for order in (cmd.Steer(task=task, text=text), cmd.Retry(task=task, text=text)):
            self._obey(order)

    @rule(task=TASKS, from_tree=st.sampled_from([None, True, False]), rung=st.sampled_from(["", "h", "o", "x"]))
    def kept_work(self, task: str, from_tree: bool | None, rung: str) -> None:
        """Whatever was put aside: allowed, accepted, put to the council or gone on from."""
        self._obey(cmd.Allow(task=task, entry="edit tests/d1.json"))
        self._obey(cmd.Accept(task=task))
        self._obey(cmd.CallCouncil(task=task))
        self._obey(cmd.Retry(task=task, text="again", from_tree=from_tree, rung=rung))

    @rule(task=TASKS)
    def skip(self, task: str) -> None:
        self._obey(cmd.Skip(task=task))

    @rule(
        order=st.sampled_from(
            [
                cmd.Pause(),
                cmd.Resume(),
                cmd.Resume(),
                cmd.LandNow(),
                cmd.SetAuto(gate_kind="fix", auto=True),
                cmd.SetAuto(gate_kind="task", auto=True),
                cmd.SetAuto(gate_kind="task", auto=False),
                cmd.SetAttended(attended=True),
                cmd.SetAttended(attended=False),
            ]
        )
    )
    def command(self, order: cmd.AnyCommand) -> None:
        self._obey(order)

    @rule(order=st.sampled_from([cmd.Stop(), cmd.Stop(now=True), cmd.Cancel()]))
    def end(self, order: cmd.AnyCommand) -> None:
        self._obey(order)

    @rule(task=TASKS, name=st.sampled_from(["001-a/001-x", "001-a/002-y"]))
    def contradict(self, task: str, name: str) -> None:
        """An agent objects to a learning; two voices are a question to the human, which nothing waits for."""
        self.world.append(ev.LearningDisputed(name=name, why="no", task=task))

    @rule(seed=SEEDS)
    def edit_the_plan(self, seed: int) -> None:
        """Tasks come, go, change and are ticked off by hand."""
        rng = random.Random(seed)
        tasks: list[TaskSpec] = [replace(task, done=rng.random() < 0.1) for task in random_plan(rng)]
        self.world.append(ev.PlanChanged(plan=plan_of(*tasks, phases=rng.randrange(1, 3)), summary="edited"))

    @rule(seed=SEEDS)
    def edit_the_config(self, seed: int) -> None:
        # What bounds the past stays: what was done under the old numbers cannot be held against the new ones.
        old = self.policy
        kept = {"ladder": old.ladder, "budget": old.budget, "max_iterations": old.max_iterations, "review": old.review}
        self.policy = replace(random_policy(random.Random(seed)), **kept)
        self.world.append(ev.PolicyChanged(policy=self.policy, summary="edited"))

    def _ended_well(self) -> None:
        state = self.world.state
        assert state.outcome in NAMED
        assert state.outcome_reason
        if state.outcome == "done":
            assert all(task.status in (Status.COMPLETE, Status.SKIPPED) for task in state.tasks.values())

    def _obey(self, order: cmd.AnyCommand) -> None:
        """Obeyed, or refused with words; a refusal changes nothing."""
        outcome = obey(self.world.state, order)
        assert outcome.detail
        assert outcome.ok or not outcome.events
        self.world.append(*outcome.events)

    # ── what always holds ──────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def within_bounds(self) -> None:
        if hasattr(self, "world"):
            assert_invariants(self.world)

    @invariant()
    def a_commit_is_made_once(self) -> None:
        if not hasattr(self, "world"):
            return
        made = [one.event.task for one in self.world.log if isinstance(one.event, ev.Committed)]
        reopened = {one.event.task for one in self.world.log if isinstance(one.event, ev.TaskStarted)}
        assert set(made) <= reopened
        again = Counter(one.event.task for one in self.world.log if isinstance(one.event, ev.RetryRequested))
        for one in self.world.log:
            if isinstance(one.event, (ev.BranchMoved, ev.TasksReopened)):
                again.update(one.event.reopened if isinstance(one.event, ev.BranchMoved) else one.event.tasks)
        words: dict[str, tuple[str, ...]] = {}
        for one in self.world.log:
            if isinstance(one.event, (ev.SprintCreated, ev.PlanChanged)):
                for task in one.event.plan.tasks():
                    again[task.id] += words.get(task.id, task.accept) != task.accept
                    words[task.id] = task.accept
        # A complete task that was opened again, by a human, by other words, or because its commit went, may be
        # committed once more.
        assert all(count <= 1 + again[task] for task, count in Counter(made).items()), "a task was committed twice"

    @invariant()
    def a_learning_is_asked_about_once(self) -> None:
        if not hasattr(self, "world"):
            return
        asked = [gate.tree for gate in self.world.state.open_gates() if gate.kind == "learning"]
        assert len(asked) == len(set(asked))

    def teardown(self) -> None:
        """Left alone from here on, with nobody attending, the sprint comes to a named end; and it can be replayed."""
        if not hasattr(self, "world"):
            return
        world = self.world
        world.script = happy
        if world.state.running:
            self._obey(cmd.SetAttended(attended=False))
            if world.state.paused:
                self._obey(cmd.Resume())
            world.run()
            assert not world.state.running, f"waits for nobody: {world.state.inflight}, {decide(world.state)}"
            self._ended_well()
        cut = len(world.log) // 2
        thawed = msgspec.json.decode(msgspec.json.encode(fold(world.log[:cut])), type=State)
        assert fold(world.log[cut:], thawed) == world.state


Loop.TestCase.settings = settings(
    max_examples=examples(400),
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestLoop = Loop.TestCase
