"""Where the CPU of a proof goes: by run, by git call, and what is left to this process. All processes are counted.

Counting stands around the doors (processes, git, the runs of a trial): the judge itself is the product's.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from engine.perform.checks.proof.trial import Trial
from engine.perform.process.spawner import ProcessSpawner
from tests.checks.ground import GitTrees


def cpu_seconds() -> float:
    """Of this process and of every child that ended: a busy machine does not distort it."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class Costs:
    """CPU seconds and counts by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.total = 0.0

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.counts[name] = self.counts.get(name, 0) + 1

    def table(self) -> dict[str, str]:
        """By cost; what no door accounts for is the judge's own work."""
        rows = sorted(self.seconds.items(), key=lambda row: -row[1])
        found = {name: f"{seconds:.2f} ({self.counts[name]})" for name, seconds in rows}
        return found | {"own work": f"{max(0.0, self.total - sum(self.seconds.values())):.2f}"}


@contextlib.contextmanager
def counted() -> Iterator[Costs]:
    costs, inside = Costs(), ["R0 or set-up"]
    kept: list[tuple[type, str, Any]] = []

    def around(owner: type, name: str, made: Callable[[Any], Any]) -> None:
        own = getattr(owner, name)
        kept.append((owner, name, own))
        setattr(owner, name, functools.wraps(own)(made(own)))

    def named(own: Any) -> Any:
        async def run(self: Trial, name: Any, *args: Any, **more: Any) -> Any:
            inside.append(name if isinstance(name, str) else "one sitting")
            try:
                return await own(self, name, *args, **more)
            finally:
                inside.pop()

        return run

    def process(own: Any) -> Any:
        async def run(self: Any, *args: Any, **more: Any) -> Any:
            before = cpu_seconds()
            try:
                return await own(self, *args, **more)
            finally:
                costs.add(inside[-1], cpu_seconds() - before)

        return run

    def git(own: Any) -> Any:
        def run(self: Any, *args: Any, **more: Any) -> Any:
            before = cpu_seconds()
            try:
                return own(self, *args, **more)
            finally:
                costs.add("git, room filling", cpu_seconds() - before)

        return run

    for name in ("files", "whole", "_whole", "ahead"):
        around(Trial, name, named)
    around(ProcessSpawner, "run", process)
    around(GitTrees, "git", git)
    started = cpu_seconds()
    try:
        yield costs
    finally:
        costs.total = cpu_seconds() - started
        for owner, name, own in kept:
            setattr(owner, name, own)
