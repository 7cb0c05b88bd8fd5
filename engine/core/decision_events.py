"""What the engine decided: tasks and iterations begun and ended, health, warnings, tasks opened again."""

from __future__ import annotations

from engine.core.event import Event
from engine.core.model import Decision, FaultDomain, Health
from engine.core.vocabulary import Recovery


class TaskStarted(Event, frozen=True, kw_only=True, tag="task_started"):
    task: str
    lane: int
    rung: int
    complexity: int
    reason: str
    resumes: bool = False
    """It goes on from its kept tree, where it was put aside."""


class IterationStarted(Event, frozen=True, kw_only=True, tag="iteration_started"):
    task: str
    iteration: int
    rung: int


class Decided(Event, frozen=True, kw_only=True, tag="decided"):
    """The end of an iteration."""

    task: str
    iteration: int
    decision: Decision
    reason: str
    rung: int
    """The rung from now on."""
    recovery: Recovery = Recovery.NONE
    recovery_tree: str = ""
    fault: FaultDomain | None = None
    """Whose fault a failure was; only the code's touches the ladder."""


class HealthChanged(Event, frozen=True, kw_only=True, tag="health_changed"):
    task: str
    health: Health
    reason: str


class TaskEnded(Event, frozen=True, kw_only=True, tag="task_ended"):
    task: str
    decision: Decision
    reason: str
    action: str = ""
    """What the human may do about it."""


class BudgetWarned(Event, frozen=True, kw_only=True, tag="budget_warned"):
    scope: str
    spent_usd: float
    limit_usd: float


class TasksReopened(Event, frozen=True, kw_only=True, tag="tasks_reopened"):
    """The final review wants changes: these tasks are worked on again. text: the human's own words for them."""

    head: str
    tasks: tuple[str, ...]
    text: str = ""
    by: str = ""
