"""The nouns of the house as frozen data: plans, tasks, rungs, verdicts, results. Everything here is JSON-able."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from engine.core.vocabulary import ChangeKind, Claim, Severity


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value: frozen, keyword-only, compact in JSON; unknown fields from a newer version are ignored."""


class Verdict(StrEnum):
    """What a measurement says. Only PASS counts; "could not tell" is never "done"."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_RUN = "NOT_RUN"


class ProofVerdict(StrEnum):
    """What the runs R0–R4 say of a task's change. Only PROVEN and HARMLESS may become COMPLETE."""

    PROVEN = "PROVEN"
    HARMLESS = "HARMLESS"
    """The plan says that there is nothing to show, and nothing broke."""
    UNPROVEN = "UNPROVEN"
    """Nothing objects, but nothing was shown."""
    QUESTION = "QUESTION"
    """The change needs a permission it does not have: parked for a human, never the ladder."""
    FAIL = "FAIL"
    ERROR = "ERROR"
    """Could not be collected, started, finished or parsed: the environment's fault, never a pass."""


class MachineFault(StrEnum):
    """What the machine under the engine lacks. It suspends the run, touches no task and charges nobody."""

    DISK_FULL = "DISK_FULL"
    NO_MEMORY = "NO_MEMORY"
    NO_PROCESSES = "NO_PROCESSES"
    NO_DESCRIPTORS = "NO_DESCRIPTORS"
    STORE_FAULT = "STORE_FAULT"
    """The disk under the state folder or the repository fails, or became read-only."""
    BRANCH_LOST = "BRANCH_LOST"
    REPO_MOVED = "REPO_MOVED"
    GIT_LOCKED = "GIT_LOCKED"
    """Another git holds a lock in the repository, or left one behind when it died."""


class FaultDomain(StrEnum):
    """Whose fault a failure is. Only CODE iterates, escalates and goes to the council."""

    CODE = "code"
    JUDGE = "judge"
    AGENT = "agent"
    ENVIRONMENT = "environment"
    PLAN = "plan"
    MACHINE = "machine"


class Decision(StrEnum):
    """How an iteration, or a task, ended."""

    COMPLETE = "COMPLETE"
    ITERATE = "ITERATE"
    ESCALATE = "ESCALATE"
    COUNCIL = "COUNCIL"
    HALT = "HALT"
    BLOCKED = "BLOCKED"
    PARKED = "PARKED"
    """A question for a human: the work is kept until it is answered."""
    SKIPPED = "SKIPPED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"


class Health(StrEnum):
    """What the monitor sees, always given with a reason in words."""

    PROGRESSING = "PROGRESSING"
    STALLED = "STALLED"
    BLOCKED = "BLOCKED"
    REGRESSING = "REGRESSING"
    FLIP_FLOPPING = "FLIP_FLOPPING"


class Role(StrEnum):
    """What an agent is asked to be."""

    IMPLEMENTER = "implementer"
    SCOPE_JUDGE = "scope-judge"
    REVIEWER = "reviewer"
    SPRINT_REVIEWER = "sprint-reviewer"
    """Judges the finished sprint as a whole."""
    PLANNER = "planner"
    PLAN_REVIEWER = "plan-reviewer"
    COUNCILLOR = "councillor"
    SYNTHESIST = "synthesist"
    ANSWERER = "answerer"
    GATHERER = "gatherer"
    """Reads the repository before planning."""
    PRD_WRITER = "prd-writer"


class CheckKind(StrEnum):
    """The kinds of machine quality gates."""

    TESTS = "tests"
    TYPES = "types"
    LINT = "lint"
    SECURITY = "security"
    BUILD = "build"
    OWN = "own"


class ResultKind(StrEnum):
    """How an agent call ended. Only OK is a success."""

    OK = "ok"
    LIMIT = "limit"
    RATE = "rate"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    BILLING = "billing"
    CONTEXT = "context"
    MODEL = "model"
    NETWORK = "network"
    TURNS = "turns"
    BUDGET = "budget"
    REFUSAL = "refusal"
    DENIED = "denied"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    CRASH = "crash"
    NO_RESULT = "no_result"
    NOT_STARTED = "not_started"
    """The program is not there, or could not be run: nothing was spent, and no other rung mends it."""


class TaskSpec(Struct, frozen=True, kw_only=True):
    """A task as the plan states it."""

    id: str
    title: str
    description: str = ""
    accept: tuple[str, ...] = ()
    """Acceptance criteria; the reviewer answers each one."""
    scope: tuple[str, ...] = ()
    """Globs the task may touch; empty means the whole repository."""
    depends_on: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    """The task's own check commands."""
    priority: int = 0
    """Higher goes first among ready tasks of a phase."""
    complexity: int | None = None
    """0–14; None is estimated from the words of the task."""
    agent: str = ""
    """Name of a rung to start at, where the plan insists."""
    done: bool = False
    skipped: bool = False
    allow: tuple[str, ...] = ()
    """Permissions beyond the scope, e.g. "rename a to b", "edit tests/data.json"."""
    proof: str = ""
    """"none": the plan says that there is nothing to show (docs, refactoring); empty: a proof is wanted."""


class PhaseSpec(Struct, frozen=True, kw_only=True):
    """An ordered group of tasks. A scaffold phase comes first."""

    id: str
    title: str
    tasks: tuple[TaskSpec, ...]
    scaffold: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """One request and its phases."""

    title: str
    phases: tuple[PhaseSpec, ...]
    status: str = "DRAFT"
    topic: str = ""
    """The word in `impl(topic): …`; empty means the sprint's slug."""
    summary: str = ""

    def tasks(self) -> tuple[TaskSpec, ...]:
        return tuple(task for phase in self.phases for task in phase.tasks)


class Rung(Struct, frozen=True, kw_only=True):
    """One step of the ladder: an (agent, model) pair."""

    name: str
    agent: str
    model: str = ""
    reserve_usd: float = 1.0
    """Set aside before each call."""
    cap_usd: float = 0.0
    """The most one call may cost, where the agent can be told; 0: what the budget leaves."""


class Tokens(Struct, frozen=True, kw_only=True):
    """Token counts of one call."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, more: Tokens) -> Tokens:
        return Tokens(
            input=self.input + more.input,
            output=self.output + more.output,
            cache_read=self.cache_read + more.cache_read,
            cache_write=self.cache_write + more.cache_write,
        )


class Issue(Struct, frozen=True, kw_only=True):
    """One finding of a review."""

    text: str
    fix: str = ""
    alternative: str = ""
    confidence: str = ""
    path: str = ""
    line: int = 0
    critical: bool = False


class Criterion(Struct, frozen=True, kw_only=True):
    """A reviewer's answer to one acceptance criterion."""

    text: str
    met: bool
    reference: str = ""


class Review(Struct, frozen=True, kw_only=True):
    """A review of a tree against its task. It can only lower a verdict."""

    approved: bool
    criteria: tuple[Criterion, ...] = ()
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()
    summary: str = ""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What the Bug Council concluded."""

    root_cause: str
    recommended_fix: str
    insight: str = ""
    test_cases: tuple[str, ...] = ()


class AgentResult(Struct, frozen=True, kw_only=True):
    """The one result of every agent call, whatever the agent."""

    kind: ResultKind
    text: str = ""
    structured: dict[str, Any] | None = None
    session: str = ""
    model: str = ""
    tokens: Tokens = Tokens()
    cost_usd: float | None = None
    """None: unknown, the reservation is charged."""
    cost_is_estimate: bool = False
    reset_at: float | None = None
    denials: tuple[str, ...] = ()
    claim: Claim = Claim.NONE
    """What the agent says of itself. Never believed, only heard."""
    claim_text: str = ""
    exit_code: int | None = None
    error: str = ""
    silent: bool = False
    """It ended before its first word: the program's fault, not the work's."""
    hint: str = ""
    """What the user may type to mend it."""
    seconds: float = 0.0
    log: str = ""
    """Path of the raw stream, below the state directory."""


class SessionSummary(Struct, frozen=True, kw_only=True):
    """What a session that ran out of context did, as the engine heard it: for the fresh one that takes its work up."""

    tools: tuple[str, ...] = ()
    """Its last tool calls, one line each."""
    left_out: int = 0
    """Tool calls before those."""
    words: str = ""
    """The last it said."""


class FileChange(Struct, frozen=True, kw_only=True):
    """One path of a tree diff."""

    path: str
    change: ChangeKind
    added: int = 0
    removed: int = 0


class TestCounts(Struct, frozen=True, kw_only=True):
    """Attribution of tests in one check."""

    __test__ = False

    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    new: int = 0
    fixed: int = 0
    broken_before: int = 0
    flaky: int = 0
    gone: int = 0


class Finding(Struct, frozen=True, kw_only=True):
    """One thing a check or the integrity rules object to."""

    rule: str
    text: str
    path: str = ""
    line: int = 0
    severity: Severity = "error"


class Proof(Struct, frozen=True, kw_only=True):
    """One thing that was red on the base and is green on the change."""

    kind: str
    """verify: a command of the task; fixed: a test of the base; new: a test the change adds."""
    name: str
    """The command, or the test's id."""
    check: str = ""
    path: str = ""
    line: int = 0
    red: str = ""
    """How it failed on the base, in a line."""
    boundary: str = ""
    """With the subject in another process: holds, differs, cannot cross; empty where that was not tried."""


class Question(Struct, frozen=True, kw_only=True):
    """A permission that the change needs and the plan does not give."""

    rule: str
    text: str
    allow: str
    """The entry of the task's `allow:` that would grant it."""
    path: str = ""
    line: int = 0
    before: str = ""
    """The old test, file or line, as an excerpt."""
    after: str = ""


class CheckResult(Struct, frozen=True, kw_only=True):
    """What one check measured."""

    name: str
    kind: CheckKind
    verdict: Verdict
    reason: str = ""
    required: bool = True
    command: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    counts: TestCounts | None = None
    failing: tuple[str, ...] = ()
    """Ids of failing tests, or fingerprints of findings, that this change is answerable for."""
    findings: tuple[Finding, ...] = ()
    errors: int = 0
    warnings: int = 0
    coverage: float | None = None
    output: str = ""
    """The tail of the check's own output, for the next attempt and for people."""
    missing: bool = False
    """It cannot be run, on the base neither: its tool is not there, or the machine is at fault. Nothing in the tree
    mends that."""
    no_tests_yet: bool = False
    """None ran, and none were there: as the configuration says, the first task brings them. Never a pass."""
    only_in_clone: tuple[str, ...] = ()
    """Of a baseline: tests that pass in the user's checkout and not in the clone; the check's name: all of it."""
    hint: str = ""
    """The one line that mends an environment's fault."""
    source: str = ""
    """Where the verdict comes from: junit, sarif, json or exit code."""
    evidence: str = ""
    """Hash of the evidence record."""


class Disputed(Struct, frozen=True, kw_only=True):
    """A learning that agents contradict."""

    title: str = ""
    said: tuple[str, ...] = ()
    """Who says so and why, since a human last spoke."""
    gate: str = ""
    settled: str = ""
    """What the human said."""


class RestoredEnd(Struct, frozen=True, kw_only=True):
    """How a task had ended when a checkpoint was made."""

    decision: Decision
    reason: str = ""
    action: str = ""
