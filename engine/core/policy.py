"""The settings the core decides by. A run's policy is frozen in the journal when the run starts."""

from __future__ import annotations

from engine.core.model import CheckKind, Role, Rung, Struct
from engine.core.vocabulary import Detached, GateMode, LadderKind, ReviewMode

DEFAULT_RUNGS = (
    Rung(name="haiku", agent="claude", model="haiku", reserve_usd=0.25),
    Rung(name="sonnet", agent="claude", model="sonnet", reserve_usd=1.0),
    Rung(name="opus", agent="claude", model="opus", reserve_usd=2.0),
)


class LadderPolicy(Struct, frozen=True, kw_only=True):
    """When to climb. `failures[i]` is how many failures rung i may have; the last number is the council's threshold."""

    rungs: tuple[Rung, ...] = DEFAULT_RUNGS
    failures: tuple[int, ...] = (2, 2, 3)
    policy: LadderKind = "classic"
    """classic, or index: the rung with the least expected cost per success from measured history."""
    task_value_usd: float = 20.0
    """index: above this expected cost per success the task is BLOCKED."""
    roles: dict[str, str] = {}
    """Rung name by role; unset: reviewer, councillors and synthesis at the top, scope-judge at the bottom."""
    fallback: tuple[str, ...] = ()
    """Agents that may take over, in order, while another waits for its usage limit."""

    def role_rung(self, role: Role) -> int:
        named = self.roles.get(role.value, "")
        for index, rung in enumerate(self.rungs):
            if rung.name == named:
                return index
        top = len(self.rungs) - 1
        if role is Role.SPRINT_REVIEWER:
            return self.role_rung(Role.REVIEWER)
        if role is Role.PLAN_REVIEWER:
            # Another agent than the planner's where the ladder has one: the same mind overlooks the same things.
            planner = self.rungs[self.role_rung(Role.PLANNER)].agent if self.rungs else ""
            return next((index for index in range(top, -1, -1) if self.rungs[index].agent != planner), top)
        return 0 if role in (Role.SCOPE_JUDGE, Role.ANSWERER, Role.GATHERER) else top

    def threshold(self, rung: int) -> int:
        return self.failures[min(rung, len(self.failures) - 1)] if self.failures else 2


class BudgetPolicy(Struct, frozen=True, kw_only=True):
    """Money, calls and wall time. A reservation is made before each call."""

    session_usd: float = 10.0
    day_usd: float = 50.0
    warn_percent: float = 80.0
    low_percent: float = 20.0
    """Under this share left: no escalation; the task ends BUDGET_EXHAUSTED."""
    max_calls: int = 0
    """Calls a sprint may make; 0: no bound of its own."""
    max_seconds: float = 0.0
    """Wall time a sprint may take; 0: no bound of its own."""


class LimitPolicy(Struct, frozen=True, kw_only=True):
    """How fast agents may be called, and how long a provider's limit may be waited for."""

    calls_per_hour: int = 100
    max_wait_seconds: float = 6 * 3600.0


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Transient errors: tries with backoff."""

    attempts: int = 3
    delay_seconds: float = 1.0
    multiplier: float = 2.0
    jitter: float = 0.25


class BreakerPolicy(Struct, frozen=True, kw_only=True):
    """closed → open after consecutive failures of one dependency → half-open after a pause."""

    enabled: bool = True
    threshold: int = 5
    reset_seconds: float = 60.0


class GatePolicy(Struct, frozen=True, kw_only=True):
    """When the human is asked: gated or auto."""

    fix: GateMode = "gated"
    task: GateMode = "gated"
    force_fix_at: int = 3
    """From this attempt on the fix gate is always asked when somebody attends."""
    detached: Detached = Detached.CONTINUE
    """What happens when the last one who watches leaves."""
    lease_seconds: float = 12 * 3600.0
    """Longest time a run goes on with nobody watching; 0: no bound."""


class TimeoutPolicy(Struct, frozen=True, kw_only=True):
    """Seconds; the seeds' defaults."""

    implementation: float = 300.0
    checks: float = 120.0
    review: float = 60.0
    idle: float = 120.0
    """An agent that says nothing this long is ended."""
    extend: float = 4.0
    """An agent that still works at its time is given up to so many times as long; 1: it is ended."""


class MonitorPolicy(Struct, frozen=True, kw_only=True):
    """The health rules."""

    window: int = 3
    recoveries: int = 2
    """Recoveries per status, then the human."""
    auto_rollback: bool = True
    rollback_checks: tuple[CheckKind, ...] = (CheckKind.BUILD, CheckKind.TESTS, CheckKind.TYPES)
    """Kinds of checks a commit is judged by when the branch goes back; where there is none of them, all."""
    rollback_search: int = 10
    """How many commits are looked at for a good one."""


class CheckpointPolicy(Struct, frozen=True, kw_only=True):
    """Automatic checkpoints and baselines."""

    interval_seconds: float = 1800.0
    on_phase_change: bool = True
    on_task_complete: bool = True
    baselines: tuple[str, ...] = (
        "session_start",
        "sprint_start",
        "sprint_end",
        "all_tests_passing",
        "feature_complete",
    )


class Policy(Struct, frozen=True, kw_only=True):
    """Everything `decide` needs to know of the configuration."""

    max_iterations: int = 10
    scope_retries: int = 1
    """Attempts more within an iteration after out-of-scope changes were put back."""
    stuck_detection: bool = True
    lanes: int = 1
    halt_conditions: tuple[str, ...] = ("security_critical", "max_iterations_reached", "budget_exceeded")
    ladder: LadderPolicy = LadderPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    limits: LimitPolicy = LimitPolicy()
    retry: RetryPolicy = RetryPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    gates: GatePolicy = GatePolicy()
    timeouts: TimeoutPolicy = TimeoutPolicy()
    monitor: MonitorPolicy = MonitorPolicy()
    checkpoints: CheckpointPolicy = CheckpointPolicy()
    review: bool | ReviewMode = "task"
    """One review for each task, or one for a batch; False: the checks alone decide. True (older journals) is task."""
    scope_judge: bool = False
    auto_land: bool = False
    final_checks: bool = True
    final_review: bool = True
    """One reviewer judges the finished sprint as a whole."""
