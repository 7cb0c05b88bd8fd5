"""Everything that passes a link has a JSON form that comes back as it went."""

from __future__ import annotations

import pytest

from engine.core.events import Envelope, Noted, Unknown
from engine.link import codec
from engine.link import protocol as ct
from tests.tui.recordings import FIXTURE, lines, sprint


def test_every_item_of_a_whole_sprint_comes_back() -> None:
    for item in sprint()[0]:
        line = codec.encode_item(item)
        assert b"\n" not in line
        assert codec.decode_item(line) == item


@pytest.mark.parametrize(
    "item",
    [
        ct.LinkStatus(status="lost", detail="gone", hint="devteam run"),
        Envelope(seq=1, stream="s", at=1.5, event=Noted(text='quote " and \n line')),
        Envelope(seq=2, stream="s", at=2.0, event=Unknown(type="new_thing", raw={"type": "new_thing", "x": [1]})),
    ],
    ids=["status", "noted", "unknown"],
)
def test_other_items_come_back(item: ct.Item) -> None:
    assert codec.decode_item(codec.encode_item(item)) == item


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{}", id="nothing known"),
        pytest.param(b"[1,2]", id="no object"),
        pytest.param(b'{"event":{"type":"paused"}', id="cut"),
        pytest.param(b'{"live":"nonsense","effect":"e"}', id="unknown activity"),
        pytest.param(b'{"seq":"x","stream":"s","at":1,"event":{"type":"paused"}}', id="wrong type"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"event":' + b"[" * 100_000, id="bomb"),
    ],
)
def test_a_broken_line_is_an_error_with_words(line: bytes) -> None:
    with pytest.raises(codec.CodecError, match="not a message"):
        codec.decode_item(line)


def test_the_committed_recording_is_what_the_project_writes() -> None:
    assert FIXTURE.read_bytes() == lines()
