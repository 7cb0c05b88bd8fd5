"""Gates, and what the human said: answers, orders, permissions."""

from __future__ import annotations

from engine.core.event import Event
from engine.core.vocabulary import Choice, GateKind


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
