"""Every fact the system can record: the whole vocabulary by its names, and its JSON form. Decoding is validation.

The facts stand by subject in `run_events`, `planning_events`, `work_events`, `decision_events` and `human_events`.
The JSON form is stable: a golden file per schema version is replayed by the tests. An unknown type decodes to
`Unknown` with its raw JSON kept; unknown fields are ignored here and kept in the journal, which never re-encodes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.core.decision_events import (
    BudgetWarned,
    Decided,
    HealthChanged,
    IterationStarted,
    TaskEnded,
    TasksReopened,
    TaskStarted,
)
from engine.core.effects import AnyEffect
from engine.core.event import SCHEMA
from engine.core.human_events import (
    AutoChanged,
    CommandHandled,
    CouncilRequested,
    GateAnswered,
    GateAsked,
    GateOpened,
    GatePassed,
    GateReplied,
    LandRequested,
    PermissionGranted,
    RetryRequested,
    SkipRequested,
    Steered,
    TaskAccepted,
)
from engine.core.model import Struct
from engine.core.planning_events import (
    ContextGathered,
    PlanApproved,
    PlanChecked,
    PlanDrafted,
    PlanRequested,
    PlanReviewed,
    PrdDrafted,
    QuestionAnswered,
    QuestionsAsked,
    Surveyed,
)
from engine.core.run_events import (
    AttendanceChanged,
    EffectFailed,
    EffectInterrupted,
    EffectStarted,
    MachineProbed,
    Noted,
    Paused,
    PlanChanged,
    PolicyChanged,
    Resumed,
    RunEnded,
    RunStarted,
    SprintCancelled,
    SprintCreated,
    StopRequested,
    WaitEnded,
)
from engine.core.work_events import (
    AgentFinished,
    BaselineCreated,
    BaseMoved,
    BranchMoved,
    CheckpointSaved,
    ChecksFinished,
    Committed,
    CouncilFinished,
    DiagnosisGiven,
    Landed,
    LearningDisputed,
    LearningRecorded,
    ReviewFinished,
    RolledBack,
    ScopeChecked,
    ScopeJudged,
    SpendFound,
    SprintReviewed,
    TreeKept,
    WorkLost,
    WorkspaceReady,
)


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
