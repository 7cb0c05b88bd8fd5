"""The closed sets that events, state and screens share. Every `match` over one of them ends in `assert_never`.

A set that only the core and the screens use is a `StrEnum`; one whose words performers write as well is a `Literal`.
The values are the JSON of the journal: add members, never rename them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class GateKind(StrEnum):
    """What a human is asked."""

    FIX = "fix"
    """The review wants changes."""
    TASK = "task"
    """The evidence is complete: commit it?"""
    BLOCKED = "blocked"
    """Something only a human can move."""
    PERMISSION = "permission"
    """The change needs a permission that the plan does not give."""
    QUESTION = "question"
    """The planner asks."""
    PLAN = "plan"
    PRD = "prd"
    SPRINT = "sprint"
    """The final review wants changes."""
    LEARNING = "learning"
    """Agents contradict a learning."""


class Choice(StrEnum):
    """What may be answered, and how else a gate may close. `gate_choices.RECORDS` says what each one does."""

    YES = "yes"
    AUTO = "auto"
    SKIP = "skip"
    ASK = "ask"
    COMMENT = "comment"
    RETRY = "retry"
    STOP = "stop"
    ACCEPT = "accept"
    REPLAN = "replan"
    BLOCKED = "blocked"
    """Nobody attends any more: the question is taken back, and the task sees to itself."""
    EDITED = "edited"
    """What it asked about was changed by hand meanwhile."""
    WITHDRAWN = "withdrawn"
    """The gate asks nothing any more."""
    UNKNOWN = "unknown"
    """A word of a newer version: it decides nothing, so the question is put again."""

    @classmethod
    def _missing_(cls, value: object) -> Choice | None:
        return cls.UNKNOWN if isinstance(value, str) else None


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    LIMIT = "limit"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class Council(StrEnum):
    """Where a task's Bug Council is."""

    NONE = ""
    SITTING = "sitting"
    DONE = "done"


class Recovery(StrEnum):
    """What the next iteration does about a bad health."""

    NONE = ""
    FRESH = "fresh"
    """A fresh session."""
    LAST_GOOD = "last_good"
    """From the last good tree."""
    BACK_TWO = "back_two"
    """From the tree two iterations ago; a human is asked."""
    HUMAN = "human"
    """The recoveries are used up."""


class Claim(StrEnum):
    """What an implementer says of itself: heard, never believed."""

    NONE = ""
    COMPLETE = "complete"
    BLOCKED = "blocked"
    FAILED = "failed"


class Stopping(StrEnum):
    """How a run is being ended."""

    NO = ""
    GRACEFUL = "graceful"
    NOW = "now"


class Detached(StrEnum):
    """What a sprint does when the last one who watched it leaves."""

    CONTINUE = "continue"
    WAIT = "wait"
    PAUSE = "pause"


class Standing(StrEnum):
    """A circuit breaker's."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


Severity = Literal["critical", "error", "human", "warning", "note"]
"""critical triggers the halt rule; error fails the check; human asks somebody; warning and note are only shown."""
Purpose = Literal["task", "baseline", "final"]
"""What checks are run for."""
ChangeKind = Literal["added", "modified", "deleted", "type"]
FailureKind = Literal["transient", "permanent", "recoverable"]
"""What our own part's failure asks for: again after a backoff, nothing more, or recover and again."""
LinkState = Literal["connecting", "connected", "read_only", "lost", "ended"]
"""The connection between a user interface and an engine."""
GateMode = Literal["gated", "auto"]
LadderKind = Literal["classic", "index"]
ReviewMode = Literal["task", "batch"]
Level = Literal["info", "warning", "error"]
"""How loud a note is."""

RunnerName = Literal[
    "", "pytest", "unittest", "django", "node", "tape", "mocha", "jest", "vitest", "go", "cargo", "java"
]
"""Test runners that the engine starts itself; empty: a plain command. The records are in perform/checks/run/runners."""
