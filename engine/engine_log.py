"""What the engine itself does, as JSON lines: for whoever has to understand one that is stuck or went wrong.

The journal says what happened to the sprint; this says what the process was at: each fact as it was recorded, what has
been in flight for how long, and the traceback of every bug that a performer's boundary caught. Redacted and rotated;
`devteam log --engine` prints it.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from engine import files
from engine.core import events as ev
from engine.core.effects import AnyEffect
from engine.core.state import State

NAME = "engine.jsonl"
MAX_BYTES = 1_000_000
KEPT = 3
"""Older files beside the one that is written."""
HEARTBEAT_SECONDS = 60.0
FIELDS = (
    "id",
    "effect",
    "task",
    "lane",
    "kind",
    "verdict",
    "outcome",
    "decision",
    "message",
    "reason",
    "command",
    "ok",
)
"""What a line says of a fact: names and words, never what an agent said or wrote."""


class EngineLog:
    """The writer. A disk that takes nothing more is no reason to stop: the journal's own rules decide about that."""

    def __init__(self, folder: Path, redact: Callable[[str], str], now: Callable[[], float]) -> None:
        self._path = folder / NAME
        self._redact = redact
        self._now = now
        self._file: BinaryIO | None = None
        self._begun: dict[str, tuple[str, float]] = {}

    def write(self, what: str, **more: Any) -> None:
        line = msgspec.json.encode({"at": round(self._now(), 3), "pid": os.getpid(), "what": what, **more})
        try:
            self._open(len(line)).write(self._redact(line.decode("utf-8")).encode("utf-8") + b"\n")
        except OSError:
            self.close()

    def __call__(self, envelopes: Sequence[ev.Envelope], state: State) -> None:
        """An observer of the runner."""
        for envelope in envelopes:
            event = envelope.event
            known: dict[str, object] = {name: _short(getattr(event, name, None)) for name in FIELDS}
            if isinstance(event, ev.EffectStarted):
                kind = type(event.effect).__name__
                self._begun[event.effect.id] = (kind, envelope.at)
                known |= {"effect": event.effect.id, "kind": kind}
            said = {name: value for name, value in known.items() if value not in (None, "")}
            self.write(type(event).__name__, seq=envelope.seq, **said)
        self._begun = {name: begun for name, begun in self._begun.items() if name in state.inflight}

    def bug(self, effect: AnyEffect, error: Exception) -> None:
        """What a boundary caught."""
        said = "".join(traceback.format_exception(error))
        self.write("bug", effect=effect.id, kind=type(effect).__name__, traceback=said[-8_000:])

    async def beat(self) -> None:
        """Say now and then what is in flight, and for how long: a stuck engine is one whose lines stay the same."""
        import asyncio

        while True:
            now = self._now()
            flying = [
                {"effect": name, "kind": kind, "seconds": round(now - at)} for name, (kind, at) in self._begun.items()
            ]
            self.write("alive", inflight=flying)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, size: int) -> BinaryIO:
        if self._file is None:
            self._file = files.appending(self._path, buffering=0)
        if os.fstat(self._file.fileno()).st_size + size > MAX_BYTES:
            self.close()
            for number in range(KEPT, 0, -1):
                older = _numbered(self._path, number - 1)
                if older.exists():
                    older.replace(_numbered(self._path, number))
            self._file = files.appending(self._path, buffering=0)
        return self._file


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Every line that is kept, oldest first; one that was cut by a crash is left out."""
    for number in range(KEPT, -1, -1):
        path = _numbered(folder / NAME, number)
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                found = msgspec.json.decode(line)
            except msgspec.DecodeError:
                continue
            if isinstance(found, dict):
                yield found


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path


def _short(value: object) -> object:
    if isinstance(value, bool | int | float):
        return value
    return str(value)[:300] if isinstance(value, str) else None
