"""A task's part of the state: where it is, what it needs next, and what its iterations left."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from engine.core.model import (
    CheckResult,
    Decision,
    Diagnosis,
    FaultDomain,
    FileChange,
    Finding,
    Health,
    Proof,
    ProofVerdict,
    Question,
    Review,
    SessionSummary,
    Struct,
    TaskSpec,
    Verdict,
)
from engine.core.vocabulary import Claim, Council, Recovery

HISTORY = 12
"""Iteration records kept per task; the journal has them all."""


class Status(StrEnum):
    """Where a task is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    PARKED = "parked"
    """A question waits for a human; tree and evidence are kept."""
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    HALTED = "halted"
    BUDGET_EXHAUSTED = "budget_exhausted"


def status_of(decision: Decision) -> Status:
    """What an ended task is called by its decision."""
    match decision:
        case Decision.COMPLETE:
            return Status.COMPLETE
        case Decision.SKIPPED:
            return Status.SKIPPED
        case Decision.HALT:
            return Status.HALTED
        case Decision.BUDGET_EXHAUSTED:
            return Status.BUDGET_EXHAUSTED
        case Decision.PARKED:
            return Status.PARKED
        case Decision.BLOCKED | Decision.ITERATE | Decision.ESCALATE | Decision.COUNCIL:
            return Status.BLOCKED
        case _:
            assert_never(decision)


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
    PERMISSION_GATE = "permission_gate"
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
    built: bool = False
    """A build check came to a verdict; without one, no errors are no news."""
    build_errors: int = 0
    build_warnings: int = 0
    new_tests: int = 0
    at: float = 0.0
    decision: Decision | None = None
    reason: str = ""
    fault: FaultDomain | None = None
    repeats: int = 0
    """The earlier iteration that had the same tree: it was not judged a second time."""


class Judgement(Struct, frozen=True, kw_only=True):
    """What checks and review said of a tree that failed; the same tree would hear it again."""

    iteration: int
    tree: str
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: str = ""
    proof: ProofVerdict | None = None
    proof_reason: str = ""
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()
    review: Review | None = None


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


class KeptTree(Struct, frozen=True, kw_only=True):
    """A tree that was paid for, pinned or about to be."""

    tree: str
    base: str
    iteration: int
    reason: str
    green: bool = False
    """In scope, and its checks passed."""
    ref: str = ""
    """Empty until it is pinned."""
    changes: tuple[FileChange, ...] = ()
    scope_findings: tuple[Finding, ...] = ()
    """What was measured of this tree: the task may have begun anew since."""


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
    """The last call was cut short: once its changes are held to the scope, another takes them up."""
    cut_short: int = 0
    """Calls of this iteration that a limit or their time ended in the middle: the same session goes on."""
    earlier: SessionSummary | None = None
    """What that session did, told to the fresh one."""
    scope_verdict: Verdict | None = None
    changes: tuple[FileChange, ...] = ()
    attempt_changes: tuple[FileChange, ...] = ()
    reverted: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    scope_findings: tuple[Finding, ...] = ()
    """Those of the scope check alone."""
    over_bound: int = 0
    """Attempts in a row that added more than one may."""
    evidence: str = ""
    proof: ProofVerdict | None = None
    proof_reason: str = ""
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()
    """Permissions that the present tree needs and does not have."""
    allowed: tuple[str, ...] = ()
    """Entries a human added to the plan's `allow:`."""
    unproven: int = 0
    """Iterations in a row that showed nothing."""
    check_errors: int = 0
    """Runs of the checks on this tree that could not be finished."""
    review: Review | None = None
    overridden: bool = False
    """The human overrode the reviewer for this change."""
    override: str = ""
    """Who did, and past what."""
    approved: bool = False
    """The change may be committed: a human said so, or nobody needed to."""
    queued_at: float = 0.0
    """Since when it stands in the merge train; 0: it does not."""
    landed: tuple[str, ...] = ()
    """What other tasks committed since it was judged."""
    difference: str = ""
    """How that changed its own patch."""
    kept: KeptTree | None = None
    """What it had come to when it was last put aside."""
    resumes: Step | None = None
    """A task put aside goes on here, from its kept tree."""
    error: str = ""
    """Why this iteration ended early."""
    claim: Claim = Claim.NONE
    claim_text: str = ""
    summary: str = ""
    """The agent's own closing words; shown as a claim, never used."""
    fix_attempts: int = 0
    council: Council = Council.NONE
    """Once per task."""
    seats: dict[str, str] = {}
    seat_tries: dict[str, int] = {}
    diagnosis: Diagnosis | None = None
    feedback: Feedback | None = None
    comments: tuple[str, ...] = ()
    """Words of the human, given to every later attempt verbatim."""
    edited: TaskSpec | None = None
    """The plan's words for the task since the present iteration began, where they are others."""
    sent_back: tuple[str, ...] = ()
    """Trees that the human sent back at the task gate: none of them is taken again."""
    objection: str = ""
    """What the human said then."""
    granted: int = 0
    """Iterations a human added by answering retry."""
    limit_waits: int = 0
    tries: int = 0
    """Transient failures of the present step."""
    long: bool = False
    """The next call gets twice the time."""
    not_before: float = 0.0
    """Backoff."""
    council_asked: bool = False
    """A human wants the Bug Council."""
    top_next: bool = False
    """A security-critical finding sends the next attempt to the top rung."""
    history: tuple[Record, ...] = ()
    judged: tuple[Judgement, ...] = ()
    """The last failed trees on the present base, with what was said of them."""
    repeats: int = 0
    """The iteration whose tree the present one has again."""
    good_tree: str = ""
    good_passing: int = -1
    health: Health = Health.PROGRESSING
    health_reason: str = ""
    recoveries: dict[str, int] = {}
    recovery: Recovery = Recovery.NONE
    rollback: str = ""
    """The tree the next iteration goes back to."""
    rung_asked: str = ""
    """The rung a human wants it to start at."""
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
    attempts_usd: float = 0.0
    """The implementers' part of that."""
    commit: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    unwatched: bool = False
    """It was completed while nobody attended: shown to who comes back, and opened again if they want."""
    worked_seconds: float = 0.0
    """Time in which something was done for it: without gates, limits and the time between two runs."""
    busy_since: float = 0.0
    scope_violations: int = 0
    skip_asked: bool = False

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def ended(self) -> bool:
        return self.status not in (Status.PENDING, Status.RUNNING)

    @property
    def on_branch(self) -> bool:
        """Its commit is recorded; that it has ended by it may still have to be said."""
        return bool(self.commit) and self.status in (Status.COMPLETE, Status.RUNNING)
