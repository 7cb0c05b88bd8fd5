"""The nouns of DESIGN §2 as frozen data: plans, tasks, rungs, verdicts, results. Everything here is JSON-able."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value: frozen, keyword-only, compact in JSON; unknown fields from a newer version are ignored."""


class Verdict(StrEnum):
    """What a measurement says. Only PASS counts; "could not tell" is never "done"."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_RUN = "NOT_RUN"


class Decision(StrEnum):
    """How an iteration, or a task, ended."""

    COMPLETE = "COMPLETE"
    ITERATE = "ITERATE"
    ESCALATE = "ESCALATE"
    COUNCIL = "COUNCIL"
    HALT = "HALT"
    BLOCKED = "BLOCKED"
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
    PLANNER = "planner"
    PLAN_REVIEWER = "plan-reviewer"
    COUNCILLOR = "councillor"
    SYNTHESIST = "synthesist"
    ANSWERER = "answerer"


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
    """What the plan waives for this task, e.g. "delete-tests" or a test id that may go."""


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
    """Reserved before each call; also the call's own cap where the agent has one."""


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
    claim: str = ""
    """What the agent says of itself: complete, blocked, failed or nothing. Never believed, only heard."""
    claim_text: str = ""
    exit_code: int | None = None
    error: str = ""
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
    change: str
    """added, modified, deleted or type."""
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
    severity: str = "error"
    """error fails the check; human asks somebody; note is only shown; critical triggers the halt rule."""


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
    """Its tool is not there, and was not there on the base: nothing in the tree mends that."""
    source: str = ""
    """Where the verdict comes from: junit, sarif, json or exit code."""
    evidence: str = ""
    """Hash of the evidence record."""
