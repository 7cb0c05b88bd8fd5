"""What a human can tell a running sprint. `orders.obey` turns a command into events or refuses it."""

from __future__ import annotations

import msgspec

from engine.core.model import Struct


class Command(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="command"):
    """Base of commands. `id` is the sender's, echoed in the acknowledgement; `by` says who."""

    id: str = ""
    by: str = ""


class Answer(Command, frozen=True, kw_only=True, tag="answer"):
    """`choice` as it was typed: a word of the registry, or its letter."""

    gate: str
    choice: str
    text: str = ""


class SetAuto(Command, frozen=True, kw_only=True, tag="set_auto"):
    gate_kind: str
    auto: bool


class Pause(Command, frozen=True, kw_only=True, tag="pause"):
    pass


class Resume(Command, frozen=True, kw_only=True, tag="resume"):
    pass


class Stop(Command, frozen=True, kw_only=True, tag="stop"):
    now: bool = False


class Cancel(Command, frozen=True, kw_only=True, tag="cancel"):
    """End the sprint for good; commits made so far stay on its branch."""


class Steer(Command, frozen=True, kw_only=True, tag="steer"):
    task: str
    text: str


class Skip(Command, frozen=True, kw_only=True, tag="skip"):
    task: str


class Retry(Command, frozen=True, kw_only=True, tag="retry"):
    """`from_tree` None: go on from the kept tree where its checks were green, else start afresh."""

    task: str
    text: str = ""
    from_tree: bool | None = None
    rung: str = ""


class Allow(Command, frozen=True, kw_only=True, tag="allow"):
    """Grant a task what its plan does not: an entry of `allow:`."""

    task: str
    entry: str


class CallCouncil(Command, frozen=True, kw_only=True, tag="call_council"):
    task: str


class Accept(Command, frozen=True, kw_only=True, tag="accept"):
    """Take an ended task's kept work as it is, if its checks were green."""

    task: str


class Replan(Command, frozen=True, kw_only=True, tag="replan"):
    """Have the planner revise a task, or the plan (task empty); gated."""

    task: str
    text: str


class LandNow(Command, frozen=True, kw_only=True, tag="land"):
    """Fast-forward the user's branch, if their files still equal the snapshot."""


class SetAttended(Command, frozen=True, kw_only=True, tag="set_attended"):
    attended: bool


AnyCommand = (
    Answer
    | SetAuto
    | Pause
    | Resume
    | Stop
    | Cancel
    | Steer
    | Skip
    | Retry
    | Allow
    | CallCouncil
    | Accept
    | Replan
    | LandNow
    | SetAttended
)


class Ack(Struct, frozen=True, kw_only=True):
    """What became of a command."""

    ok: bool
    detail: str = ""
    late: bool = False
    """The run was over: nobody obeyed or refused it."""
