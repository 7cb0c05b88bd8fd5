"""The suite of agents: a record that says everything, an adapter that takes no broken program for a success."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from engine import files
from engine.agent_records import BUILT_IN, AgentRecord
from engine.core.model import AgentResult, ResultKind, Role
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import AgentCall, Output

BROKEN = {
    "a program that says nothing": "exit 0",
    "a program that fails": "echo 'it broke' >&2; exit 3",
    "a program that writes garbage": "printf '\\000\\377{\\n[1,\\n<xml>\\n'; exit 0",
    "a program that dies": 'echo "{"; kill -9 $$',
    "a program that hangs": "sleep 600",
}
SECONDS = 2.0
"""What a hanging program is given."""


def record_problems(record: AgentRecord) -> list[str]:
    """What is missing from a record, or contradicts itself."""
    return list(_record(record))


def _record(record: AgentRecord) -> Iterator[str]:
    if not record.name or any(char in record.name for char in " .\"'[]/"):
        yield f"its name is {record.name!r}: it must do as [agents.NAME] and as the name of a program"
    if record not in BUILT_IN and record.name in {one.name for one in BUILT_IN}:
        yield f"{record.name} is the name of one of devteam's own agents"
    module, colon, attribute = record.adapter.partition(":")
    if not (module and colon and attribute):
        yield f"its adapter is {record.adapter!r}: write module:Class"
    for rung in record.rungs:
        if rung.agent != record.name:
            yield f"its rung {rung.name} uses the agent {rung.agent}"
    reserves = [rung.reserve_usd for rung in record.rungs]
    if reserves != sorted(reserves) or len({rung.name for rung in record.rungs}) != len(reserves):
        yield "its rungs are not in the order of their price, each with a name of its own"
    if not all((record.docs.driven, record.docs.answers, record.docs.turns, record.docs.budget, record.docs.cost)):
        yield "its row in the docs has an empty cell"
    for file in record.login.files:
        if Path(file).is_absolute() or ".." in Path(file).parts:
            yield f"its login file {file} is not below HOME"


async def agent_problems(record: AgentRecord, config: AgentConfig | None = None) -> list[str]:
    """The record, and its adapter with programs that do nothing right: each must end, and none as a success.

    `config`: what the adapter needs beyond a program. Processes are started in a folder of their own and all ended.
    """
    found = record_problems(record)
    if not found:
        found += [problem async for problem in _adapter(record, config or AgentConfig())]
    return found


async def _adapter(record: AgentRecord, config: AgentConfig) -> AsyncIterator[str]:
    from msgspec.structs import replace

    with tempfile.TemporaryDirectory(prefix="devteam-conformance-") as place:
        root = _ground(place)
        spawner = ProcessSpawner(
            "none", f"conformance-{os.getpid()}", time.monotonic, home=root / "user", scratch=root / "scratch"
        )
        for number, (what, body) in enumerate(BROKEN.items()):
            program = root / f"program-{number}"
            files.write(program, f"#!/bin/sh\n{body}\n", mode=0o700, durable=False)
            with_program = replace(config, program=str(program), argv=(str(program),) if config.argv else ())
            made = adapter(record.name, with_program, clock=time.monotonic)
            heard: list[Output] = []
            result = await made.call(_call(root, number), spawner, heard.append)
            for problem in _ended(result):
                yield f"{what}: {problem}"


def _ground(place: str) -> Path:
    root = Path(place).resolve()
    for name in ("checkout", "clone", "home", "scratch", "user"):
        (root / name).mkdir()
    return root


def _ended(result: AgentResult) -> Iterator[str]:
    if result.kind is ResultKind.OK:
        yield "it is taken for a success"
    elif not result.error and not result.hint:
        yield f"it ends as {result.kind.value} without a word"
    if result.cost_usd is not None and not 0 <= result.cost_usd < 1e6:
        yield f"it costs {result.cost_usd}"


def _call(root: Path, number: int) -> AgentCall:
    return AgentCall(
        effect=f"e{number}",
        role=Role.IMPLEMENTER,
        model="m1",
        prompt="Do nothing.",
        timeout=SECONDS * 4,
        idle_timeout=SECONDS,
        checkout=root / "checkout",
        clone=root / "clone",
        home=root / "home",
        scratch=root / "scratch",
        log=root / "logs" / f"e{number}.log",
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(root / "user")},
    )
