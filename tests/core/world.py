"""A world for the pure core: performs effects with made-up facts, keeps the history, checks invariants as it goes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.budget import charge
from engine.core.decide import decide
from engine.core.fold import apply
from engine.core.model import (
    AgentResult,
    CheckKind,
    CheckResult,
    Criterion,
    Diagnosis,
    FileChange,
    Finding,
    Issue,
    PhaseSpec,
    Plan,
    ResultKind,
    Review,
    Role,
    TaskSpec,
    TestCounts,
    Tokens,
    Verdict,
)
from engine.core.policy import Policy
from engine.core.state import State


def plan_of(*tasks: TaskSpec, phases: int = 1) -> Plan:
    groups = [tasks[index::phases] for index in range(phases)]
    return Plan(
        title="A plan",
        phases=tuple(
            PhaseSpec(id=str(index + 1), title=f"Phase {index + 1}", tasks=tuple(group))
            for index, group in enumerate(groups)
            if group
        ),
    )


def passing(tree: str = "t", count: int = 3) -> CheckResult:
    return CheckResult(
        name="tests", kind=CheckKind.TESTS, verdict=Verdict.PASS, counts=TestCounts(total=count, passed=count)
    )


def failing(*ids: str, passed: int = 2, verdict: Verdict = Verdict.FAIL, reason: str = "") -> CheckResult:
    total = passed + len(ids)
    return CheckResult(
        name="tests",
        kind=CheckKind.TESTS,
        verdict=verdict,
        reason=reason or f"{len(ids)} failing: {', '.join(ids)}",
        failing=ids,
        counts=TestCounts(total=total, passed=passed, failed=len(ids)),
    )


def approved(task: TaskSpec) -> Review:
    return Review(approved=True, criteria=tuple(Criterion(text=text, met=True) for text in task.accept), summary="fine")


def changes_wanted(task: TaskSpec) -> Review:
    return Review(
        approved=False,
        criteria=tuple(Criterion(text=text, met=False) for text in task.accept),
        issues=(Issue(text="too slow", fix="cache it", alternative="index it", confidence="high"),),
    )


Script = Callable[["World", ef.AnyEffect], list[ev.AnyEvent]]


@dataclass
class World:
    """Runs a sprint with the real `decide` and `apply`, and facts from a script."""

    script: Script
    state: State = field(default_factory=State)
    log: list[ev.Envelope] = field(default_factory=list)
    issued: set[str] = field(default_factory=set)
    started: list[ef.AnyEffect] = field(default_factory=list)
    at: float = 1_000_000.0
    steps: int = 0
    max_steps: int = 3000

    def begin(
        self, plan: Plan, policy: Policy | None = None, *, attended: bool = False, waits: bool = True, **more: object
    ) -> World:
        if not self.state.sprint:
            self.append(ev.SprintCreated(sprint="001-demo", plan=plan, branch="devteam/001-demo", topic="demo"))
        self.append(
            ev.RunStarted(
                run=f"run{len(self.log)}",
                pid=1,
                policy=policy or Policy(),
                attended=attended,
                waits=waits,
                sandbox="none",
                version="t",
                **more,  # type: ignore[arg-type]
            )
        )
        return self

    def append(self, *events: ev.AnyEvent) -> None:
        for event in events:
            envelope = ev.Envelope(seq=len(self.log) + 1, stream="001-demo", at=self.at, event=event)
            # What is recorded must survive its own JSON form.
            self.log.append(ev.decode_envelope(ev.encode_envelope(envelope)))
            self.state = apply(self.state, self.log[-1])

    def turn(self) -> bool:
        """One decision; False when there is nothing to do."""
        self.steps += 1
        assert self.steps < self.max_steps, f"no end in sight: {self.state.tasks}"
        decisions = decide(self.state)
        assert not (decisions.events and decisions.effects)
        if decisions.events:
            self.append(*decisions.events)
            return True
        for effect in decisions.effects:
            assert effect.id not in self.issued, f"issued twice: {effect.id}"
            self.issued.add(effect.id)
            self.started.append(effect)
            self.append(ev.EffectStarted(effect=effect))
            if isinstance(effect, ef.Finish):  # in the same transaction, as the runner has it
                self.append(ev.RunEnded(run=self.state.run, outcome=effect.outcome, reason=effect.reason))
        return bool(decisions.effects)

    def land(self, effect: ef.AnyEffect) -> None:
        """One effect under way ends."""
        if isinstance(effect, ef.Wait):
            self.at = max(self.at, effect.until)
            self.append(ev.WaitEnded(id=effect.id))
            return
        self.at += 1.0
        self.append(*self.script(self, effect))

    def run(self, pick: Callable[[list[ef.AnyEffect]], ef.AnyEffect] = lambda waiting: waiting[0]) -> State:
        """To the end of the run, or until only the human can move it."""
        while self.state.running:
            if self.turn():
                continue
            if not self.state.inflight:
                return self.state
            self.land(pick(list(self.state.inflight.values())))
        return self.state

    def decisions(self, task: str) -> list[str]:
        return [
            entry.event.decision.value
            for entry in self.log
            if isinstance(entry.event, ev.Decided) and entry.event.task == task
        ]

    def calls(self, role: Role = Role.IMPLEMENTER) -> list[str]:
        return [effect.rung.name for effect in self.started if isinstance(effect, ef.CallAgent) and effect.role is role]


def outcome(effect: ef.CallAgent, result: AgentResult) -> ev.AgentFinished:
    return ev.AgentFinished(
        id=effect.id,
        task=effect.task,
        role=effect.role,
        rung=effect.rung,
        result=result,
        iteration=effect.iteration,
        seat=effect.seat,
        tasks=tuple(effect.trees),
        charged_usd=charge(result, effect.reserve_usd),
        reserved_usd=effect.reserve_usd,
    )


def ok(cost: float = 0.01, **more: object) -> AgentResult:
    return AgentResult(kind=ResultKind.OK, cost_usd=cost, tokens=Tokens(input=10, output=5), session="s", **more)  # type: ignore[arg-type]


def reviews(
    world: World, effect: ef.CallAgent, say: Callable[[TaskSpec], Review], only: tuple[str, ...] = ()
) -> list[ev.AnyEvent]:
    """One review for each task the call is about (or for some of them)."""
    return [
        ev.ReviewFinished(
            id=effect.id,
            task=name,
            tree=effect.trees.get(name, effect.tree),
            review=say(world.state.tasks[name].spec),
        )
        for name in only or effect.members()
    ]


def happy(world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
    """Everything goes well the first time."""
    state = world.state
    match effect:
        case ef.PrepareWorkspace():
            tree = effect.tree or state.head_tree or "t0"
            return [
                ev.WorkspaceReady(
                    id=effect.id, task=effect.task, lane=effect.lane, tree=tree, base=effect.base or state.head or "c0"
                )
            ]
        case ef.CallAgent(role=Role.REVIEWER):
            return [outcome(effect, ok()), *reviews(world, effect, approved)]
        case ef.CallAgent(role=Role.SPRINT_REVIEWER):
            return [outcome(effect, ok()), ev.SprintReviewed(id=effect.id, head=effect.tree, approved=True)]
        case ef.CallAgent(role=Role.COUNCILLOR):
            said = ev.DiagnosisGiven(id=effect.id, task=effect.task, seat=effect.seat, text="it is the cache")
            return [outcome(effect, ok()), said]
        case ef.CallAgent(role=Role.SYNTHESIST):
            diagnosis = Diagnosis(root_cause="cache", recommended_fix="drop it", test_cases=("a",))
            return [outcome(effect, ok()), ev.CouncilFinished(id=effect.id, task=effect.task, diagnosis=diagnosis)]
        case ef.CallAgent(role=Role.SCOPE_JUDGE):
            return [outcome(effect, ok()), ev.ScopeJudged(id=effect.id, task=effect.task, in_scope=True)]
        case ef.CallAgent(role=Role.ANSWERER):
            return [outcome(effect, ok()), ev.GateReplied(gate=effect.gate, id=effect.id, answer="because")]
        case ef.Survey():
            return [ev.Surveyed(id=effect.id, facts="")]
        case ef.CallAgent(role=Role.PLANNER) if state.plan is not None:
            return [outcome(effect, ok()), ev.PlanDrafted(id=effect.id, plan=state.plan)]
        case ef.CheckPlan() if state.planning is not None and state.planning.plan is not None:
            return [ev.PlanChecked(id=effect.id, version=effect.version, plan=state.planning.plan)]
        case ef.CallAgent(role=Role.PLAN_REVIEWER) if state.planning is not None:
            said_ = ev.PlanReviewed(id=effect.id, version=state.planning.version, approved=True)
            return [outcome(effect, ok()), said_]
        case ef.CallAgent():
            return [outcome(effect, ok(claim="complete"))]
        case ef.CheckScope():
            change = FileChange(path="a.py", change="modified", added=1)
            tree = f"t{world.state.seq}"
            return [
                ev.ScopeChecked(
                    id=effect.id,
                    task=effect.task,
                    verdict=Verdict.PASS,
                    tree=tree,
                    changes=(change,),
                    attempt_changes=(change,),
                )
            ]
        case ef.RunChecks():
            return [checks(effect, passing())]
        case ef.Commit():
            return [
                ev.Committed(
                    id=effect.id,
                    task=effect.task,
                    commit=f"c{len(world.log)}",
                    tree=effect.tree,
                    message=effect.message,
                    branch=state.branch,
                )
            ]
        case ef.Rollback():
            return [ev.RolledBack(id=effect.id, task=effect.task, tree=effect.tree, backup="b", reason=effect.reason)]
        case ef.RestoreBranch():
            back = ev.BranchMoved(id=effect.id, commit=state.head, tree=state.head_tree, backup="", reason="all good")
            return [back]
        case ef.KeepTree():
            ref = f"refs/devteam/001-demo/task/{effect.task}/{effect.name}"
            return [ev.TreeKept(id=effect.id, task=effect.task, tree=effect.tree, ref=ref, reason=effect.reason)]
        case ef.SaveCheckpoint():
            return [ev.CheckpointSaved(id=effect.id, checkpoint="k1", commit=state.head, reason=effect.reason)]
        case ef.CreateBaseline():
            return [ev.BaselineCreated(id=effect.id, milestone=effect.milestone, ref="r", commit=state.head)]
        case ef.Probe():
            return [ev.MachineProbed(id=effect.id, fault=effect.fault, ok=True)]
        case ef.Land():
            return [ev.Landed(id=effect.id, ok=True, commit=state.head)]
        case _:
            raise AssertionError(effect)


def checks(effect: ef.RunChecks, *results: CheckResult, findings: tuple[Finding, ...] = ()) -> ev.ChecksFinished:
    return ev.ChecksFinished(
        id=effect.id,
        task=effect.task,
        tree=effect.tree,
        base=effect.base,
        purpose=effect.purpose,
        results=results,
        findings=findings,
        evidence="e" * 8,
        iteration=effect.iteration,
    )


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


def red_checks() -> CheckResult:
    return failing("test_merged")
