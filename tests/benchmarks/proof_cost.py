"""Where the CPU of a proof goes: by run, by git call, and what is left to this process. All processes are counted.

Counting stands around the doors (processes, git, the runs of a trial): the judge itself is the product's.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.perform.checks.proof.trial import Trial
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.run_checks import RoomTrees
from engine.perform.workspace import git_service, tree_writing, trees
from tests.benchmarks.probe_iteration import living
from tests.workspace.repos import git, open_workspace


def cpu_seconds() -> float:
    """Of this process, of every child that ended, and of the gits that last."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system + living(os.getpid())


class ProductTrees(RoomTrees):
    """The trees of the product, over a repository of their own."""

    def __init__(self, repo: Path, state: Path) -> None:
        git(repo, "init", "-q", "-b", "main")
        git(repo, "add", "-A", "-f")
        git(repo, "commit", "-qm", "base")
        super().__init__(open_workspace(repo, state))
        self.root = self._store.root
        self._written: dict[tuple[tuple[str, str, bytes], ...], str] = {}

    def write(self, files: Mapping[str, tuple[str, bytes]]) -> str:
        """The tree that holds exactly these: mode and content by path. What was written once costs nothing more."""
        key = tuple(sorted((path, mode, data) for path, (mode, data) in files.items()))
        if key not in self._written:
            store = self._store
            put = {
                os.fsencode(path): (mode.encode(), git_service.write_object(store.git, data, store.scratch))
                for path, (mode, data) in files.items()
            }
            self._written[key] = trees.edit(store.git, tree_writing.write(store.git, {}, ()), put)
        return self._written[key]


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

    def room(own: Any) -> Any:
        def run(self: Any, *args: Any, **more: Any) -> Any:
            before = cpu_seconds()
            try:
                return own(self, *args, **more)
            finally:
                costs.add("trees and rooms", cpu_seconds() - before)

        return run

    for name in ("files", "whole", "_whole", "ahead"):
        around(Trial, name, named)
    around(ProcessSpawner, "run", process)
    for name in ("export", "overlay", "contents", "edit", "files", "diff_files", "hash_folder"):
        around(RoomTrees, name, room)
    started = cpu_seconds()
    try:
        yield costs
    finally:
        costs.total = cpu_seconds() - started
        for owner, name, own in kept:
            setattr(owner, name, own)
