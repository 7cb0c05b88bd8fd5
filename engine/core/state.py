"""State: the fold of a sprint's events. Frozen values; `fold.apply` makes the next one."""

from __future__ import annotations

from enum import StrEnum

from engine.core.effects import AnyEffect, CallAgent, Wait
from engine.core.index_ladder import RungStats
from engine.core.model import (
    CheckResult,
    Decision,
    Diagnosis,
    FileChange,
    Finding,
    Health,
    Plan,
    Review,
    Role,
    SessionSummary,
    Struct,
    TaskSpec,
    Tokens,
    Verdict,
)
from engine.core.policy import Policy

HISTORY = 12
"""Iteration records kept per task; the journal has them all."""
HOUR = 3600.0


class Status(StrEnum):
    """Where a task is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    HALTED = "halted"
    BUDGET_EXHAUSTED = "budget_exhausted"


STATUS_OF = {
    Decision.COMPLETE: Status.COMPLETE,
    Decision.BLOCKED: Status.BLOCKED,
    Decision.SKIPPED: Status.SKIPPED,
    Decision.HALT: Status.HALTED,
    Decision.BUDGET_EXHAUSTED: Status.BUDGET_EXHAUSTED,
}


class Step(StrEnum):
    """What a running task needs next."""

    NEXT = "next"
    """A new iteration."""
    ROLLBACK = "rollback"
    PREPARE = "prepare"
    IMPLEMENT = "implement"
    SCOPE = "scope"
    SCOPE_JUDGE = "scope_judge"
    CHECKS = "checks"
    REVIEW = "review"
    DECIDE = "decide"
    FIX_GATE = "fix_gate"
    BLOCKED_GATE = "blocked_gate"
    COUNCIL = "council"
    TASK_GATE = "task_gate"
    COMMIT = "commit"
    END = "end"


class Record(Struct, frozen=True, kw_only=True):
    """What an iteration left: the facts that stuck detection and the monitor look at."""

    iteration: int
    rung: int
    tree: str = ""
    files: tuple[str, ...] = ()
    green: bool = False
    """Every check passed."""
    passing: int = 0
    total: int = 0
    failing: tuple[str, ...] = ()
    error: str = ""
    """What failed first, in words that repeat when the failure repeats."""
    changed: bool = False
    """The attempt changed the tree."""
    added: int = 0
    removed: int = 0
    created: int = 0
    modified: int = 0
    deleted: int = 0
    coverage: float | None = None
    build_errors: int = 0
    build_warnings: int = 0
    new_tests: int = 0
    at: float = 0.0
    decision: Decision | None = None
    reason: str = ""


class Feedback(Struct, frozen=True, kw_only=True):
    """What the last iteration left for the next attempt to hear."""

    iteration: int
    decision: Decision
    reason: str
    error: str = ""
    reverted: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    """The ones that did not pass."""
    findings: tuple[Finding, ...] = ()
    review: Review | None = None


class Escalation(Struct, frozen=True, kw_only=True):
    """One climb of the ladder."""

    task: str
    iteration: int
    source: str
    target: str
    reason: str


class TaskState(Struct, frozen=True, kw_only=True):
    """A task and all that has been measured of it."""

    spec: TaskSpec
    phase: int
    status: Status = Status.PENDING
    step: Step = Step.NEXT
    lane: int = -1
    complexity: int = 0
    rung: int = 0
    iteration: int = 0
    attempt: int = 0
    failures: dict[str, int] = {}
    """Consecutive failures by role at the present rung; success resets."""
    role_rungs: dict[str, int] = {}
    """Rungs of the roles that climbed."""
    base: str = ""
    before: str = ""
    """Tree the present attempt started from."""
    tree: str = ""
    """Tree as last judged."""
    session: str = ""
    session_rung: int = -1
    session_calls: tuple[str, ...] = ()
    """Ids of the calls the session is made of, the last few."""
    overflows: int = 0
    """Sessions of this iteration that ran out of context."""
    overflowed: bool = False
    """The last one did: once its changes are held to the scope, a fresh session takes them up."""
    earlier: SessionSummary | None = None
    """What that session did, told to the fresh one."""
    scope_verdict: Verdict | None = None
    changes: tuple[FileChange, ...] = ()
    attempt_changes: tuple[FileChange, ...] = ()
    reverted: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: str = ""
    review: Review | None = None
    overridden: bool = False
    """The human overrode the reviewer for this tree."""
    error: str = ""
    """Why this iteration ended early."""
    claim: str = ""
    claim_text: str = ""
    summary: str = ""
    """The agent's own closing words; shown as a claim, never used."""
    fix_attempts: int = 0
    council: str = ""
    """Empty, sitting or done: once per task."""
    seats: dict[str, str] = {}
    seat_tries: dict[str, int] = {}
    diagnosis: Diagnosis | None = None
    feedback: Feedback | None = None
    comments: tuple[str, ...] = ()
    """Words of the human, given to every later attempt verbatim."""
    granted: int = 0
    """Iterations a human added by answering retry."""
    limit_waits: int = 0
    tries: int = 0
    """Transient failures of the present step."""
    long: bool = False
    """The next call gets twice the time."""
    not_before: float = 0.0
    """Backoff."""
    top_next: bool = False
    """A security-critical finding sends the next attempt to the top rung."""
    history: tuple[Record, ...] = ()
    good_tree: str = ""
    good_passing: int = -1
    health: Health = Health.PROGRESSING
    health_reason: str = ""
    recoveries: dict[str, int] = {}
    recovery: str = ""
    decision: Decision | None = None
    reason: str = ""
    action: str = ""
    blocker: str = ""
    """What stands in the way, in words."""
    mend: bool = False
    """The blocker is outside the task (a login, a bill): mending it lets the same iteration go on."""
    again: Step | None = None
    """Where a mended task goes on; None: with a new iteration."""
    gate: str = ""
    calls: dict[str, int] = {}
    """Agent calls by rung name."""
    spent_usd: float = 0.0
    commit: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    scope_violations: int = 0
    skip_asked: bool = False

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def ended(self) -> bool:
        return self.status not in (Status.PENDING, Status.RUNNING)


class GateState(Struct, frozen=True, kw_only=True):
    """A question put to the human."""

    id: str
    task: str
    kind: str
    title: str
    body: str = ""
    attempt: int = 0
    choices: tuple[str, ...] = ()
    tree: str = ""
    evidence: str = ""
    forced: bool = False
    opened_at: float = 0.0
    choice: str = ""
    """Empty while it is open."""
    text: str = ""
    by: str = ""
    questions: tuple[tuple[str, str], ...] = ()
    """Question and answer pairs; an empty answer is still being written."""

    @property
    def open(self) -> bool:
        return not self.choice


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
    outcome: str = ""
    outcome_reason: str = ""
    paused: bool = False
    stopping: str = ""
    """Empty, graceful or now."""
    cancelled: bool = False
    base: str = ""
    base_tree: str = ""
    head: str = ""
    """Tip of the sprint branch."""
    head_tree: str = ""
    baseline_run: str = ""
    """The run whose baseline checks are in."""
    baseline: tuple[CheckResult, ...] = ()
    final: Verdict | None = None
    final_reason: str = ""
    inflight: dict[str, AnyEffect] = {}
    effect_count: int = 0
    sprint_tries: int = 0
    sprint_not_before: float = 0.0
    sprint_error: str = ""
    gates: dict[str, GateState] = {}
    """Open gates, and the last answered ones."""
    gate_count: int = 0
    auto: dict[str, bool] = {}
    """Gate kinds the human set to auto (or took back)."""
    spent_usd: float = 0.0
    day: int = 0
    day_spent_usd: float = 0.0
    calls: int = 0
    recent_calls: tuple[float, ...] = ()
    measured: dict[str, RungStats] = {}
    """What the repository's other sprints measured of each rung, by its name."""
    usage_by_rung: dict[str, Usage] = {}
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
    notes: tuple[str, ...] = ()

    def calls_in_flight(self) -> list[CallAgent]:
        return [effect for effect in self.inflight.values() if isinstance(effect, CallAgent)]

    def calls_of_the_hour(self) -> tuple[float, ...]:
        """When the calls were made that still count against the permits, oldest first."""
        calls, since = self.recent_calls, self.now
        first = next((index for index, call in enumerate(calls) if call + HOUR > since), len(calls))
        return calls[first:]

    def reserved_usd(self) -> float:
        return sum(call.reserve_usd for call in self.calls_in_flight())

    def task_in_flight(self, task: str) -> list[AnyEffect]:
        return [effect for effect in self.inflight.values() if effect.task == task]

    def open_gates(self) -> list[GateState]:
        return [gate for gate in self.gates.values() if gate.open]

    def auto_mode(self, kind: str) -> bool:
        configured = self.policy.gates.fix if kind == "fix" else self.policy.gates.task
        return self.auto.get(kind, configured == "auto")

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
        done = sum(task.status is Status.COMPLETE for task in self.tasks.values())
        return done, len(self.tasks)
