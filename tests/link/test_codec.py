"""Everything that passes a link has a JSON form that comes back as it went."""

from __future__ import annotations

import pytest

from engine.core import commands as cmd
from engine.core.events import Envelope, Noted, Unknown
from engine.link import codec
from engine.link import contract as ct
from tests.tui.recordings import FIXTURE, lines, sprint, whole


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
    "command",
    [
        cmd.Answer(id="1", by="x", gate="G1", choice="comment", text="a\nb"),
        cmd.SetAuto(gate_kind="fix", auto=True),
        cmd.Pause(),
        cmd.Resume(),
        cmd.Stop(now=True),
        cmd.Cancel(),
        cmd.Steer(task="1.1", text="x"),
        cmd.Skip(task="1.1"),
        cmd.Retry(task="1.1"),
        cmd.LandNow(),
        cmd.SetAttended(attended=False),
    ],
    ids=lambda command: type(command).__name__,
)
def test_commands_come_back(command: cmd.AnyCommand) -> None:
    assert codec.decode_command(codec.encode_command(command)) == command


def test_queries_and_answers_come_back() -> None:
    for query in (
        ct.GetDiff(task="1"),
        ct.GetEvidence(task="1"),
        ct.GetReport(),
        ct.GetOutput(task="1"),
        ct.GetSprints(),
    ):
        assert codec.decode_query(codec.encode_query(query)) == query
    answered = ct.Answered(text="x", evidence=({"a": 1},), events=(b"{}",), sprints=(), path="/x")
    assert codec.decode_answered(codec.encode_answered(answered)) == answered
    assert codec.decode_ack(codec.encode_ack(ct.Ack(ok=False, detail="no"))) == ct.Ack(ok=False, detail="no")


async def test_a_snapshot_comes_back() -> None:
    state = await whole().snapshot()
    assert codec.decode_state(codec.encode_state(state)) == state


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
