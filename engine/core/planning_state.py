"""The planning conversation as data: the request, the stage, drafts, questions, answers, objections."""

from __future__ import annotations

from enum import StrEnum

from engine.core.model import Plan, Role, Struct

PLANNING_LANE = 90
"""The clone the read-only agents of planning look at: never a lane of the tasks."""
PLANNING_ROLES = frozenset({Role.GATHERER, Role.PRD_WRITER, Role.PLANNER, Role.PLAN_REVIEWER})
PLAN_TASK = ""
"""Effects and gates of the planning belong to no task."""


class Goal(StrEnum):
    """What a conversation is to end in."""

    PLAN = "plan"
    REPLAN = "replan"
    """Another plan for a sprint under way: a task's scope revised, or the task split."""


class Until(StrEnum):
    """Where a run stops: at the approved PRD, at the approved plan, or when the sprint is over."""

    PRD = "prd"
    PLAN = "plan"
    SPRINT = ""


class Stage(StrEnum):
    """What the conversation needs next."""

    GATHER = "gather"
    PRD = "prd"
    PRD_GATE = "prd_gate"
    DRAFT = "draft"
    QUESTIONS = "questions"
    CHECK = "check"
    REVIEW = "review"
    GATE = "gate"
    APPROVED = "approved"
    DROPPED = "dropped"


class PlanQuestion(Struct, frozen=True, kw_only=True):
    """Something only the user can know, and what the planner assumes if nobody says."""

    text: str
    assumption: str = ""


class PlanAnswer(Struct, frozen=True, kw_only=True):
    """A question and what holds. by: who answered; "assumption" where nobody did."""

    question: str
    answer: str
    by: str = ""


class PlanIssue(Struct, frozen=True, kw_only=True):
    """What the engine's own checks or the plan's reviewer object to."""

    text: str
    task: str = ""
    fix: str = ""
    rule: str = ""
    """The engine's own rule; empty: the reviewer says so."""

    def words(self) -> str:
        place = f"task {self.task}: " if self.task else ""
        return f"{place}{self.text}" + (f" — {self.fix}" if self.fix else "")


class Planning(Struct, frozen=True, kw_only=True):
    """One conversation, from the request to the approved plan."""

    request: str
    goal: Goal = Goal.PLAN
    source: str = ""
    """The file the request came from; empty: the user's own words."""
    task: str = ""
    """Replanning: the task it is about."""
    with_prd: bool = False
    stage: Stage = Stage.GATHER
    back: Stage = Stage.DRAFT
    """Where the answers to open questions go: to the PRD's writer or to the planner."""
    surveyed: str = ""
    """The run whose survey of the repository is in."""
    facts: str = ""
    """What the engine itself found in the repository."""
    context: str = ""
    """What the gatherer made of it."""
    prd: str = ""
    plan: Plan | None = None
    later: tuple[str, ...] = ()
    """Requests left for sprints after this one."""
    decisions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the engine changed or derived in the draft (permissions from words)."""
    own: bool = False
    """The draft is the user's own, written or edited by hand: objections go to them, not to the planner."""
    version: int = 0
    """Drafts so far; a gate and an approval bind to one."""
    rounds: int = 0
    """Revisions that checks or reviewer asked for, since the human last spoke."""
    issues: tuple[PlanIssue, ...] = ()
    reviewed: int = 0
    """The version the reviewer approved; 0: none."""
    review: str = ""
    questions: tuple[PlanQuestion, ...] = ()
    """Asked and not answered yet."""
    open_gates: dict[str, str] = {}
    """Gate of each open question."""
    answers: tuple[PlanAnswer, ...] = ()
    asked: int = 0
    """Rounds of questions."""
    given: dict[str, str] = {}
    """Answers given beforehand, by number or words of the question."""
    comments: tuple[str, ...] = ()
    approve: bool = False
    """The user approved beforehand: a plan that checks and reviewer accept is not asked about."""
    gate: str = ""
    tries: int = 0
    not_before: float = 0.0
    long: bool = False
    blocker: str = ""
    action: str = ""
    started_at: float = 0.0
    approved_by: str = ""

    @property
    def under_way(self) -> bool:
        return self.stage not in (Stage.APPROVED, Stage.DROPPED)

    @property
    def binding(self) -> str:
        """What an approval binds to."""
        return f"prd-{self.version}" if self.stage is Stage.PRD_GATE else f"plan-{self.version}"
