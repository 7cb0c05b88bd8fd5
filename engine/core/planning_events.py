"""Facts of the planning conversation: from a request to an approved plan."""

from __future__ import annotations

from engine.core.event import Event
from engine.core.model import Plan, Role
from engine.core.planning_state import Goal, PlanIssue, PlanQuestion


class PlanRequested(Event, frozen=True, kw_only=True, tag="plan_requested"):
    """A planning conversation begins: for a new sprint, or for another plan of this one (replan)."""

    sprint: str
    request: str
    branch: str = ""
    topic: str = ""
    goal: Goal = Goal.PLAN
    source: str = ""
    task: str = ""
    with_prd: bool = False
    approve: bool = False
    given: dict[str, str] = {}
    """Answers given beforehand, by number or words of the question."""
    by: str = ""


class Surveyed(Event, frozen=True, kw_only=True, tag="surveyed"):
    id: str
    facts: str
    base: str = ""
    tree: str = ""


class ContextGathered(Event, frozen=True, kw_only=True, tag="context_gathered"):
    id: str
    text: str


class QuestionsAsked(Event, frozen=True, kw_only=True, tag="questions_asked"):
    """NEEDS_CLARIFICATION: the planner (or the PRD's writer) must know something first."""

    id: str
    role: Role
    questions: tuple[PlanQuestion, ...]


class QuestionAnswered(Event, frozen=True, kw_only=True, tag="question_answered"):
    """Without a gate: from --answers, or the planner's own assumption because nobody attends."""

    question: str
    answer: str
    by: str


class PrdDrafted(Event, frozen=True, kw_only=True, tag="prd_drafted"):
    id: str
    text: str
    by: str = ""


class PlanDrafted(Event, frozen=True, kw_only=True, tag="plan_drafted"):
    """A draft of the planner, or (`by`) the user's own edit of one. DRAFT never runs."""

    id: str
    plan: Plan
    later: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    by: str = ""


class PlanChecked(Event, frozen=True, kw_only=True, tag="plan_checked"):
    """The engine's own checks; `plan` is the draft with what they derived."""

    id: str
    version: int
    plan: Plan
    issues: tuple[PlanIssue, ...] = ()
    notes: tuple[str, ...] = ()


class PlanReviewed(Event, frozen=True, kw_only=True, tag="plan_reviewed"):
    id: str
    version: int
    approved: bool
    issues: tuple[PlanIssue, ...] = ()
    summary: str = ""


class PlanApproved(Event, frozen=True, kw_only=True, tag="plan_approved"):
    """From here on the plan may run."""

    plan: Plan
    by: str
    version: int = 0
    summary: str = ""
