"""What happens while an effect runs: shown live, written to the effect's log file, never in the journal."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.core.model import Role, Tokens


class OutputKind(StrEnum):
    """The one vocabulary of agent output."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    FILE_CHANGE = "file_change"
    RETRY = "retry"
    LIMIT = "limit"
    USAGE = "usage"
    RAW = "raw"
    """An event type the adapter does not know, shown as it is."""
    ERROR = "error"


class Activity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="live"):
    """Base of live, transient messages. `effect` is the id of the effect under way; text is clean already."""

    effect: str
    task: str = ""
    lane: int = -1
    at: float = 0.0


class AgentOutput(Activity, frozen=True, kw_only=True, tag="agent_output"):
    kind: OutputKind
    role: Role
    seat: str = ""
    """The councillor's seat: five speak at once."""
    text: str = ""
    tool: str = ""
    path: str = ""
    tokens: Tokens | None = None


class CheckProgress(Activity, frozen=True, kw_only=True, tag="check_progress"):
    """state: running, done; verdict once it is known."""

    check: str
    state: str
    verdict: str = ""
    detail: str = ""


class Countdown(Activity, frozen=True, kw_only=True, tag="countdown"):
    """A wait under way."""

    until: float
    reason: str


AnyActivity = AgentOutput | CheckProgress | Countdown
