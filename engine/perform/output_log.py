"""What an agent said, kept as lines of JSON beside its raw stream."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from engine import files
from engine.core.activity import AgentOutput

_encode = msgspec.json.Encoder().encode_lines


class OutputLog:
    """One call's log. What is said within one turn of the event loop is written at its end, in one go."""

    def __init__(self, path: Path) -> None:
        self._file = files.appending(path, buffering=0)
        self._said: list[AgentOutput] = []
        self._problem: OSError | None = None

    def add(self, said: AgentOutput) -> None:
        """Raises OSError where what was said before could not be written."""
        self._raise()
        if not self._said:
            asyncio.get_running_loop().call_soon(self._write)
        self._said.append(said)

    def close(self) -> None:
        self._write()
        self._file.close()
        self._raise()

    def _write(self) -> None:
        if not self._said or self._file.closed:
            return
        try:
            self._file.write(_encode(self._said))
        except OSError as problem:
            self._problem = problem
        self._said.clear()

    def _raise(self) -> None:
        if self._problem is not None:
            raise self._problem
