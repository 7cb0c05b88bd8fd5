"""What a session did, from the logs of its calls: its tool calls and its last words, for the one that takes over."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import assert_never

import msgspec

from engine.core.activity import AgentOutput, OutputKind
from engine.core.clean import clean_line
from engine.core.model import SessionSummary

TOOLS = 40
"""Tool calls that are listed; the ones before are counted."""
TOOL = 200
WORDS = 2_000
TAIL = 1_000_000
"""Bytes looked at of one call's log: the end, because that is what the next session goes on from."""

_decode = msgspec.json.Decoder(AgentOutput).decode


def summarise(logs: Sequence[Path]) -> SessionSummary:
    """The summary of the calls with these logs, oldest first. A log that is gone or broken adds nothing."""
    tools: deque[str] = deque(maxlen=TOOLS)
    words: list[str] = []
    count, spoke = 0, False
    for output in (output for log in logs for output in _outputs(log)):
        match output.kind:
            case OutputKind.TOOL_CALL | OutputKind.FILE_CHANGE:
                count += 1
                tools.append(_line(output))
                spoke = False
            case OutputKind.TEXT if output.text.strip():
                # A stream of small pieces is one text; a tool call in between begins another.
                words = [*words, output.text] if spoke else [output.text]
                spoke = True
            case (
                OutputKind.TEXT
                | OutputKind.THINKING
                | OutputKind.TOOL_RESULT
                | OutputKind.RETRY
                | OutputKind.LIMIT
                | OutputKind.USAGE
                | OutputKind.RAW
                | OutputKind.ERROR
            ):
                pass
            case _:
                assert_never(output.kind)
    return SessionSummary(tools=tuple(tools), left_out=count - len(tools), words=_end("".join(words).strip()))


def _line(output: AgentOutput) -> str:
    name = output.tool or output.kind.value.replace("_", " ")
    what = " ".join(filter(None, (output.path, output.text)))
    return clean_line(f"{name}: {what}" if what else name, TOOL)


def _end(words: str) -> str:
    if len(words) <= WORDS:
        return words
    _half, _space, rest = words[-WORDS:].partition(" ")
    return f"… {rest}"


def _outputs(log: Path) -> Iterator[AgentOutput]:
    try:
        with log.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
