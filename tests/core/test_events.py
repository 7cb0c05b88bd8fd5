"""The vocabulary has a stable JSON form: the golden file of each schema version is read and written unchanged.

A change that breaks these tests breaks journals on disk. New types and new optional fields are added with
`python -m tests.core.test_events`, which appends what is missing and never touches a line that is there.
"""

from __future__ import annotations

import json
import pathlib
import sys

import msgspec
import pytest

from engine.core import effects as ef
from engine.core import events as ev
from tests.core.samples import EFFECTS, EVENTS, every_effect, every_event

GOLDEN = pathlib.Path(__file__).parent / "golden" / f"events-v{ev.SCHEMA}.jsonl"
LINES = GOLDEN.read_bytes().splitlines() if GOLDEN.exists() else []


def _name(line: bytes) -> str:
    raw = json.loads(line)
    return f"{raw['type']} {raw['effect']['do']}" if raw["type"] == "effect_started" else str(raw["type"])


def test_every_type_of_event_and_effect_is_in_the_golden_file() -> None:
    decoded = [ev.decode(line) for line in LINES]
    assert {ev.type_of(event) for event in decoded} == ev.KNOWN_TYPES
    intents = {event.effect.__struct_config__.tag for event in decoded if isinstance(event, ev.EffectStarted)}
    assert intents == {kind.__struct_config__.tag for kind in EFFECTS}


@pytest.mark.parametrize("line", LINES, ids=_name)
def test_the_json_form_is_stable(line: bytes) -> None:
    event = ev.decode(line)
    assert not isinstance(event, ev.Unknown)
    assert ev.encode(event) == line


@pytest.mark.parametrize("event", every_event(), ids=lambda event: _name(ev.encode(event)))
def test_every_field_is_held(event: ev.AnyEvent) -> None:
    """A field that is new, gone or renamed differs from what the golden file holds."""
    assert ev.encode(event) in LINES
    assert ev.decode(ev.encode(event)) == event


def test_tags_are_unique_and_names_follow_the_classes() -> None:
    for kinds in (EVENTS, EFFECTS):
        tags = [str(kind.__struct_config__.tag) for kind in kinds]
        assert len(set(tags)) == len(tags)
        assert [tag.replace("_", "") for tag in tags] == [kind.__name__.lower() for kind in kinds]


# ── tomorrow's events ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        pytest.param(b'{"type":"moon_landed","crew":[1,2],"note":{"a":null}}', "moon_landed", id="an event"),
        pytest.param(b'{"type":"effect_started","effect":{"do":"dance","id":"1"}}', "effect_started", id="an effect"),
    ],
)
def test_a_type_of_a_newer_version_is_kept_as_it_is(line: bytes, kind: str) -> None:
    event = ev.decode(line)
    assert isinstance(event, ev.Unknown)
    assert ev.type_of(event) == kind
    assert ev.encode(event) == line


def test_fields_of_a_newer_version_are_no_error() -> None:
    assert ev.decode(b'{"type":"paused","by":"ann","mood":"good"}') == ev.Paused(by="ann")
    line = b'{"seq":3,"stream":"001","at":1.5,"v":2,"shard":9,"event":{"type":"paused","mood":1}}'
    envelope = ev.decode_envelope(line)
    assert (envelope.seq, envelope.schema, envelope.event) == (3, 2, ev.Paused())


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half a line"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'"paused"', id="a word"),
        pytest.param(b"{}", id="no type"),
        pytest.param(b'{"type":7}', id="a type that is no word"),
        pytest.param(b'{"type":"wait_ended"}', id="a field is missing"),
        pytest.param(b'{"type":"wait_ended","id":5}', id="a field of the wrong type"),
        pytest.param(b'{"type":"decided","task":"1","iteration":1,"decision":"MAYBE","reason":"","rung":0}', id="enum"),
        pytest.param(b'{"type":"effect_started","effect":{"do":"wait","id":"1"}}', id="half an effect"),
        pytest.param(b'{"type":"effect_started","effect":{"id":"1"}}', id="an effect without a name"),
        pytest.param(b'{"type":"paused","by":"\xff"}', id="not UTF-8"),
    ],
)
def test_what_is_broken_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        ev.decode(line)


def test_an_envelope_is_one_line_and_comes_back() -> None:
    for number, event in enumerate(every_event(), 1):
        envelope = ev.Envelope(seq=number, stream="001-demo", at=1.25, event=event)
        line = ev.encode_envelope(envelope)
        assert b"\n" not in line
        assert json.loads(line)["event"]["type"] == ev.type_of(event)
        assert ev.decode_envelope(line) == envelope


def test_values_are_frozen() -> None:
    for value in (*every_event(), *every_effect()):
        with pytest.raises(AttributeError):
            value.task = "x"  # type: ignore[union-attr, misc]


def test_effects_alone_come_back() -> None:
    for effect in every_effect():
        assert msgspec.json.decode(msgspec.json.encode(effect), type=ef.AnyEffect) == effect


def _append_missing() -> None:
    missing = [line for line in map(ev.encode, every_event()) if line not in LINES]
    with GOLDEN.open("ab") as file:
        file.writelines(line + b"\n" for line in missing)
    print(f"{len(missing)} lines added to {GOLDEN}")


if __name__ == "__main__":
    sys.exit(_append_missing())
