"""Records the run that the README's pictures show: `python -m screenshots.record`, some minutes.

The demo's repository, checks, agent and sandbox, with its tasks side by side in four lanes and somebody who
is away at first. Everything in the file happened: facts, output, and the changes as a gate showed them.
"""

from __future__ import annotations

import asyncio
import gzip
import math
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from engine import demo
from engine.core.events import Envelope, GateOpened
from engine.core.state import State
from engine.link.codec import Recorded, encode_item
from engine.link.inline import InlineLink
from engine.link.protocol import AnyQuery, GetDiff, GetEvidence, Item
from engine.perform.agents.scripted import Scenario, load
from engine.service.local import open_desk
from engine.service.running import Options, inline

RUN = Path(__file__).parent / "run.jsonl.gz"
BESIDE = {"1.1": "1.1", "1.3": "1.2", "2.1": "1.3", "2.2": "1.4", "1.2": "1.5", "2.3": "2.1"}
"""The demo's tasks by their new place: four that need nothing of each other first, then those that do."""
NEEDS = {"1.5": "1.1", "2.1": "1.3, 1.4"}
THINKS = 2.5
"""Seconds between two lines of an agent."""
AWAY = 42.0
"""Seconds in which nobody answers."""
READS = 3.0
"""Seconds that somebody who is back looks at a gate."""


def beside(text: str) -> str:
    """The demo's scenario with its tasks side by side, and a human who approves each one."""
    renamed = re.sub(
        r'(task = |^)"(\d\.\d)"', lambda found: f'{found[1]}"{BESIDE[found[2]]}"', text, flags=re.MULTILINE
    )
    slower = re.sub(r"^delay = [\d.]+$", f"delay = {THINKS}", renamed, count=1, flags=re.MULTILINE)
    return slower.replace('choice = "auto"', 'choice = "yes"')


def plan() -> str:
    """The demo's plan in two phases, in the new order."""
    text = (demo.HERE / "plan.md").read_text(encoding="utf-8")
    head, *_ = text.partition("## Phase 1")
    found = {part[:3]: part for part in re.split(r"^- \[ \] ", text, flags=re.MULTILINE)[1:]}
    phases: dict[str, str] = {}
    for old, new in sorted(BESIDE.items(), key=lambda pair: pair[1]):
        body = found[old].partition("\n## ")[0].removeprefix(old).rstrip("\n")
        body = re.sub(r"\n +depends: .*", "", body)
        body += f"\n      depends: {NEEDS[new]}" if new in NEEDS else ""
        phases[new[0]] = phases.get(new[0], "") + f"- [ ] {new}{body}\n\n"
    return f"{head}## Phase 1: Amounts and debts\n\n{phases['1']}## Phase 2: Statements\n\n{phases['2']}"


async def record(folder: Path, env: dict[str, str]) -> tuple[State, bytes]:
    sprint = demo.prepare(folder, "2026-11-18")
    (folder / ".devteam" / "scenario.toml").write_text(
        beside((demo.HERE / "scenario.toml").read_text(encoding="utf-8")), encoding="utf-8"
    )
    sprint.plan_path.write_text(plan(), encoding="utf-8")
    scenario: Scenario = load(folder / ".devteam" / "scenario.toml")
    desk = open_desk(folder, env, Path.home())
    items: list[Item | Recorded] = []
    async with inline(desk, sprint, Options(lanes=4, trust="all")) as (session, link):
        back = time.monotonic() + AWAY

        def quiet() -> float:
            return math.inf if time.monotonic() > back else 0.0

        attendant = asyncio.create_task(demo.attend(session, session.bus.subscribe(), scenario, READS, quiet))
        listening = asyncio.create_task(_listen(link, items))
        state = await session.run()
        attendant.cancel()
        listening.cancel()
        for task in state.tasks:
            items += [Recorded(query=query, answer=await link.fetch(query)) for query in _of(task)]
    return state, b"".join(encode_item(item) + b"\n" for item in items)


def _of(task: str) -> tuple[AnyQuery, ...]:
    return (GetDiff(task=task), GetEvidence(task=task))


async def _listen(link: InlineLink, items: list[Item | Recorded]) -> None:
    """Everything that is said, and what a dashboard would ask for when a gate opens."""
    async for item in link.follow(0):
        items.append(item)
        if isinstance(item, Envelope) and isinstance(item.event, GateOpened) and item.event.task:
            items += [Recorded(query=query, answer=await link.fetch(query)) for query in _of(item.event.task)]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tally-") as scratch:
        env = {**os.environ, "XDG_STATE_HOME": f"{scratch}/state"}
        ended, text = asyncio.run(record(Path(scratch) / "tally", env))
    for path, short in ((sys.executable, "/usr/bin/python3"), (scratch, "/home/you"), (str(Path.home()), "/home/you")):
        text = text.replace(path.encode(), short.encode())
    RUN.write_bytes(gzip.compress(text, mtime=0))
    for task in ended.tasks.values():
        sys.stdout.write(f"{task.id} {task.status.value} {task.iteration} iterations ${task.spent_usd:.2f}\n")


if __name__ == "__main__":
    main()
