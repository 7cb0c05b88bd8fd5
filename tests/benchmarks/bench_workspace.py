"""Workspace on a 20,000-file repository: what the first clone costs, and what every attempt after it costs.

    python -m tests.benchmarks.bench_workspace [FILES]

Prints JSON: seconds (best of 5 for the warm ones), CPU seconds of the engine's own process, git processes started.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine.perform.workspace import git as git_module
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace


def measure(
    act: Callable[[], object], times: int = 1, before: Callable[[int], object] | None = None
) -> dict[str, float]:
    """Best wall time, with the engine's and git's CPU time of that run."""
    best: dict[str, float] = {}
    for number in range(times):
        if before:
            before(number)
        started = _calls[0]
        mine, theirs, wall = time.process_time(), _children(), time.perf_counter()
        act()
        seconds = time.perf_counter() - wall
        if not best or seconds < best["seconds"]:
            best = {
                "seconds": round(seconds, 3),
                "engine_cpu": round(time.process_time() - mine, 3),
                "git_cpu": round(_children() - theirs, 3),
                "git_processes": _calls[0] - started,
            }
    return best


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_calls = [0]


def _count() -> None:
    original = git_module.Git._started

    def counted(self: git_module.Git, *arguments: object) -> object:
        _calls[0] += 1
        return original(self, *arguments)  # type: ignore[arg-type]

    git_module.Git._started = counted  # type: ignore[method-assign,assignment]


def build(path: Path, files: int) -> Path:
    repo = make_repo(path, {"README.md": "x\n", ".gitignore": "*.log\nnode_modules/\n"})
    for number in range(files):
        folder = path / f"pkg{number // 1000:02}" / f"mod{number // 20 % 50:02}"
        if number % 20 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text(f"value = {number}\n" + "# filler\n" * (number % 40))
    git(repo, "add", "-A")
    git(repo, "-c", "gc.auto=0", "commit", "-qm", "many")
    git(repo, "gc", "-q")
    return repo


def run(files: int = 20_000) -> dict[str, object]:
    _count()
    with tempfile.TemporaryDirectory(prefix="devteam-bench-") as folder:
        repo = build(Path(folder) / "repo", files)
        time.sleep(1.1)  # git re-reads files as young as its index; a user's checkout is older
        git(repo, "update-index", "--refresh", env={"GIT_OPTIONAL_LOCKS": "1"})
        work = open_workspace(repo)
        found: dict[str, object] = {"files": files}
        found["open"] = measure(lambda: open_workspace(repo))
        found["start_sprint"] = measure(lambda: work.start_sprint(1.0))
        found["first_clone"] = measure(lambda: work.prepare(0))
        found["first_room"] = measure(lambda: work.export(work.head()))
        time.sleep(1.1)
        found["warm_scan_nothing_changed"] = measure(lambda: work.snapshot(0), 5)
        lane = work.lane_path(0)
        found["warm_scan_10_changed"] = measure(lambda: work.snapshot(0), 5, lambda number: _edit(lane, number))
        base = work.head()
        tree = work.tree_of(base)
        found["warm_check_scope_10_changed"] = measure(
            lambda: work.check_scope(0, tree, base), 5, lambda number: _edit(lane, 10 + number)
        )
        changed = work.snapshot(0)
        found["warm_prepare"] = measure(lambda: work.prepare(0), 5, lambda number: _edit(lane, 20 + number))
        found["warm_room_other_tree"] = measure(_alternate(work, changed, tree), 6)
        found["hash_room"] = measure(work.hash_room, 5)
        found["commit"] = measure(lambda: work.commit("1", changed, base, "impl(b): x", "", "e", 2.0))
        return found


def _alternate(work: Workspace, one: str, two: str) -> Callable[[], object]:
    turn = [0]

    def act() -> None:
        turn[0] += 1
        work.export(one if turn[0] % 2 else two)

    return act


def _edit(lane: Path, number: int) -> None:
    for place in range(9):
        (lane / "pkg00" / f"mod{place:02}" / f"f{place * 20}.py").write_text(f"edited = {number} * {place}\n")
    (lane / "pkg00" / f"new{number}.py").write_text("n\n")


if __name__ == "__main__":
    print(json.dumps(run(*(int(argument) for argument in sys.argv[1:])), indent=2))
