"""The way of output into the engine: whole lines in blocks, redacted once where they come in, nothing lost or torn."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.activity import OutputKind
from engine.core.model import ResultKind, Role
from engine.perform.agents import headless, wire
from engine.perform.agents.claude_stream import ClaudeStream
from engine.perform.agents.command_stream import TextStream
from engine.perform.process.pump import CUT, InBlocks, Lines
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import AgentCall, Finished, Output, ProcessSpec
from engine.perform.secrets.redact import MARK
from tests.patience import patience

SECRET = "the-value-nobody-may-see"


def fed(data: bytes, cuts: list[int], hear: Callable[[Callable[[bytes], None]], object], most: int) -> None:
    lines = Lines(hear, most, 0, lambda: 0.0)  # type: ignore[arg-type]
    at = 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        lines.feed(data[at:cut])
        at = cut
    lines.close()


@given(
    data=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\n\n", b"longer than a line may be", b"\r\n"])).map(b"".join),
    cuts=st.lists(st.integers(0, 500), max_size=8),
    most=st.sampled_from([4, 10, 60]),
)
def test_blocks_hold_the_lines_that_come_one_by_one(data: bytes, cuts: list[int], most: int) -> None:
    single: list[bytes] = []
    blocks: list[bytes] = []
    fed(data, cuts, single.append, most)  # type: ignore[arg-type]
    fed(data, cuts, InBlocks(blocks.append), most)  # type: ignore[arg-type]
    assert [line for block in blocks for line in block.split(b"\n")] == single


def test_a_line_without_end_is_cut_where_it_may_be(tmp_path: Path) -> None:
    blocks: list[bytes] = []
    lines = Lines(InBlocks(blocks.append), 100_000, 0, lambda: 0.0)
    for _ in range(50):
        lines.feed(b"z" * 65_536)
    lines.feed(b"\nnext\n")
    assert blocks == [b"z" * 100_000 + CUT % 100_000, b"next"]


@given(st.lists(st.sampled_from(["a", "word ", "x" * 5000, "ü", "\n", "\n\n", "\r\n", "ends\n"]), max_size=40))
def test_pieces_are_the_text_and_no_line_is_torn(parts: list[str]) -> None:
    block = "".join(parts).encode()
    words = block.decode().replace("\r\n", "\n")
    found = wire.pieces(block, OutputKind.TEXT)
    assert all(len(one.text) <= wire.SHOWN + 2 for one in found)
    whole = [line for line in words.split("\n") if line.strip() and len(line) <= wire.SHOWN]
    shown = [line for one in found for line in one.text.split("\n") if line.strip()]
    assert [line for line in shown if not line.endswith(" …")] == whole


@given(st.lists(st.sampled_from(['{"a":1}', ' {"b":2} ', "plain", "", "{ no", "{}", '  {"c":\t3}'])))
def test_parts_find_every_object(lines: list[str]) -> None:
    """Whatever decodes to an object is handed over alone; everything is handed over once, in order."""
    block = "\n".join(lines).encode()
    found = list(wire.parts(block))
    assert [line for part, _ in found for line in part.split(b"\n") if line] == [
        one for one in block.split(b"\n") if one
    ]
    objects = [line.encode() for line in lines if wire.decode(line.encode()) is not None]
    assert [part for part, is_event in found if is_event and wire.decode(part) is not None] == objects


def call_of(folder: Path) -> AgentCall:
    return AgentCall(
        effect="e1", role=Role.IMPLEMENTER, model="m", prompt="p", log=folder / "raw.log", secrets=(SECRET,),
        checkout=folder, clone=folder, home=folder, timeout=patience(60),
    )  # fmt: skip


@pytest.mark.parametrize("reader", ["text", "json"])
async def test_what_comes_in_is_redacted_there_and_said_so(reader: str, tmp_path: Path) -> None:
    """Also where the secret lies across the pump's chunks and in the middle of a flood of short lines."""
    rng = random.Random(5)
    flood = [f"line {number} {rng.random()}" for number in range(20_000)]
    for place in range(500, 20_000, 1000):
        flood[place] = f"it is {SECRET}!"
        flood[place + 1] = '{"type":"assistant","message":{"content":[{"type":"text","text":"' + SECRET + '"}]}}'
    (tmp_path / "printed").write_text("\n".join(flood) + "\n")
    call = call_of(tmp_path)
    stream = TextStream(call, lambda: 0.0, "command") if reader == "text" else ClaudeStream(call, lambda: 0.0)
    spawner = ProcessSpawner("none", "output-path", lambda: 0.0, home=tmp_path, scratch=tmp_path)
    heard: list[Output] = []
    spec = ProcessSpec(argv=("/bin/cat", str(tmp_path / "printed")), cwd=tmp_path, env={}, timeout=patience(60))
    finished = await headless.listen(stream, call, spec, spawner, heard.append)
    raw = (tmp_path / "raw.log").read_text()
    assert raw.count("\n") == 20_000 and SECRET not in raw and raw.count(MARK) == 40
    assert all(one.redacted and SECRET not in one.text for one in heard)
    assert sum(one.text.count(MARK) for one in heard) == 40
    assert sum(one.text.count("line ") for one in heard) == 20_000 - 40
    assert len(heard) < 400
    if reader == "text":
        result = stream.finish(finished)
        assert result.kind is ResultKind.OK and SECRET not in result.text and result.text.endswith(flood[-1])


def test_the_end_of_a_flood_is_kept_and_no_more() -> None:
    stream = TextStream(call_of(Path("/nowhere")), lambda: 0.0, "command")
    for number in range(3000):
        stream.feed_block(b"%06d\n" % number * 100)
    text = stream.finish(Finished(reason="exited", exit_code=0)).text
    assert text.rstrip().endswith("002999") and 300_000 < len(text) < 500_000


def test_of_what_is_no_text_only_the_size_is_shown() -> None:
    data = random.Random(1).randbytes(50_000)
    assert [one.text for one in wire.pieces(data, OutputKind.RAW)] == ["(50,000 bytes that are no text)"]
    assert len(wire.pieces(("\x1b[31mrot\x1b[0m\tgrün\r\n" * 3000).encode(), OutputKind.RAW)) > 5
