"""State: the fold of a sprint's events. Frozen values; `fold.apply` makes the next one."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core.effects import AnyEffect, CallAgent, Wait
from engine.core.forecast import PastTask
from engine.core.index_ladder import Price, RungStats
from engine.core.model import CheckResult, Disputed, Health, MachineFault, Plan, Role, Struct, Tokens, Verdict
from engine.core.planning_state import Planning, Until
from engine.core.policy import Policy
from engine.core.sprint_review_state import SprintReview
from engine.core.task_state import Status, TaskState
from engine.core.vocabulary import Choice, GateKind, Outcome, Stopping

HOUR = 3600.0


class Escalation(Struct, frozen=True, kw_only=True):
    """One climb of the ladder."""

    task: str
    iteration: int
    source: str
    target: str
    reason: str


class GateState(Struct, frozen=True, kw_only=True):
    """A question put to the human."""

    id: str
    task: str
    kind: GateKind
    title: str
    body: str = ""
    attempt: int = 0
    choices: tuple[Choice, ...] = ()
    tree: str = ""
    evidence: str = ""
    forced: bool = False
    opened_at: float = 0.0
    choice: Choice | None = None
    """None while it is open."""
    text: str = ""
    by: str = ""
    questions: tuple[tuple[str, str], ...] = ()
    """Question and answer pairs; an empty answer is still being written."""

    @property
    def open(self) -> bool:
        return self.choice is None


class Usage(Struct, frozen=True, kw_only=True):
    """What calls cost."""

    calls: int = 0
    cost_usd: float = 0.0
    tokens: Tokens = Tokens()
    successes: int = 0
    failures: int = 0
    estimated: bool = False
    """Some of the cost is an estimate or a reservation."""


class Breaker(Struct, frozen=True, kw_only=True):
    """A circuit breaker's memory of one dependency."""

    failures: int = 0
    opened_at: float = 0.0
    """0: closed."""
    reason: str = ""


class Baseline(Struct, frozen=True, kw_only=True):
    """A named ref at a milestone."""

    milestone: str
    ref: str
    commit: str
    at: float


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A saved state."""

    id: str
    commit: str
    reason: str
    at: float


class State(Struct, frozen=True, kw_only=True):
    """One sprint."""

    sprint: str = ""
    topic: str = ""
    branch: str = ""
    plan: Plan | None = None
    tasks: dict[str, TaskState] = {}
    policy: Policy = Policy()
    seq: int = 0
    now: float = 0.0
    """Time of the last event: the only clock the core knows."""
    created_at: float = 0.0
    run: str = ""
    running: bool = False
    run_started_at: float = 0.0
    active_seconds: float = 0.0
    """Wall time of earlier runs."""
    attended: bool = True
    waits: bool = True
    sandbox: str = ""
    utc_offset: float = 0.0
    outcome: Outcome | None = None
    outcome_reason: str = ""
    paused: bool = False
    stopping: Stopping = Stopping.NO
    cancelled: bool = False
    base: str = ""
    base_tree: str = ""
    head: str = ""
    """Tip of the sprint branch."""
    head_tree: str = ""
    baseline_run: str = ""
    """The run whose baseline checks are in."""
    baseline: tuple[CheckResult, ...] = ()
    base_results: tuple[CheckResult, ...] = ()
    """What the checks said of the sprint's base, before it had a commit of its own."""
    restored_run: str = ""
    """The run that looked for a good commit to go back to."""
    final: Verdict | None = None
    final_reason: str = ""
    inflight: dict[str, AnyEffect] = {}
    effect_count: int = 0
    sprint_tries: int = 0
    sprint_not_before: float = 0.0
    sprint_error: str = ""
    suspended: MachineFault | None = None
    """What the machine lacks; nothing is started until a probe says that it is there again."""
    suspended_reason: str = ""
    suspended_since: float = 0.0
    probes: int = 0
    """Probes since then that failed."""
    gates: dict[str, GateState] = {}
    """Open gates, and the last answered ones."""
    gate_count: int = 0
    auto: dict[GateKind, bool] = {}
    """Gate kinds the human set to auto (or took back)."""
    spent_usd: float = 0.0
    day: int = 0
    day_spent_usd: float = 0.0
    calls: int = 0
    boot: str = ""
    """The start of the machine that the last run ran on, and when that was by its wall clock."""
    booted_at: float = 0.0
    recent_calls: tuple[float, ...] = ()
    measured: dict[str, RungStats] = {}
    """What the repository's other sprints measured of each rung, by its name."""
    prices: dict[str, Price] = {}
    """What an implementer's call costs of late, by rung."""
    usage_by_rung: dict[str, Usage] = {}
    attempts_by_rung: dict[str, Usage] = {}
    """The implementers' part of that: reviewers and councils apart."""
    usage_by_role: dict[str, Usage] = {}
    usage_by_day: dict[str, float] = {}
    warned: tuple[str, ...] = ()
    breakers: dict[str, Breaker] = {}
    limits: dict[str, float] = {}
    """Agents that wait for a usage limit, until when."""
    escalations: tuple[Escalation, ...] = ()
    councils: int = 0
    iterations: int = 0
    health: Health = Health.PROGRESSING
    health_reason: str = "not started"
    milestones: tuple[str, ...] = ()
    """Baselines wanted and not made yet."""
    keeps: tuple[str, ...] = ()
    """Tasks whose put-aside tree is not pinned yet."""
    baselines: tuple[Baseline, ...] = ()
    checkpoint_due: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()
    checkpoint_at: float = 0.0
    land_due: bool = False
    """The human asked for landing."""
    land_run: str = ""
    """The run that tried to land by itself."""
    landed: str = ""
    learnings: tuple[str, ...] = ()
    disputed: dict[str, Disputed] = {}
    """Learnings that agents contradict, by name."""
    notes: tuple[str, ...] = ()
    planning: Planning | None = None
    """The planning conversation, while there is one and after."""
    replanned: tuple[str, ...] = ()
    """Tasks that were planned anew: once by itself."""
    sprint_review: SprintReview = SprintReview()
    """The final review of the whole."""
    until: Until = Until.SPRINT
    past: tuple[PastTask, ...] = ()
    """Finished tasks of other sprints."""

    def calls_in_flight(self) -> list[CallAgent]:
        return [effect for effect in self.inflight.values() if isinstance(effect, CallAgent)]

    def calls_of_the_hour(self) -> tuple[float, ...]:
        """When the calls were made that still count against the permits, oldest first."""
        calls, since = self.recent_calls, self.now
        first = next((index for index, call in enumerate(calls) if call + HOUR > since), len(calls))
        return calls[first:]

    def reserved_usd(self) -> float:
        return sum(call.reserve_usd for call in self.calls_in_flight())

    def with_task(self, task: TaskState) -> State:
        return replace(self, tasks={**self.tasks, task.id: task})

    def task_in_flight(self, task: str) -> list[AnyEffect]:
        return [
            effect
            for effect in self.inflight.values()
            if effect.task == task or (isinstance(effect, CallAgent) and task in effect.trees)
        ]

    def open_gates(self) -> list[GateState]:
        return [gate for gate in self.gates.values() if gate.open]

    def auto_mode(self, kind: GateKind) -> bool:
        """Gates of this kind are answered by themselves. What only a human can move never is."""
        match kind:
            case GateKind.FIX:
                return self.auto.get(kind, self.policy.gates.fix == "auto")
            case GateKind.TASK:
                return self.auto.get(kind, self.policy.gates.task == "auto")
            case (
                GateKind.BLOCKED
                | GateKind.PERMISSION
                | GateKind.QUESTION
                | GateKind.PLAN
                | GateKind.PRD
                | GateKind.SPRINT
                | GateKind.LEARNING
            ):
                return False
            case _:
                assert_never(kind)

    def rung_for(self, task: TaskState, role: Role) -> int:
        """The rung a role works at: the implementer's climbs with the task, the others have their own."""
        top = len(self.policy.ladder.rungs) - 1
        if role is Role.IMPLEMENTER:
            return min(task.rung, top)
        return min(max(self.policy.ladder.role_rung(role), task.role_rungs.get(role.value, 0)), top)

    def rung_name(self, rung: int) -> str:
        """The name of a rung; empty where the ladder has none of that number."""
        rungs = self.policy.ladder.rungs
        return rungs[rung].name if 0 <= rung < len(rungs) else ""

    def held(self) -> bool:
        """Something under way must land before the run may end; letting time pass for an ended task must not."""
        for effect in self.inflight.values():
            task = self.tasks.get(effect.task)
            if not isinstance(effect, Wait) or task is None or not task.ended:
                return True
        return False

    def working(self) -> bool:
        """More than a wait is under way."""
        return any(not isinstance(effect, Wait) for effect in self.inflight.values())

    def progress(self) -> tuple[int, int]:
        """Completed tasks of all."""
        done = [task for task in self.tasks.values() if task.status is Status.COMPLETE]
        return len(done), len(self.tasks)
