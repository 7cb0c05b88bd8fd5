"""A past sprint as a recording, read where it lies: the journal once, and the logs of the calls that have one."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.core.activity import AnyActivity
from engine.core.effects import CallAgent
from engine.core.events import EffectStarted, Envelope
from engine.link.protocol import GetOutput
from engine.link.recording import in_order
from engine.plans.sprints import SprintFolder
from engine.service.local import Desk

_decoder = msgspec.json.Decoder(AnyActivity)


def recorded(desk: Desk, sprint: SprintFolder) -> list[Envelope | AnyActivity]:
    """All there is to play again. As `record` over a link, which reads the journal once more for every task."""
    facts = list(desk.events(sprint.id))
    places = desk.project.state
    logs = {name: folder for folder in (places.logs, places.logs_of(sprint.id)) for name in _names(folder)}
    said: dict[str, list[AnyActivity]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.event, EffectStarted) and isinstance(fact.event.effect, CallAgent):
            name = f"{Path(fact.event.effect.id).name}.jsonl" if logs else ""
            if name in logs:
                said[fact.event.effect.task] += outputs(logs[name] / name)
    return in_order(facts, [one for lines in said.values() for one in lines[-GetOutput().limit :]])


def outputs(log: Path) -> Iterator[AnyActivity]:
    """What an agent said, from the log of its call; a line cut short is left out."""
    if not log.is_file():
        return
    for line in log.read_bytes().splitlines():
        try:
            yield _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names only, of every call there was
    except OSError:
        return []
