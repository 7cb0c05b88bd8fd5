"""Properties of the loop over thousands of random histories: whatever the world does, these hold."""

from __future__ import annotations

import math
import random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer, Retry, Skip, Steer, Stop
from engine.core.decide import decide
from engine.core.fold import apply, fold
from engine.core.model import (
    AgentResult,
    Finding,
    MachineFault,
    ProofVerdict,
    Question,
    ResultKind,
    Role,
    TaskSpec,
    Tokens,
    Verdict,
)
from engine.core.orders import obey
from engine.core.policy import BudgetPolicy, LadderPolicy, LimitPolicy, Policy, Rung
from engine.core.state import State, Status
from engine.core.vocabulary import Outcome
from tests.core.world import (
    World,
    approved,
    changes_wanted,
    checks,
    failing,
    happy,
    ok,
    outcome,
    passing,
    plan_of,
    reviews,
)
from tests.depth import examples

NAMED = set(Outcome) - {Outcome.INTERRUPTED, Outcome.ERROR}


class Chaos:
    """A world in which everything goes wrong at random."""

    def __init__(self, rng: random.Random, reserve: float, over: float = 2.0) -> None:
        """`over`: how many times its reservation a call may cost; 1 for agents that keep to their cap."""
        self.rng = rng
        self.reserve = reserve
        self.over = over

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        rng = self.rng
        if rng.random() < 0.04:
            kind = rng.choice(["transient", "permanent", "recoverable"])
            fault = rng.choice([None, None, *MachineFault])
            return [ev.EffectFailed(id=effect.id, kind=kind, message="disk sneezed", hint="wipe it", fault=fault)]
        match effect:
            case ef.CallAgent() if rng.random() < 0.35:
                kind = rng.choice([kind for kind in ResultKind if kind is not ResultKind.OK])
                cost = rng.choice([None, 0.0, self.reserve, self.reserve * self.over, math.nan, -3.0])
                reset = rng.choice([None, world.at - 5, world.at + 60, world.at + 3e8])
                result = AgentResult(kind=kind, cost_usd=None, error="no", reset_at=reset, tokens=Tokens(input=1))
                result = replace(result, silent=rng.random() < 0.2, session=rng.choice(["", "s"]))
                charged = _charged(cost, effect.reserve_usd)
                return [replace(outcome(effect, result), charged_usd=charged)]
            case ef.CallAgent(role=Role.REVIEWER):
                said: list[ev.AnyEvent] = [outcome(effect, ok(self.reserve))]
                for name in effect.members():
                    if (roll := rng.random()) > 0.2:
                        said += reviews(world, effect, approved if roll > 0.5 else changes_wanted, (name,))
                return said
            case ef.CallAgent(role=Role.SCOPE_JUDGE) if rng.random() < 0.3:
                judged = ev.ScopeJudged(id=effect.id, task=effect.task, in_scope=False, reason="renames a public name")
                return [outcome(effect, ok(self.reserve)), *([judged] if rng.random() < 0.7 else [])]
            case ef.CallAgent(role=Role.IMPLEMENTER):
                claim = rng.choice(["complete", "complete", "blocked", "failed", ""])
                return [outcome(effect, ok(rng.choice([0.0, self.reserve * self.over]), claim=claim))]
            case ef.CheckScope() if rng.random() < 0.3:
                return [
                    ev.ScopeChecked(
                        id=effect.id,
                        task=effect.task,
                        verdict=rng.choice([Verdict.FAIL, Verdict.ERROR]),
                        tree=f"t{rng.randrange(4)}",
                        reverted=("x.py",),
                    )
                ]
            case ef.CheckScope():
                facts = happy(world, effect)
                scoped = facts[0]
                assert isinstance(scoped, ev.ScopeChecked)
                return [replace(scoped, tree=f"t{rng.randrange(5)}")]
            case ef.RunChecks():
                roll = rng.random()
                if roll < 0.45:
                    verdict = rng.choice([Verdict.FAIL, Verdict.ERROR, Verdict.NOT_RUN])
                    ids = tuple(f"test_{rng.randrange(3)}" for _ in range(rng.randrange(3)))
                    return [checks(effect, failing(*ids, passed=rng.randrange(5), verdict=verdict))]
                if roll < 0.5:
                    finding = Finding(
                        rule="S1", text="hole", severity=rng.choice(["critical", "error", "human", "human", "note"])
                    )
                    return [checks(effect, passing(), findings=(finding,))]
                if roll < 0.52:
                    return [checks(effect)]
                if effect.purpose == "task" and roll < 0.8:
                    proof = rng.choice(list(ProofVerdict))
                    asked = Question(rule="test-changed", text="a test", allow=f"edit tests/d{rng.randrange(3)}.json")
                    questions = (asked,) if proof is ProofVerdict.QUESTION else ()
                    return [replace(checks(effect, passing()), proof=proof, proof_reason="so", questions=questions)]
            case ef.Commit() if rng.random() < 0.2:
                merged = rng.choice(["", "merged"])
                same = rng.random() < 0.5
                moved = ev.BaseMoved(id=effect.id, task=effect.task, base="c9", tree=merged, conflicts=("a.py",))
                return [replace(moved, same_patch=same, landed=("another",))]
            case ef.Probe() if rng.random() < 0.3:
                return [ev.MachineProbed(id=effect.id, fault=effect.fault, ok=False, detail="still")]
            case ef.RestoreBranch() if rng.random() < 0.6:
                done = tuple(task.id for task in world.state.tasks.values() if task.commit and task.ended)
                gone = done[rng.randrange(len(done) + 1) :]
                return [
                    ev.BranchMoved(
                        id=effect.id, commit=f"b{len(world.log)}", tree="tb", backup="b", reason="back", reopened=gone
                    )
                ]
            case ef.Land():
                return [ev.Landed(id=effect.id, ok=False, detail="your files changed")]
            case _:
                pass
        return happy(world, effect)


def _charged(cost: float | None, reserve: float) -> float:
    if cost is None or not math.isfinite(cost) or cost < 0:
        return reserve
    return cost


def random_plan(rng: random.Random) -> tuple[TaskSpec, ...]:
    count = rng.randrange(1, 6)
    return tuple(
        TaskSpec(
            id=f"1.{index}",
            title=f"Task {index}",
            accept=tuple(f"c{n}" for n in range(rng.randrange(3))),
            depends_on=tuple(f"1.{other}" for other in range(index) if rng.random() < 0.25),
            priority=rng.randrange(3),
            complexity=rng.choice([None, 0, 7, 14]),
        )
        for index in range(count)
    )


def random_policy(rng: random.Random) -> Policy:
    reserve = rng.choice([0.1, 0.5])
    rungs = tuple(Rung(name=name, agent=rng.choice(["claude", "codex"]), reserve_usd=reserve) for name in "hso")
    return Policy(
        max_iterations=rng.randrange(1, 12),
        lanes=rng.randrange(1, 6),
        review=rng.choice(["task", "task", "batch", "batch", True, False]),
        scope_judge=rng.random() < 0.3,
        auto_land=rng.random() < 0.3,
        ladder=LadderPolicy(
            rungs=rungs[: rng.randrange(1, 4)],
            policy=rng.choice(["classic", "index"]),
            fallback=rng.choice([(), ("codex",)]),
        ),
        budget=BudgetPolicy(session_usd=rng.choice([1.0, 5.0, 1000.0]), max_calls=rng.choice([0, 0, 40])),
        limits=LimitPolicy(calls_per_hour=rng.choice([0, 3, 100])),
    )


def play(seed: int, *, attended: bool, kills: float = 0.0, over: float = 2.0) -> World:
    """A whole sprint with random facts, random answers, random kills of the engine."""
    rng = random.Random(seed)
    policy = random_policy(rng)
    world = World(Chaos(rng, policy.ladder.rungs[0].reserve_usd, over), max_steps=20_000)
    world.begin(plan_of(*random_plan(rng), phases=rng.randrange(1, 3)), policy, attended=attended)
    human_moves = 0
    while world.state.running:
        assert_invariants(world)
        if world.turn():
            continue
        if kills and rng.random() < kills:
            kill_and_resume(world, policy, attended)
            continue
        if world.state.inflight:
            world.land(rng.choice(list(world.state.inflight.values())))
            continue
        human_moves += 1
        assert attended, "an unattended sprint waits for nobody"
        answer_something(world, rng, final=human_moves > 60)
    assert_invariants(world)
    return world


def kill_and_resume(world: World, policy: Policy, attended: bool) -> None:
    for effect_id in list(world.state.inflight):
        world.append(ev.EffectInterrupted(id=effect_id, reason="killed"))
    world.begin(plan_of(), policy, attended=attended)


def answer_something(world: World, rng: random.Random, final: bool) -> None:
    state = world.state
    gate = rng.choice(state.open_gates())
    choices = ["stop"] if final and "stop" in gate.choices else list(gate.choices)
    choice = "yes" if final and "yes" in gate.choices else rng.choice(choices)
    orders = [Answer(gate=gate.id, choice=choice, text="do it so"), Steer(task=gate.task, text="mind the gap")]
    if rng.random() < 0.1:
        orders.append(rng.choice([Skip(task=gate.task), Stop()]))
    for order in orders:
        world.append(*obey(state, order).events)
        state = world.state


def assert_invariants(world: World) -> None:
    state, policy = world.state, world.state.policy
    reserve = max(rung.reserve_usd for rung in policy.ladder.rungs)
    # These agents cost up to twice their reservation: each call that was under way may pass the budget by one more.
    in_parallel = max(1, policy.lanes) * 5 + 2
    assert state.spent_usd <= policy.budget.session_usd + reserve * in_parallel + 1e-9
    for task in state.tasks.values():
        assert task.iteration <= policy.max_iterations + task.granted
        if task.status is Status.PARKED:
            assert task.kept is not None and task.questions, "what waits for a permission is kept"
        if task.commit:
            assert task.status in (Status.RUNNING, Status.COMPLETE), "what is on the branch is not called unfinished"
        if task.status is Status.COMPLETE and (task.commit or not task.spec.done):  # else ticked off by the user
            assert task.commit
            assert task.scope_verdict is Verdict.PASS
            assert task.checks
            assert all(result.verdict is Verdict.PASS for result in task.checks if result.required)
            assert not any(finding.severity in ("error", "critical") for finding in task.findings)
            assert task.proof in (None, ProofVerdict.PROVEN, ProofVerdict.HARMLESS) or task.overridden
            if any(finding.severity == "human" for finding in task.findings):
                assert any(
                    gate.task == task.id and gate.choice in ("yes", "auto", "accept") for gate in state.gates.values()
                )
            if policy.review and not task.overridden:
                assert task.review is not None
                assert task.review.approved
    for effect in state.inflight.values():
        if isinstance(effect, ef.RunChecks) and effect.task in state.tasks:
            known = {one.tree for one in state.tasks[effect.task].judged}
            assert effect.tree not in known, "a tree that failed is not judged a second time"
    assert math.isfinite(state.spent_usd)


@pytest.mark.parametrize("attended", [False, True], ids=["unattended", "attended"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(1000), deadline=None, suppress_health_check=list(HealthCheck))
def test_every_run_ends_in_a_named_state_within_its_bounds(attended: bool, seed: int) -> None:
    world = play(seed, attended=attended)
    assert world.state.outcome in NAMED
    assert world.state.outcome_reason
    if world.state.outcome == "done":
        assert all(task.status in (Status.COMPLETE, Status.SKIPPED) for task in world.state.tasks.values())


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(600), deadline=None, suppress_health_check=list(HealthCheck))
def test_agents_that_keep_to_their_cap_never_pass_the_budget(seed: int) -> None:
    """However many lanes and councillors call at once, and however often the engine dies with calls under way."""
    world = play(seed, attended=seed % 2 == 0, kills=0.03, over=1.0)
    assert world.state.spent_usd <= world.state.policy.budget.session_usd + 1e-9


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_a_fixed_sweep_of_histories(start: int) -> None:
    for seed in range(start, start + 100):
        assert play(seed, attended=seed % 2 == 0, kills=0.02 if seed % 3 == 0 else 0.0).state.outcome in NAMED


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(600), deadline=None, suppress_health_check=list(HealthCheck))
def test_kills_at_any_moment_change_nothing_but_the_bill(seed: int) -> None:
    world = play(seed, attended=False, kills=0.03)
    assert world.state.outcome in NAMED


@given(seed=st.integers(0, 2**32), share=st.floats(0, 1))
@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
def test_replay_gives_the_same_state_wherever_it_is_cut(seed: int, share: float) -> None:
    world = play(seed, attended=seed % 2 == 0)
    cut = int(len(world.log) * share)
    prefix = fold(world.log[:cut])
    assert fold(world.log[cut:], prefix) == world.state
    # A snapshot is only a cache: through JSON and back it must be the same state.
    thawed = msgspec.json.decode(msgspec.json.encode(prefix), type=State)
    assert thawed == prefix
    assert fold(world.log[cut:], thawed) == world.state
    assert decide(thawed) == decide(prefix)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_task_is_committed_once_and_only_after_its_evidence(seed: int) -> None:
    world = play(seed, attended=True)
    judged: dict[str, str] = {}
    commits: dict[str, int] = {}
    for entry in world.log:
        match entry.event:
            case ev.ChecksFinished(purpose="task"):
                passed = bool(entry.event.results) and all(
                    result.verdict is Verdict.PASS for result in entry.event.results if result.required
                )
                if passed:
                    judged[entry.event.task] = entry.event.tree
            case ev.Committed():
                assert judged.get(entry.event.task) == entry.event.tree, "committed a tree that was not judged"
                commits[entry.event.task] = commits.get(entry.event.task, 0) + 1
            case _:
                pass
    assert all(count == 1 for count in commits.values())


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_retried_sprint_ends_again(seed: int) -> None:
    world = play(seed, attended=False)
    for task in list(world.state.tasks.values()):
        world.append(*obey(world.state, Retry(task=task.id, text="again")).events)
    world.begin(plan_of(), world.state.policy, attended=False)
    while world.state.running:
        if not world.turn():
            world.land(next(iter(world.state.inflight.values())))
    assert world.state.outcome in NAMED


def test_unknown_events_and_facts_change_nothing() -> None:
    world = World(happy).begin(plan_of(TaskSpec(id="1.1", title="A")))
    before = world.state
    strange = ev.Unknown(type="from_the_future", raw={"type": "from_the_future", "x": 1})
    after = apply(before, ev.Envelope(seq=before.seq, stream="s", at=before.now, event=strange))
    assert after == before
