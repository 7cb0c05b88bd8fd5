"""The engine's own cost: CPU of one iteration, its growth over many, and how fast commands answer."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.bus import Bus
from engine.clock import SystemClock
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.core.policy import BudgetPolicy, CheckpointPolicy, LadderPolicy, LimitPolicy, Policy
from engine.core.state import State
from engine.journal import Journal
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Finished, ProcessSpec
from engine.perform.workspace.git import Git
from engine.plans.sprints import SprintFolder
from engine.run_options import RunOptions
from engine.runner import Runner
from engine.session import Session
from engine.session_options import Options
from tests.core.world import checks, failing, happy
from tests.engine import small

ROOT = Path(__file__).parents[2]
TASKS = 20
UNBOUNDED = "\n[budget]\nsession_usd = 100000\nday_usd = 100000\n\n[limits]\ncalls_per_hour = 1000000\n"
"""A sprint of more than fifty tasks would wait for the next hour's calls."""


class Instant:
    """Facts at once: what is left is decide, fold, journal, bus and views."""

    def __init__(self, each: int) -> None:
        """Every task passes with its iteration number `each`."""
        self.each = each
        self.log: list[int] = []
        self.state = State()

    async def perform(self, effect: ef.AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        self.state = state
        self.log.append(1)
        if isinstance(effect, ef.RunChecks) and effect.task and effect.iteration < self.each:
            return [checks(effect, failing(f"test_{effect.iteration}"))]
        return happy(self, effect)  # type: ignore[arg-type]


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def growth(folder: Path, iterations: int) -> dict[str, Any]:
    """Iterations with instant performers and a durable journal: CPU and memory, first against last."""
    tasks = tuple(TaskSpec(id=f"1.{number}", title=f"Task {number}", complexity=14) for number in range(TASKS))
    plan = Plan(title="many", phases=(PhaseSpec(id="1", title="one", tasks=tasks),))
    policy = Policy(
        max_iterations=iterations,
        stuck_detection=False,
        ladder=LadderPolicy(failures=(iterations,)),
        limits=LimitPolicy(calls_per_hour=0),
        budget=BudgetPolicy(session_usd=1e9, day_usd=1e9),
        checkpoints=CheckpointPolicy(on_task_complete=False, on_phase_change=False, baselines=()),
    )
    clock = SystemClock()
    marks: list[tuple[int, float, float, int]] = []

    def watch(envelopes: Sequence[ev.Envelope], state: State) -> None:
        if any(isinstance(one.event, ev.Decided) for one in envelopes):
            marks.append((state.iterations, cpu(), time.monotonic(), resident()))

    with Journal.open(folder / "devteam.db", clock=clock.now, backup_dir=folder / "b") as journal:
        runner = Runner(
            journal=journal,
            stream="s",
            state=State(),
            performer=Instant(iterations // TASKS),
            clock=clock,
            bus=Bus(),
            observers=(watch,),
        )
        runner.append(ev.SprintCreated(sprint="s", plan=plan, branch="b", topic="t"))
        await runner.run(RunOptions(run="r", pid=1, policy=policy, attended=False))
    tenth = max(1, len(marks) // 10)
    first = (marks[tenth][1] - marks[0][1]) / tenth
    last = (marks[-1][1] - marks[-1 - tenth][1]) / tenth
    return {
        "iterations": marks[-1][0],
        "cpu_ms_first_tenth": round(first * 1000, 3),
        "cpu_ms_last_tenth": round(last * 1000, 3),
        "ratio_last_to_first": round(last / first, 2),
        "rss_mb_growth_after_first_tenth": round((marks[-1][3] - marks[tenth][3]) / 1e6, 1),
    }


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def sprint_of(repo: Path, tasks: int) -> SprintFolder:
    """A repository whose tasks each pass at once, with a check that does nothing."""
    plan = "# many\n\n## Phase 1: one\n\n" + "".join(
        f"- [ ] 1.{n} Task {n}\n      scope: f{n}.txt\n      proof: none\n      complexity: 1\n" for n in range(tasks)
    )
    scenario = (
        "".join(f'[[call]]\ntask = "1.{n}"\nedit = [{{ path = "f{n}.txt", content = "x" }}]\n' for n in range(tasks))
        + '[[call]]\nrole = "reviewer"\n[call.structured]\napproved = true\ncriteria = []\n'
    )
    config = small.CONFIG.replace('command = "! grep -rq bad --include=*.txt ."', 'command = ["true"]')
    config += UNBOUNDED
    return small.make(repo, plan=plan, scenario=scenario, config=config)


def first_call(folder: Path) -> dict[str, Any]:
    """`devteam run` as a new process on a new sprint, until the journal has the first agent call. Best of five."""
    walls, cpus = [], []
    for turn in range(5):
        repo = folder / str(turn) / "repo"
        sprint_of(repo, 1)
        env = {**os.environ, "XDG_STATE_HOME": str(folder / str(turn) / "state"), "PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-m", "tui.cli.main", "run", "--unattended", "--json", "--trust", "all"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.time()
        ran = subprocess.run(argv, cwd=repo, env=env, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = [ev.decode_envelope(line) for line in ran.stdout.splitlines()]
        walls.append(next(one.at for one in said if _calls_agent(one.event)) - begun)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"start_to_first_agent_call_s": round(min(walls), 3), "whole_run_cpu_s": round(min(cpus), 3)}


def _calls_agent(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.EffectStarted) and isinstance(event.effect, ef.CallAgent)


class Calls:
    """The git and process calls of a run: how many, and what they cost our own process by themselves."""

    def __init__(self) -> None:
        self.git = 0
        self.git_cpu = 0.0
        self.processes: list[tuple[ProcessSpawner, ProcessSpec]] = []

    def forget(self) -> None:
        self.git, self.git_cpu = 0, 0.0
        self.processes.clear()

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[Calls]:
        execute, started, run = Git._execute, Git._started, ProcessSpawner.run

        def counted_start(git: Git, *arguments: Any) -> Any:
            self.git += 1  # those that last, too
            return started(git, *arguments)

        def counted_git(git: Git, *arguments: Any) -> tuple[int, bytes, str]:
            begun = time.thread_time()
            try:
                return execute(git, *arguments)
            finally:
                self.git_cpu += time.thread_time() - begun

        async def counted_run(spawner: ProcessSpawner, spec: ProcessSpec, *hearers: Any) -> Finished:
            self.processes.append((spawner, spec))
            return await run(spawner, spec, *hearers)

        Git._execute, ProcessSpawner.run = counted_git, counted_run  # type: ignore[method-assign,assignment]
        Git._started = counted_start  # type: ignore[method-assign]
        try:
            yield self
        finally:
            Git._execute, ProcessSpawner.run = execute, run  # type: ignore[method-assign]
            Git._started = started  # type: ignore[method-assign]

    async def processes_alone(self) -> float:
        """The loop's CPU for starting and ending the same processes again, each of which does nothing."""
        begun = time.thread_time()
        for spawner, spec in self.processes:
            await spawner.run(replace(spec, argv=("true",), stdin=b""))
        return time.thread_time() - begun


async def real_iteration(folder: Path, iterations: int) -> dict[str, Any]:
    """With the scripted agent, a no-op check, real git and sandbox: CPU of our own process beside its children's."""
    sprint = sprint_of(folder / "repo", iterations)
    project = small.project_of(folder / "repo", folder / "state")
    options = Options(trust="all", attended=False, speed=1e9)
    async with Calls().counted() as calls, Session.open(project, sprint, SystemClock(), options) as session:
        calls.forget()
        own, children, wall = cpu(), resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        loop = time.thread_time()
        state = await session.run()
        own, loop, wall = cpu() - own, time.thread_time() - loop, time.monotonic() - wall
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    alone = await calls.processes_alone()
    count = max(1, state.iterations)
    return {
        "iterations": count,
        "outcome": state.outcome,
        "git_calls_per_iteration": round(calls.git / count, 1),
        "processes_per_iteration": round(len(calls.processes) / count, 1),
        "own_cpu_ms_per_iteration": round(own * 1000 / count, 1),
        "in_threads_ms": round((own - loop) * 1000 / count, 1),
        "of_that_calling_git_ms": round(calls.git_cpu * 1000 / count, 1),
        "in_the_loop_ms": round(loop * 1000 / count, 1),
        "of_that_starting_processes_ms": round(alone * 1000 / count, 1),
        "in_the_loop_beyond_its_processes_ms": round((loop - alone) * 1000 / count, 1),
        "children_cpu_ms_per_iteration": round(
            (after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime) * 1000 / count, 1
        ),
        "wall_ms_per_iteration": round(wall * 1000 / count, 1),
    }


def command_line(folder: Path) -> dict[str, Any]:
    """Best of five of --help and status, as a new process."""
    small.make(folder / "repo")
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT)}

    def best(*arguments: str) -> float:
        times = []
        for _ in range(5):
            begun = time.monotonic()
            subprocess.run(
                [sys.executable, "-m", "tui.cli.main", *arguments],
                cwd=folder / "repo",
                env=env,
                capture_output=True,
                check=True,
            )
            times.append(time.monotonic() - begun)
        return round(min(times) * 1000, 1)

    bare = []
    for _ in range(5):
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.monotonic() - begun)
    return {"python_ms": round(min(bare) * 1000, 1), "help_ms": best("--help"), "status_ms": best("status")}


def run(iterations: int = 10_000, real: int = 20) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("growth", "real", "first", "cli"):
            (folder / part).mkdir()
        return {
            "growth": asyncio.run(growth(folder / "growth", iterations)),
            "warm_up": asyncio.run(real_iteration(folder / "warm", 2))["outcome"],
            "real": asyncio.run(real_iteration(folder / "real", real)),
            "first_call": first_call(folder / "first"),
            "command_line": command_line(folder / "cli"),
        }


if __name__ == "__main__":
    print(json.dumps(run(*(int(argument) for argument in sys.argv[1:])), indent=2))
