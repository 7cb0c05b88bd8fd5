"""What passes over the channel: one JSON message a line. Facts and live activity go in their own forms, unwrapped."""

from __future__ import annotations

import msgspec

from engine.core.activity import AnyActivity
from engine.core.commands import AnyCommand
from engine.core.events import Envelope, decode_envelope, encode_envelope

PROTOCOL = 1
LARGEST = 1_000_000
"""Bytes of one line from a viewer; more is garbage."""


class Said(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="say"):
    """Base of what a viewer says."""


class Hello(Said, frozen=True, kw_only=True, tag="hello"):
    """The first line of every connection."""

    protocol: int
    version: str
    watching: bool = False
    """A person looks on: they attend, and get every fact after `after` and all that is live."""
    after: int = 0


class Tell(Said, frozen=True, kw_only=True, tag="tell"):
    """A command; its reply comes once its facts are in the journal."""

    call: int
    command: AnyCommand


class Ask(Said, frozen=True, kw_only=True, tag="ask"):
    """A question that changes nothing, in the form of the link's queries."""

    call: int
    query: msgspec.Raw


AnySaid = Hello | Tell | Ask


class Heard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="channel"):
    """Base of what the engine says beside facts and live activity."""


class Welcome(Heard, frozen=True, kw_only=True, tag="welcome"):
    """Who is at the other end."""

    protocol: int
    version: str
    pid: int
    root: str
    sprint: str
    title: str = ""
    viewers: int = 0
    health: str = ""
    spent_usd: float = 0.0
    done: int = 0
    total: int = 0
    waiting: str = ""
    """What it waits for, and since when, in words; empty while it works."""
    attended: bool = False
    since: float = 0.0


class Refused(Heard, frozen=True, kw_only=True, tag="refused"):
    """The connection ends, and why."""

    reason: str
    hint: str = ""


class Reply(Heard, frozen=True, kw_only=True, tag="reply"):
    """What became of a command. `late`: the run was over, nobody obeyed or refused it."""

    call: int
    ok: bool
    detail: str = ""
    late: bool = False


class Answer(Heard, frozen=True, kw_only=True, tag="answer"):
    call: int
    answer: msgspec.Raw


AnyHeard = Welcome | Refused | Reply | Answer


class BadMessage(ValueError):  # noqa: N818  it names what came, not what went wrong
    """A line that is no message of the channel."""


_encoder = msgspec.json.Encoder()
_said: msgspec.json.Decoder[AnySaid] = msgspec.json.Decoder(AnySaid)
_heard: msgspec.json.Decoder[AnyHeard] = msgspec.json.Decoder(AnyHeard)
_live: msgspec.json.Decoder[AnyActivity] = msgspec.json.Decoder(AnyActivity)


class _Probe(msgspec.Struct):
    channel: str = ""
    live: str = ""


_probe = msgspec.json.Decoder(_Probe)


def encode(message: AnySaid | AnyHeard | AnyActivity | Envelope) -> bytes:
    """One line, its line break included."""
    return (encode_envelope(message) if isinstance(message, Envelope) else _encoder.encode(message)) + b"\n"


def decode_said(line: bytes) -> AnySaid:
    try:
        return _said.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadMessage(f"this is no message of the channel: {error}") from error


def decode_heard(line: bytes) -> AnyHeard | AnyActivity | Envelope:
    try:
        probe = _probe.decode(line)
        if probe.channel:
            return _heard.decode(line)
        return _live.decode(line) if probe.live else decode_envelope(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadMessage(f"this is no message of the channel: {error}") from error
