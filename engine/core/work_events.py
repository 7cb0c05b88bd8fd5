"""Facts about the work on tasks: calls, checks, reviews, commits, and what became of branch and trees."""

from __future__ import annotations

from engine.core.event import Event
from engine.core.model import (
    AgentResult,
    CheckResult,
    Diagnosis,
    FileChange,
    Finding,
    Proof,
    ProofVerdict,
    Question,
    RestoredEnd,
    Review,
    Role,
    Rung,
    SessionSummary,
    Verdict,
)
from engine.core.sprint_review_state import TaskCriterion, TaskIssue
from engine.core.vocabulary import Purpose


class WorkspaceReady(Event, frozen=True, kw_only=True, tag="workspace_ready"):
    id: str
    task: str
    lane: int
    tree: str
    base: str


class AgentFinished(Event, frozen=True, kw_only=True, tag="agent_finished"):
    id: str
    task: str
    role: Role
    rung: Rung
    result: AgentResult
    iteration: int = 0
    seat: str = ""
    tasks: tuple[str, ...] = ()
    """A review of several tasks at once: all of them. Empty: of `task` alone."""
    charged_usd: float = 0.0
    """What the budget counts: the agent's figure where it is sane, else the reservation."""
    reserved_usd: float = 0.0
    summary: SessionSummary | None = None
    """An implementer ran out of context: what its session did."""


class ScopeChecked(Event, frozen=True, kw_only=True, tag="scope_checked"):
    id: str
    task: str
    verdict: Verdict
    tree: str
    """The tree after out-of-scope hunks were put back."""
    changes: tuple[FileChange, ...] = ()
    """What the task has changed since its base."""
    attempt_changes: tuple[FileChange, ...] = ()
    """What this attempt changed."""
    reverted: tuple[str, ...] = ()
    kept_aside: str = ""
    """Where the user finds what was put back."""
    findings: tuple[Finding, ...] = ()
    reason: str = ""


class ScopeJudged(Event, frozen=True, kw_only=True, tag="scope_judged"):
    """What the scope judge says of a change that the globs allow."""

    id: str
    task: str
    in_scope: bool
    reason: str = ""


class ChecksFinished(Event, frozen=True, kw_only=True, tag="checks_finished"):
    id: str
    task: str
    tree: str
    base: str
    purpose: Purpose
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...] = ()
    """Integrity findings over the change as a whole."""
    evidence: str = ""
    iteration: int = 0
    proof: ProofVerdict | None = None
    """None: not a task's change (a baseline), or a journal from before there were proofs."""
    proof_reason: str = ""
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()


class ReviewFinished(Event, frozen=True, kw_only=True, tag="review_finished"):
    id: str
    task: str
    tree: str
    review: Review


class DiagnosisGiven(Event, frozen=True, kw_only=True, tag="diagnosis_given"):
    """One councillor's diagnosis."""

    id: str
    task: str
    seat: str
    text: str


class CouncilFinished(Event, frozen=True, kw_only=True, tag="council_finished"):
    id: str
    task: str
    diagnosis: Diagnosis


class Committed(Event, frozen=True, kw_only=True, tag="committed"):
    id: str
    task: str
    commit: str
    tree: str
    message: str
    branch: str


class BaseMoved(Event, frozen=True, kw_only=True, tag="base_moved"):
    """Another lane committed first. `tree` is the clean merge to be checked again; empty: they conflict."""

    id: str
    task: str
    base: str
    tree: str = ""
    conflicts: tuple[str, ...] = ()
    same_patch: bool = False
    """The task's own change is the same on the new base, by its patch id: review and approval stand."""
    landed: tuple[str, ...] = ()
    """What was committed in between, a line each."""
    difference: str = ""
    """Where the change is not the same: what is different in it now."""


class TreeKept(Event, frozen=True, kw_only=True, tag="tree_kept"):
    """What a task had come to is pinned; devteam retry --from-tree goes on from it."""

    id: str
    task: str
    tree: str
    ref: str
    reason: str


class RolledBack(Event, frozen=True, kw_only=True, tag="rolled_back"):
    id: str
    task: str
    tree: str
    backup: str
    reason: str


class WorkLost(Event, frozen=True, kw_only=True, tag="work_lost"):
    """What a task had made is not in the engine's store any more (a deleted state folder, a power cut): it is done
    again, from the sprint branch, and that iteration is not the task's to pay with."""

    task: str
    reason: str


class BranchMoved(Event, frozen=True, kw_only=True, tag="branch_moved"):
    """The sprint branch is at another commit; tasks whose commits went with it are open again.

    `id`: the engine itself looked for a good commit (it may have found the tip to be one); empty: by a human's command.
    """

    commit: str
    tree: str
    backup: str
    reason: str
    reopened: tuple[str, ...] = ()
    restored: dict[str, str] = {}
    """Tasks whose commits came back with the branch, and those commits."""
    ended: dict[str, RestoredEnd] = {}
    """A checkpoint was gone back to: tasks that had ended then without being complete, and how."""
    id: str = ""


class SpendFound(Event, frozen=True, kw_only=True, tag="spend_found"):
    """Agent calls that the journal had never heard of, because it is older than what was done: charged as reserved."""

    calls: int
    charged_usd: float
    reason: str


class CheckpointSaved(Event, frozen=True, kw_only=True, tag="checkpoint_saved"):
    id: str
    checkpoint: str
    commit: str
    reason: str


class BaselineCreated(Event, frozen=True, kw_only=True, tag="baseline_created"):
    id: str
    milestone: str
    ref: str
    commit: str


class Landed(Event, frozen=True, kw_only=True, tag="landed"):
    id: str
    ok: bool
    commit: str = ""
    detail: str = ""


class SprintReviewed(Event, frozen=True, kw_only=True, tag="sprint_reviewed"):
    """The final review: the whole change against the criteria of all tasks."""

    id: str
    head: str
    approved: bool
    criteria: tuple[TaskCriterion, ...] = ()
    issues: tuple[TaskIssue, ...] = ()
    summary: str = ""


class LearningRecorded(Event, frozen=True, kw_only=True, tag="learning_recorded"):
    task: str
    text: str
    """The decision, or what not to do again."""
    why: str = ""
    alternatives: tuple[str, ...] = ()
    role: Role | None = None
    """Who decided; None: the engine, from what it measured."""
    files: tuple[str, ...] = ()
    avoid: bool = False
    """An anti-pattern: what failed, and why."""
    name: str = ""
    """The file it is kept in, where it is known already."""


class LearningDisputed(Event, frozen=True, kw_only=True, tag="learning_disputed"):
    """An agent says that a learning it was given is wrong."""

    name: str
    why: str
    task: str = ""
    role: Role | None = None
