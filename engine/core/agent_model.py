"""What agents are asked to be and what they say, as frozen data: roles, rungs, results, reviews, diagnoses."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from engine.core.struct import Struct
from engine.core.vocabulary import Claim


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
