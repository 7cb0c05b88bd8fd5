"""What a human can tell a running sprint. `orders.obey` turns a command into events or refuses it."""

from __future__ import annotations

import msgspec


class Command(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="command"):
    """Base of commands. `id` is the sender's, echoed in the acknowledgement; `by` says who."""

    id: str = ""
    by: str = ""


class Answer(Command, frozen=True, kw_only=True, tag="answer"):
    """choice: yes, auto, skip, ask, comment, retry or stop, or their one-letter forms."""

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
    task: str
    text: str = ""


class LandNow(Command, frozen=True, kw_only=True, tag="land"):
    """Fast-forward the user's branch, if their files still equal the snapshot."""


class SetAttended(Command, frozen=True, kw_only=True, tag="set_attended"):
    attended: bool


AnyCommand = Answer | SetAuto | Pause | Resume | Stop | Cancel | Steer | Skip | Retry | LandNow | SetAttended
