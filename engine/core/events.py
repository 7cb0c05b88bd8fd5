"""Every fact the system can record: the vocabulary, in one file. Decoding is validation.

The JSON form is stable: a golden file per schema version is replayed by the tests. An unknown type decodes to
`Unknown` with its raw JSON kept; unknown fields are ignored here and kept in the journal, which never re-encodes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.core.effects import AnyEffect
from engine.core.forecast import PastTask
from engine.core.index_ladder import RungStats
from engine.core.model import (
    AgentResult,
    CheckResult,
    Decision,
    Diagnosis,
    Disputed,
    FaultDomain,
    FileChange,
    Finding,
    Health,
    MachineFault,
    Plan,
    Proof,
    ProofVerdict,
    Question,
    RestoredEnd,
    Review,
    Role,
    Rung,
    SessionSummary,
    Struct,
    Verdict,
)
from engine.core.planning_state import Goal, PlanIssue, PlanQuestion, Until
from engine.core.policy import Policy
from engine.core.sprint_review_state import TaskCriterion, TaskIssue
from engine.core.vocabulary import Choice, FailureKind, GateKind, Level, Outcome, Purpose, Recovery

SCHEMA = 1


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Base of events."""


# ── the sprint and its runs ────────────────────────────────────────────────────────────────────────────────────────


class SprintCreated(Event, frozen=True, kw_only=True, tag="sprint_created"):
    sprint: str
    """NNN-slug."""
    plan: Plan
    branch: str
    topic: str


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    """An engine took the sprint up. In-flight effects of the run before are over: the runner says how in `effects`."""

    run: str
    pid: int
    policy: Policy
    attended: bool
    sandbox: str
    version: str
    utc_offset: float = 0.0
    """Seconds east of UTC: the day budget counts local days."""
    waits: bool = True
    """With only open gates left: wait for an answer (True) or end the run as blocked (False)."""
    max_iterations: int = 0
    """Overrides the policy's number when above 0."""
    day_spent_usd: float = 0.0
    """Spent this day by the repository's other sprints."""
    recent_calls: tuple[float, ...] = ()
    """Times of other sprints' agent calls in the last hour: permits are shared."""
    measured: dict[str, RungStats] = {}
    """What the repository's other sprints measured of each rung, by its name."""
    config_hash: str = ""
    checks: tuple[str, ...] = ()
    """Names of the configured checks."""
    until: Until = Until.SPRINT
    """Where the run stops: at the PRD, at the approved plan, or with the sprint."""
    history: tuple[PastTask, ...] = ()
    """Finished tasks of the repository's other sprints, the latest: what a forecast is made from."""
    disputed: dict[str, Disputed] = {}
    """Learnings that agents of any sprint contradict, by name."""
    boot: str = ""
    """Which start of the machine this is; empty where it cannot tell."""
    booted_at: float = 0.0
    """The wall time at which its boot clock stood at zero, by the wall clock of this run. Within one boot only setting
    the wall clock moves it, and every deadline that is kept is moved along."""
    last_at: float = 0.0
    """When the last fact of the run before was recorded, by its clock: the time until now is nobody's working time."""


class RunEnded(Event, frozen=True, kw_only=True, tag="run_ended"):
    run: str
    outcome: Outcome
    reason: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    by: str = ""


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    by: str = ""


class StopRequested(Event, frozen=True, kw_only=True, tag="stop_requested"):
    """graceful: finish the running effects; now: end them, their work is kept and taken up again."""

    now: bool = False
    by: str = ""


class SprintCancelled(Event, frozen=True, kw_only=True, tag="sprint_cancelled"):
    by: str = ""


class PlanChanged(Event, frozen=True, kw_only=True, tag="plan_changed"):
    """The user edited plan.md: taken up between tasks."""

    plan: Plan
    summary: str = ""


# ── planning ───────────────────────────────────────────────────────────────────────────────────────────────────────


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


class SprintReviewed(Event, frozen=True, kw_only=True, tag="sprint_reviewed"):
    """The final review: the whole change against the criteria of all tasks."""

    id: str
    head: str
    approved: bool
    criteria: tuple[TaskCriterion, ...] = ()
    issues: tuple[TaskIssue, ...] = ()
    summary: str = ""


class TasksReopened(Event, frozen=True, kw_only=True, tag="tasks_reopened"):
    """The final review wants changes: these tasks are worked on again. text: the human's own words for them."""

    head: str
    tasks: tuple[str, ...]
    text: str = ""
    by: str = ""


class PlanApproved(Event, frozen=True, kw_only=True, tag="plan_approved"):
    """From here on the plan may run."""

    plan: Plan
    by: str
    version: int = 0
    summary: str = ""


class PolicyChanged(Event, frozen=True, kw_only=True, tag="policy_changed"):
    policy: Policy
    summary: str = ""


class AttendanceChanged(Event, frozen=True, kw_only=True, tag="attendance_changed"):
    attended: bool


# ── effects ────────────────────────────────────────────────────────────────────────────────────────────────────────


class EffectStarted(Event, frozen=True, kw_only=True, tag="effect_started"):
    """The intent, appended before anything is done."""

    effect: AnyEffect


class EffectFailed(Event, frozen=True, kw_only=True, tag="effect_failed"):
    """The engine's own part failed (git, disk, spawn)."""

    id: str
    kind: FailureKind
    message: str
    hint: str = ""
    fault: MachineFault | None = None
    """The machine's fault: the run is suspended, the effect is done again once a probe says that it can be."""


class MachineProbed(Event, frozen=True, kw_only=True, tag="machine_probed"):
    """A look at what suspended the run; ok: it is over, and the run goes on."""

    id: str
    fault: MachineFault
    ok: bool
    detail: str = ""


class EffectInterrupted(Event, frozen=True, kw_only=True, tag="effect_interrupted"):
    """The engine ended while this was under way; what it may have spent is charged as reserved."""

    id: str
    reason: str = ""


# ── facts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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


class WaitEnded(Event, frozen=True, kw_only=True, tag="wait_ended"):
    id: str


# ── decisions ──────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── the human ──────────────────────────────────────────────────────────────────────────────────────────────────────


class GateOpened(Event, frozen=True, kw_only=True, tag="gate_opened"):
    gate: str
    task: str
    kind: GateKind
    title: str
    body: str = ""
    attempt: int = 0
    choices: tuple[Choice, ...] = ()
    tree: str = ""
    evidence: str = ""
    """Approval binds to tree + evidence; a changed tree voids it."""
    forced: bool = False


class GateAnswered(Event, frozen=True, kw_only=True, tag="gate_answered"):
    gate: str
    choice: Choice
    text: str = ""
    by: str = ""
    tree: str = ""


class GatePassed(Event, frozen=True, kw_only=True, tag="gate_passed"):
    """Nobody was asked: the gate is set to auto, or nobody attends."""

    task: str
    kind: GateKind
    by: str
    tree: str = ""


class GateAsked(Event, frozen=True, kw_only=True, tag="gate_asked"):
    gate: str
    question: str
    by: str = ""


class GateReplied(Event, frozen=True, kw_only=True, tag="gate_replied"):
    gate: str
    id: str
    answer: str


class AutoChanged(Event, frozen=True, kw_only=True, tag="auto_changed"):
    gate_kind: GateKind
    auto: bool
    by: str = ""


class Steered(Event, frozen=True, kw_only=True, tag="steered"):
    """A note of the human to a task's next attempt."""

    task: str
    text: str
    by: str = ""


class SkipRequested(Event, frozen=True, kw_only=True, tag="skip_requested"):
    task: str
    by: str = ""


class RetryRequested(Event, frozen=True, kw_only=True, tag="retry_requested"):
    """An ended task is opened again, with a fresh ladder."""

    task: str
    text: str = ""
    by: str = ""
    from_tree: bool = False
    """Go on from the kept tree; without words and with green checks, without a new attempt."""
    rung: str = ""
    """Where to start, by name."""


class PermissionGranted(Event, frozen=True, kw_only=True, tag="permission_granted"):
    """A human allows a task what its plan did not: the entry joins its `allow:`."""

    task: str
    entry: str
    by: str = ""


class CouncilRequested(Event, frozen=True, kw_only=True, tag="council_requested"):
    task: str
    by: str = ""


class TaskAccepted(Event, frozen=True, kw_only=True, tag="task_accepted"):
    """A human takes an ended task's kept work as it is: its checks were green."""

    task: str
    by: str = ""


class LandRequested(Event, frozen=True, kw_only=True, tag="land_requested"):
    by: str = ""


class CommandHandled(Event, frozen=True, kw_only=True, tag="command_handled"):
    """Acknowledges a command from a user interface or from the inbox."""

    command: str
    name: str
    ok: bool
    detail: str = ""


# ── the rest ───────────────────────────────────────────────────────────────────────────────────────────────────────


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


class Noted(Event, frozen=True, kw_only=True, tag="noted"):
    """Something worth saying."""

    text: str
    level: Level = "info"
    hint: str = ""
    task: str = ""


class Unknown(Struct, frozen=True, kw_only=True):
    """An event of a newer version, kept as it is."""

    type: str
    raw: dict[str, Any]


AnyEvent = (
    SprintCreated
    | RunStarted
    | RunEnded
    | Paused
    | Resumed
    | StopRequested
    | SprintCancelled
    | PlanChanged
    | PlanRequested
    | Surveyed
    | ContextGathered
    | QuestionsAsked
    | QuestionAnswered
    | PrdDrafted
    | PlanDrafted
    | PlanChecked
    | PlanReviewed
    | PlanApproved
    | SprintReviewed
    | TasksReopened
    | PolicyChanged
    | AttendanceChanged
    | EffectStarted
    | EffectFailed
    | EffectInterrupted
    | MachineProbed
    | WorkspaceReady
    | AgentFinished
    | ScopeChecked
    | ScopeJudged
    | ChecksFinished
    | ReviewFinished
    | DiagnosisGiven
    | CouncilFinished
    | Committed
    | BaseMoved
    | WorkLost
    | TreeKept
    | RolledBack
    | BranchMoved
    | SpendFound
    | CheckpointSaved
    | BaselineCreated
    | Landed
    | WaitEnded
    | TaskStarted
    | IterationStarted
    | Decided
    | HealthChanged
    | TaskEnded
    | BudgetWarned
    | GateOpened
    | GateAnswered
    | GatePassed
    | GateAsked
    | GateReplied
    | AutoChanged
    | Steered
    | SkipRequested
    | RetryRequested
    | PermissionGranted
    | CouncilRequested
    | TaskAccepted
    | LandRequested
    | CommandHandled
    | LearningRecorded
    | LearningDisputed
    | Noted
)
"""The tagged union that decoding validates against."""

Fact = AnyEvent | Unknown


class Envelope(Struct, frozen=True, kw_only=True):
    """An event as recorded: its place, its time and its stream (the sprint's id)."""

    seq: int
    stream: str
    at: float
    event: Fact
    schema: int = SCHEMA


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_raw_decoder: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
KNOWN_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in AnyEvent.__args__)
KNOWN_EFFECTS = frozenset(str(kind.__struct_config__.tag) for kind in AnyEffect.__args__)


def type_of(event: Fact) -> str:
    if isinstance(event, Unknown):
        return event.type
    return str(event.__struct_config__.tag)


def encode(event: Fact) -> bytes:
    """The stable JSON form of an event."""
    if isinstance(event, Unknown):
        return _encoder.encode(event.raw)
    return _encoder.encode(event)


def decode(data: bytes) -> Fact:
    """Read an event; what a newer version added is kept as Unknown. Raises msgspec.DecodeError for a broken one."""
    try:
        return _decoder.decode(data)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not UTF-8: {error}") from error
    except msgspec.ValidationError:
        raw = _raw_decoder.decode(data)
        kind = raw.get("type")
        if isinstance(kind, str) and (kind not in KNOWN_TYPES or _newer_effect(raw)):
            return Unknown(type=kind, raw=raw)
        raise


def _newer_effect(raw: dict[str, Any]) -> bool:
    """The intent of an effect that only a newer version knows."""
    effect = raw.get("effect")
    name = effect.get("do") if isinstance(effect, dict) else None
    return raw["type"] == "effect_started" and isinstance(name, str) and name not in KNOWN_EFFECTS


def encode_envelope(envelope: Envelope) -> bytes:
    """One JSON line for --json, replay files and the link's codec."""
    body = encode(envelope.event)
    head = _encoder.encode({"seq": envelope.seq, "stream": envelope.stream, "at": envelope.at, "v": envelope.schema})
    return head[:-1] + b',"event":' + body + b"}"


def decode_envelope(line: bytes) -> Envelope:
    raw = msgspec.json.decode(line, type=_Line)
    return Envelope(seq=raw.seq, stream=raw.stream, at=raw.at, schema=raw.v, event=decode(bytes(raw.event)))


class _Line(msgspec.Struct):
    seq: int
    stream: str
    at: float
    event: msgspec.Raw
    v: int = SCHEMA
