"""The JSON form of everything that passes a link: one message a line, the same in a socket and in a recording.

A line with "event" is a fact, with "live" an activity, with "link" the link's own state, with "answer" the recorded
answer to a query.
"""

from __future__ import annotations

import msgspec

from engine.core.activity import AnyActivity
from engine.core.events import Envelope, decode_envelope, encode_envelope
from engine.core.model import Struct
from engine.link.protocol import Answered, AnyQuery, Item, LinkStatus


class CodecError(ValueError):
    """A line that is no message of a link; says what is wrong with it."""


class Recorded(Struct, frozen=True, kw_only=True):
    """A query with the answer it had when the recording was made."""

    query: AnyQuery
    answer: Answered


class _Probe(msgspec.Struct):
    """Enough of a line to tell what it is."""

    event: msgspec.Raw = msgspec.Raw()
    live: str = ""
    link: msgspec.Raw = msgspec.Raw()
    answer: msgspec.Raw = msgspec.Raw()


_encoder = msgspec.json.Encoder()
_probe = msgspec.json.Decoder(_Probe)
_activity: msgspec.json.Decoder[AnyActivity] = msgspec.json.Decoder(AnyActivity)
_status = msgspec.json.Decoder(LinkStatus)
_recorded = msgspec.json.Decoder(Recorded)


def encode_item(item: Item | Recorded) -> bytes:
    """One line, without its line break."""
    match item:
        case Envelope():
            return encode_envelope(item)
        case LinkStatus():
            return b'{"link":' + _encoder.encode(item) + b"}"
        case _:
            return _encoder.encode(item)


def decode_item(line: bytes) -> Item | Recorded:
    """Read a line back. Raises CodecError with the reason."""
    try:
        probe = _probe.decode(line)
        if bytes(probe.event):
            return decode_envelope(line)
        if probe.live:
            return _activity.decode(line)
        if bytes(probe.link):
            return _status.decode(bytes(probe.link))
        if bytes(probe.answer):
            return _recorded.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise CodecError(f"not a message of a link: {error}") from error
    raise CodecError("not a message of a link: none of event, live, link, answer is in it")
