"""A day of sprints in one process: real sessions, real git, scripted agents, one sprint after another, each landed.

python -m tests.torture.soak [SPRINTS [TASKS [PLACE]]]     prints a line for each sprint, then the figures

With PLACE, a folder that stays, so many sprints are added to those of the parts before: a day runs in pieces. Each
part is a process of its own; memory, descriptors and threads are compared within a part, everything else over all.

Every task needs two attempts; every sprint meets a limit that resets in half an hour, which is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import os
import re
import resource
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from engine.core import events as ev
from engine.core.model import Struct
from engine.plans.sprints import new_sprint
from engine.service.landing import land_sprint
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.skipping_clock import SkippingClock

SPRINTS, TASKS = 50, 50
RESET = 1800.0
KEEP = 3
USED, RESIDENT = (0.3, 1.0), (3.0, 8.0)
"""Megabytes that a thousand attempts may add, and by which it goes up and down: of memory in use, and of what the
system sees. The second grows by whole arenas of a megabyte, a few in a day, where small blocks lie scattered."""
CONFIG = small.CONFIG + f"\n[workspace]\nkeep_sprints = {KEEP}\n\n[task_loop]\nreview = false\nfinal_review = false\n"


class Figures(Struct, frozen=True, kw_only=True):
    """What there is after a sprint."""

    attempts: int
    hours: float
    """Of the engine's time, the skipped ones too."""
    rss_mb: float
    descriptors: int
    threads: int
    temporary: int
    """Files in tmp/, trash/ and scratch/ of the state folder, but for measured bases, whose number has a bound."""
    refs: int
    state_files: int
    journal_kb: float
    cpu_ms: float
    """Per attempt of this sprint, children counted."""
    part: int = 0
    """Which process this was."""
    used_mb: float = 0.0
    """What the allocators of Python and of C have given out."""
    skipped: float = 0.0
    """Seconds of waiting that the clock is ahead of the machine's."""


def plan_of(tasks: int) -> str:
    head = "# Soak\n\nStatus: APPROVED\nTopic: soak\n\n## Phase 1: Words\n"
    body = "\n- [ ] 1.{n} Write word {n}\n      scope: word{n}.txt\n      proof: none\n      complexity: 1\n"
    return head + "".join(body.format(n=number) for number in range(1, tasks + 1))


def scenario_of(sprint: str, tasks: int) -> str:
    steps = []
    for number in range(1, tasks + 1):
        limit = f'fault = "limit"\nreset_in = {RESET}\n' if number == 1 else ""
        for iteration, word in ((1, "bad"), (2, "good")):
            steps.append(
                f'[[call]]\ntask = "1.{number}"\niteration = {iteration}\n{limit if iteration == 1 else ""}'
                f'edit = [{{ path = "word{number}.txt", content = "{word} {sprint}\\n" }}]\n'
            )
    return "\n".join(steps)


def cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def files_below(*folders: Path) -> int:
    return sum(len(names) for folder in folders for _, _, names in os.walk(folder))


def memory() -> float:
    """Megabytes in use: what was freed and is only kept by the allocator is given back first."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    return round(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6, 1)


class _Given(ctypes.Structure):
    """mallinfo2"""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (*"abcdefg", "in_use", "free", "top"))


def in_use() -> float:
    """Megabytes in blocks that somebody holds: a leak shows here, and scattered free ones do not."""
    gc.collect()
    with tempfile.TemporaryFile() as told:
        kept = os.dup(2)
        try:
            os.dup2(told.fileno(), 2)
            sys._debugmallocstats()  # type: ignore[attr-defined]
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        told.seek(0)
        found = re.search(rb"bytes in allocated blocks\s*=\s*([\d,]+)", told.read())
    own = int(found[1].replace(b",", b"")) if found else 0
    with contextlib.suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        libc.mallinfo2.restype = _Given
        own += libc.mallinfo2().in_use
    return round(own / 1e6, 2)


async def soak(place: Path, sprints: int, tasks: int) -> list[Figures]:
    repo, clock, told = place / "repo", SkippingClock(), place / "figures.jsonl"
    seen = [msgspec.json.decode(line, type=Figures) for line in told.read_bytes().splitlines()] if told.exists() else []
    first = small.make(repo, config=CONFIG, plan=plan_of(tasks), scenario=scenario_of("1", tasks))
    if not seen:
        small.git(repo, "checkout", "-q", "--", "user.txt")
    project = small.project_of(repo, place / "state")
    clock._skipped = seen[-1].skipped if seen else 0.0
    part, hours = (seen[-1].part + 1, seen[-1].hours) if seen else (0, 0.0)
    desk, began, attempts = Desk(project=project), clock.now(), seen[-1].attempts if seen else 0
    for number in range(len(seen), len(seen) + sprints):
        sprint = first if number == 0 else new_sprint(repo, plan_of(tasks), "plan.md", "2026-11-17")
        (repo / ".devteam" / "scenario.toml").write_text(scenario_of(str(number + 1), tasks))
        spent, before = cpu(), attempts
        async with Session.open(project, sprint, clock, Options(attended=False, trust="all", speed=1e9)) as session:
            state = await session.run()
        assert state.outcome == "done", state.outcome_reason
        finished = [one.event for one in desk.events(sprint.id) if isinstance(one.event, ev.AgentFinished)]
        attempts += len(finished)
        ok, lines = land_sprint(desk, sprint.id, branch=False, patch=None, apply=True)
        assert ok, lines
        root = project.state.root
        figures = Figures(
            attempts=attempts,
            hours=round(hours + (clock.now() - began) / 3600, 2),
            rss_mb=memory(),
            used_mb=in_use(),
            descriptors=len(list(Path("/proc/self/fd").iterdir())),
            threads=threading.active_count(),
            temporary=files_below(root / "tmp", root / "trash", root / "scratch")
            - files_below(root / "scratch" / "baselines"),
            refs=len(small.git(repo, "for-each-ref", "--format=x").split()),
            state_files=files_below(root),
            journal_kb=round(project.repo.db.stat().st_size / 1000, 1),
            cpu_ms=round(1000 * (cpu() - spent) / max(1, attempts - before), 1),
            part=part,
            skipped=clock._skipped,
        )
        seen.append(figures)
        line = msgspec.json.encode(figures).decode()
        with told.open("a") as file:
            file.write(f"{line}\n")
        print(line, flush=True)
    return seen


def flat(seen: list[Figures]) -> list[str]:
    """What is not flat: the last sprints against those after the first few, when as many are kept as ever will be."""
    warm, last = seen[KEEP + 2], seen[-1]
    attempts = last.attempts - warm.attempts
    wrong = []
    for part in sorted({one.part for one in seen}):
        lived = [one for one in seen if one.part == part]
        if len(lived) < 4:  # too short to tell
            continue
        early, late = (warm if part == warm.part else lived[2]), lived[-1]
        later = lived[len(lived) // 2 :]
        for name, bound in (("used_mb", USED), ("rss_mb", RESIDENT)):
            if said := _memory_grew(later, name, *bound):
                wrong.append(said)
        for name in ("descriptors", "threads"):
            if getattr(late, name) > getattr(early, name) + 2:
                wrong.append(f"{name} grew from {getattr(early, name)} to {getattr(late, name)}")
    for name in ("temporary", "refs"):
        if getattr(last, name) > getattr(warm, name) + 2:
            wrong.append(f"{name} grew from {getattr(warm, name)} to {getattr(last, name)}")
    evidence = 4 * attempts  # of every landed commit, which stays
    if last.state_files - warm.state_files > evidence:
        wrong.append(f"files grew from {warm.state_files} to {last.state_files} over {attempts} attempts")
    early = (seen[1].journal_kb - seen[0].journal_kb) / (seen[1].attempts - seen[0].attempts)
    late = (last.journal_kb - seen[-2].journal_kb) / (last.attempts - seen[-2].attempts)
    if late > 1.5 * early + 0.5:
        wrong.append(f"an attempt adds {late:.1f} kB to the journal, at first {early:.1f}")
    return wrong


def _memory_grew(lived: list[Figures], name: str, most: float, breath: float) -> str:
    """Once caches are full: the slope through the later half of a process' life, and more than a breath of it."""
    middle = statistics.fmean(one.attempts for one in lived)
    spread = sum((one.attempts - middle) ** 2 for one in lived)
    slope = 1000 * sum((one.attempts - middle) * getattr(one, name) for one in lived) / spread
    first, last = lived[0], lived[-1]
    was, now = getattr(first, name), getattr(last, name)
    if slope <= most or now - was <= breath:
        return ""
    return f"{name} grew from {was} to {now} over {last.attempts - first.attempts} attempts, {slope:.1f} MB a thousand"


def main(sprints: int = SPRINTS, tasks: int = TASKS, place: str = "") -> int:
    with contextlib.ExitStack() as stack:
        folder = Path(place or stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        seen = asyncio.run(soak(folder, sprints, tasks))
    if len(seen) < KEEP + 4:
        print(f"at least {KEEP + 4} sprints: before that as many are kept as there are")
        return 2
    wrong = flat(seen)
    print(f"{seen[-1].attempts} attempts in {seen[-1].hours} h: {'; '.join(wrong) or 'everything is flat'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:3]), *sys.argv[3:4]))
