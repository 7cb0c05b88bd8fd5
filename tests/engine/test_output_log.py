"""The log of what an agent said: whole, in order, and a disk that is full is not passed over."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from engine.core.activity import AgentOutput, OutputKind
from engine.core.model import Role
from engine.perform.output_log import OutputLog


def said(text: str) -> AgentOutput:
    return AgentOutput(effect="e", kind=OutputKind.TEXT, role=Role.IMPLEMENTER, text=text)


def read(path: Path) -> list[str]:
    return [msgspec.json.decode(line, type=AgentOutput).text for line in path.read_bytes().splitlines()]


async def test_it_is_there_after_the_turn_in_which_it_was_said(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "call.jsonl"
    log = OutputLog(path)
    for number in range(3):
        log.add(said(f"{number}\n"))
    await asyncio.sleep(0)
    assert read(path) == ["0\n", "1\n", "2\n"]
    log.add(said("last"))
    log.close()
    assert read(path) == ["0\n", "1\n", "2\n", "last"]
    await asyncio.sleep(0)  # what was to be written is written once
    assert read(path) == ["0\n", "1\n", "2\n", "last"]


async def test_a_full_disk_is_said_to_the_next_who_speaks_and_at_the_end() -> None:
    log = OutputLog(Path("/dev/full"))
    log.add(said("one"))
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="No space left"):
        log.add(said("two"))
    with pytest.raises(OSError, match="No space left"):
        log.close()
