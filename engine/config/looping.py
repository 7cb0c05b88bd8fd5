"""Settings of the loop: iterations, ladder, money, time, gates, recovery."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.config.base import Amount, Count, MoreThanZero, Name, Percent, Positive, Section, Words
from engine.core.model import CheckKind
from engine.core.policy import DEFAULT_RUNGS
from engine.core.vocabulary import Detached, ReviewMode


class TaskLoop(Section, frozen=True, kw_only=True):
    """The loop over one task."""

    max_iterations: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Passes through implement → scope → checks → review that one task may take."""
    scope_retries: Annotated[int, Meta(ge=0, le=10)] = 1
    """Further attempts within a pass after changes outside the task's scope were put back."""
    stuck_detection: bool = True
    """Climb at once when the same error, failing tests or files come three times without progress."""
    cost_tracking: bool = True
    """Let money bound the run. Off, `budget.max_calls` or `budget.max_seconds` must bound it."""
    review: bool | ReviewMode = "task"
    """Ask a reviewer after the checks pass: for each task, or once for a batch of tasks that are done side by side. \
true is "task"; false: the checks alone decide."""
    scope_judge: bool = False
    """Ask a cheap agent about scope, for what globs cannot say."""
    final_checks: bool = True
    """Run all checks once more on the finished sprint."""
    final_review: bool = True
    """Have the finished sprint reviewed as a whole, against all criteria; what it objects to is opened again."""
    halt_conditions: Words = ("security_critical", "max_iterations_reached", "budget_exceeded")
    """What halts a task. Only security_critical may be taken out: then the next attempt goes to the top rung."""


class RungConfig(Section, frozen=True, kw_only=True):
    """One step of the ladder: an agent and a model."""

    name: Name
    """What the rung is called, on screen and in plans."""
    agent: Name
    """claude, codex, gemini, scripted, or the NAME of an [agents.NAME] table."""
    model: str = ""
    """The model as the agent's own command line wants it; empty: the agent's default."""
    reserve_usd: MoreThanZero = 1.0
    """Money set aside before each call."""
    cap_usd: Amount = 0.0
    """The most one call may cost, where the agent can be told; 0: what the budget leaves."""


class Ladder(Section, frozen=True, kw_only=True):
    """Which agent and model work, and when to climb to the next."""

    policy: Literal["classic", "index"] = "classic"
    """classic climbs after so many failures; index takes the rung with the least expected cost per success."""
    failures: tuple[Annotated[int, Meta(ge=1, le=20)], ...] = ()
    """Failures in a row each rung may have before the next is tried; the last calls the Bug Council. \
Empty: 2 each and 3 at the top."""
    task_value_usd: MoreThanZero = 20.0
    """index: what a finished task is worth; a dearer success ends the task as BLOCKED."""
    fallback: Words = ()
    """Agents that may take over, in order, while another waits for its usage limit."""
    rungs: tuple[RungConfig, ...] = tuple(
        RungConfig(
            name=rung.name, agent=rung.agent, model=rung.model, reserve_usd=rung.reserve_usd, cap_usd=rung.cap_usd
        )
        for rung in DEFAULT_RUNGS
    )
    """The ladder, cheapest first."""
    roles: dict[str, str] = {}
    """Rung by role, e.g. reviewer = "opus". Unset: scope-judge and answerer at the bottom, the others at the top."""


class Budget(Section, frozen=True, kw_only=True):
    """Money, calls and time a sprint may take. A limit is never passed by more than one reservation."""

    session_usd: MoreThanZero = 10.0
    """Dollars for one sprint; reached, everything halts and can be resumed."""
    day_usd: MoreThanZero = 50.0
    """Dollars for one day over all sprints of the repository."""
    warn_percent: Percent = 80.0
    """Warn when this share is spent."""
    low_percent: Percent = 20.0
    """With less than this share left no rung is climbed; the task ends BUDGET_EXHAUSTED."""
    max_calls: Count = 0
    """Agent calls one sprint may make; 0: no bound of its own."""
    max_seconds: Amount = 0.0
    """Wall time one sprint may take; 0: no bound of its own."""


class Limits(Section, frozen=True, kw_only=True):
    """How fast agents are called, and how long a provider's usage limit is waited for."""

    calls_per_hour: Positive = 100
    """Agent calls an hour over all sprints of the repository."""
    max_wait_seconds: Amount = 21600.0
    """Longest wait for an announced reset; longer, the run ends and can be resumed."""


class Timeouts(Section, frozen=True, kw_only=True):
    """Seconds."""

    implementation: MoreThanZero = 300.0
    """One attempt of the implementer: the first mark. Cut short, the same session goes on with twice the time."""
    checks: MoreThanZero = 120.0
    """One check that has no timeout of its own; over it, the check is NOT_RUN."""
    review: MoreThanZero = 60.0
    """One review, councillor or answer."""
    idle: Amount = 120.0
    """An agent that says nothing this long is ended; 0: never."""
    extend: Annotated[float, Meta(ge=1)] = 4.0
    """An agent still at work at its mark may take up to so many times as long; 1: it is ended there."""


class Gates(Section, frozen=True, kw_only=True):
    """When you are asked."""

    fix: Literal["gated", "auto"] = "gated"
    """After a review that wants changes."""
    task: Literal["gated", "auto"] = "gated"
    """Before a finished task is committed."""
    force_fix_at: Positive = 3
    """From this attempt on the fix gate is asked even when it is auto, if somebody attends."""
    detached: Detached = Detached.CONTINUE
    """When the last dashboard is closed: `continue` (nobody is asked, what needs you is parked), `wait` or `pause`."""
    lease_hours: Amount = 12.0
    """Longest time a run in the background goes on with nobody watching; then it stops, resumably. 0: no bound."""


class Monitor(Section, frozen=True, kw_only=True):
    """The health of a task: PROGRESSING, STALLED, BLOCKED, REGRESSING or FLIP_FLOPPING."""

    window: Annotated[int, Meta(ge=2, le=20)] = 3
    """Iterations looked at."""
    recoveries: Annotated[int, Meta(ge=0, le=20)] = 2
    """Recoveries tried per status before you are asked."""


class ErrorRecovery(Section, frozen=True, kw_only=True):
    """Passing errors (network, overload) are tried again with growing pauses; lasting ones fail at once."""

    max_attempts: Annotated[int, Meta(ge=1, le=20)] = 3
    """Tries in all."""
    initial_delay_seconds: Amount = 1.0
    """Pause before the second try."""
    backoff_multiplier: Annotated[float, Meta(ge=1, le=10)] = 2.0
    """Each further pause is so many times longer."""
    jitter: Annotated[float, Meta(ge=0, le=1)] = 0.25
    """Share of the pause that is left to chance, so that lanes do not come back at once."""


class CircuitBreaker(Section, frozen=True, kw_only=True):
    """Stops calling an agent that keeps failing."""

    enabled: bool = True
    """Off: failing agents are called on."""
    failure_threshold: Positive = 5
    """Failures in a row that open it."""
    reset_timeout_seconds: Amount = 60.0
    """Pause before one call is tried again."""


class Rollback(Section, frozen=True, kw_only=True):
    """What happens when a change makes things worse. A backup ref is always kept; your files are never touched."""

    enabled: bool = True
    """Go back to the last good state by itself when fewer tests pass twice in a row."""
    checks: tuple[CheckKind, ...] = (CheckKind.BUILD, CheckKind.TESTS, CheckKind.TYPES)
    """Kinds of checks that `devteam rollback` judges a commit by; where there is none of them, all checks."""
    max_commits_to_search: Annotated[int, Meta(ge=1, le=1000)] = 10
    """How far back `devteam rollback smart` looks for a good commit."""


class Checkpoints(Section, frozen=True, kw_only=True):
    """Saved states to go back to: git, journal, progress and context under one name."""

    interval_minutes: MoreThanZero = 30.0
    """One at least this often while work goes on."""
    on_phase_change: bool = True
    """One when a phase ends."""
    on_task_complete: bool = True
    """One when a task is complete."""


class Baselines(Section, frozen=True, kw_only=True):
    """Named commits at milestones."""

    at: tuple[Literal["session_start", "sprint_start", "sprint_end", "all_tests_passing", "feature_complete"], ...] = (
        "session_start",
        "sprint_start",
        "sprint_end",
        "all_tests_passing",
        "feature_complete",
    )
    """Milestones that make one."""
