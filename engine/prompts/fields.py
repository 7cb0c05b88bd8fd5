"""What each role is told: one frozen struct a role. Long texts stay in files; the prompt names them."""

from __future__ import annotations

from engine.core.model import (
    CheckResult,
    Diagnosis,
    FileChange,
    Finding,
    Review,
    Role,
    SessionSummary,
    Struct,
    TaskSpec,
)

SEATS = {
    "root-cause-analyst": (
        "Find the one cause behind the symptoms. Follow the failing path from the first wrong value back to the line "
        "that made it, and say how each step is known."
    ),
    "code-archaeologist": (
        "Read the history. Use `git log` and `git blame` on the files involved: when did this last work, what changed, "
        "what did the people who wrote it assume?"
    ),
    "pattern-matcher": (
        "Look for the same thing done elsewhere in this repository, rightly or wrongly, and for known shapes of this "
        "failure: off by one, stale cache, wrong encoding, shared state, order of initialisation."
    ),
    "systems-thinker": (
        "Look at how the parts meet: contracts, configuration, environment, concurrency, versions of dependencies. "
        "Which assumption between two parts does not hold?"
    ),
    "adversarial-tester": (
        "Try to break both the code and the theories. Which input, order or timing makes it fail, and which test would "
        "tell the true cause from its look-alikes?"
    ),
}
"""The five seats of the Bug Council and what each one looks for."""


class Note(Struct, frozen=True, kw_only=True):
    """A piece of text from somewhere, labelled with its origin."""

    origin: str
    text: str


class ImplementerFields(Struct, frozen=True, kw_only=True):
    task: TaskSpec
    iteration: int = 1
    attempt: int = 1
    context_file: str = ""
    """Path of the task's context file; the agent reads it itself."""
    learnings: tuple[str, ...] = ()
    """Paths of learnings files."""
    checks: tuple[CheckResult, ...] = ()
    """What the last iteration's checks measured; failing ones are shown with their own output."""
    findings: tuple[Finding, ...] = ()
    """Integrity findings over the last change."""
    review: Review | None = None
    """The last review that asked for changes."""
    reverted: tuple[str, ...] = ()
    """Paths that were put back."""
    refused: tuple[str, ...] = ()
    """Why, where it was not for their place: a secret in it, too many files, too large."""
    last_chance: bool = False
    """The last attempt added more than one may: once more, and the user is asked."""
    comments: tuple[str, ...] = ()
    """What the human said, verbatim."""
    diagnosis: Diagnosis | None = None
    """What the Bug Council concluded."""
    error: str = ""
    """Why the last iteration ended early."""
    earlier: SessionSummary | None = None
    """What the session before this one did until it ran out of context; its changes are in the tree."""
    changes: tuple[FileChange, ...] = ()
    """What the task has changed up to now, by the engine's own diff; shown beside `earlier`."""
    strict_scope: bool = False
    run_checks: tuple[CheckResult, ...] = ()
    """The checks that will be run, by name and command."""
    history: tuple[Note, ...] = ()
    """What was tried before and how it failed, condensed: for a session that was not there."""
    role_prompt: str = ""
    """What the user wrote for this kind of work."""


class ScopeJudgeFields(Struct, frozen=True, kw_only=True):
    task: TaskSpec
    changes: tuple[FileChange, ...]
    diff_file: str = ""
    diff: str = ""


class ReviewerFields(Struct, frozen=True, kw_only=True):
    """Diff and evidence. There is no field for what the implementer said, and there must be none."""

    task: TaskSpec
    scaffold: bool = False
    """The task is part of a scaffold phase: interfaces and structure are judged, not behaviour."""
    changes: tuple[FileChange, ...] = ()
    diff_file: str = ""
    """Path of the full diff, for the reviewer to read."""
    diff: str = ""
    """The diff itself where it is short."""
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    comments: tuple[str, ...] = ()
    """What the human said of the task, verbatim."""
    context_file: str = ""
    role_prompt: str = ""
    """What the user wrote for reviewers."""
    others: tuple[ReviewerFields, ...] = ()
    """The other tasks of a batch, judged in the same answer."""


class SprintReviewerFields(Struct, frozen=True, kw_only=True):
    """The whole sprint: every criterion, the whole change, all evidence."""

    title: str
    tasks: tuple[TaskSpec, ...]
    summary: str = ""
    skipped: tuple[TaskSpec, ...] = ()
    evidence_file: str = ""
    diff_file: str = ""
    diff: str = ""
    context_file: str = ""
    checks: str = ""
    """Verdict of all checks on the sprint branch."""
    earlier: tuple[str, ...] = ()
    """What the final review before this one objected to."""
    role_prompt: str = ""


class CouncillorFields(Struct, frozen=True, kw_only=True):
    seat: str
    task: TaskSpec
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    history: tuple[Note, ...] = ()
    """One note an iteration: what was tried and how it failed."""
    tried: tuple[Note, ...] = ()
    """Earlier attempts as diffs against the task's base."""
    diff_file: str = ""
    diff: str = ""
    context_file: str = ""


class SynthesistFields(Struct, frozen=True, kw_only=True):
    task: TaskSpec
    diagnoses: tuple[Note, ...]
    """One a seat; the origin is the seat's name."""
    checks: tuple[CheckResult, ...] = ()


class AnswererFields(Struct, frozen=True, kw_only=True):
    question: str
    task: TaskSpec
    gate: str = ""
    checks: tuple[CheckResult, ...] = ()
    diff_file: str = ""
    diff: str = ""
    context_file: str = ""


class PlannerFields(Struct, frozen=True, kw_only=True):
    request: str
    context_files: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    answers: tuple[Note, ...] = ()
    """The user's answers; the origin is the question."""
    previous: str = ""
    """The plan before, when it was reviewed."""
    issues: tuple[str, ...] = ()
    """What the engine's checks or the plan's reviewer objected to."""
    comments: tuple[str, ...] = ()
    """What the human said at the plan gate, verbatim."""
    asked: int = 0
    """Rounds of questions so far."""
    replan: str = ""
    """The task that must be planned anew."""
    history: tuple[Note, ...] = ()
    """What was tried at it."""


class GathererFields(Struct, frozen=True, kw_only=True):
    request: str
    context_files: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()


class PrdWriterFields(Struct, frozen=True, kw_only=True):
    request: str
    context_files: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    answers: tuple[Note, ...] = ()
    previous: str = ""
    comments: tuple[str, ...] = ()
    asked: int = 0


class PlanReviewerFields(Struct, frozen=True, kw_only=True):
    request: str
    plan: str
    context_files: tuple[str, ...] = ()


Fields = (
    ImplementerFields
    | ScopeJudgeFields
    | ReviewerFields
    | SprintReviewerFields
    | CouncillorFields
    | SynthesistFields
    | AnswererFields
    | PlannerFields
    | PlanReviewerFields
    | GathererFields
    | PrdWriterFields
)

BY_ROLE: dict[Role, type[Fields]] = {
    Role.IMPLEMENTER: ImplementerFields,
    Role.SCOPE_JUDGE: ScopeJudgeFields,
    Role.REVIEWER: ReviewerFields,
    Role.SPRINT_REVIEWER: SprintReviewerFields,
    Role.COUNCILLOR: CouncillorFields,
    Role.SYNTHESIST: SynthesistFields,
    Role.ANSWERER: AnswererFields,
    Role.PLANNER: PlannerFields,
    Role.PLAN_REVIEWER: PlanReviewerFields,
    Role.GATHERER: GathererFields,
    Role.PRD_WRITER: PrdWriterFields,
}
