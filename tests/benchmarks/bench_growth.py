"""What a long sprint leaves behind, and whether the thousandth iteration costs what the tenth did.

    python -m tests.benchmarks.bench_growth [ITERATIONS]

An iteration here is what the workspace does in one: a lane prepared, a scope check, a tree kept, a commit, a
checkpoint.
Prints JSON: CPU per iteration early and late with git's counted, and files, megabytes, refs and packs at the end.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from engine.perform.workspace.facts import Committed
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write

ITERATIONS = 200
PLAN = "".join(f"- [ ] 1.{number} Task {number}\n" for number in range(200)).encode()


def one(work: Workspace, number: int) -> None:
    lane = work.prepare(0)
    write(lane.path / f"src/part{number % 40}.py", f"x = {number}\n")
    report = work.check_scope(0, lane.tree, lane.base, ("src/**",), f"{number}-1-1")
    if number % 3 == 0:
        work.keep_tree(f"1.{number}", "it-1", report.tree, lane.base, "not yet", "", float(number))
    made = work.commit(f"1.{number}", report.tree, lane.base, f"impl(g): {number}", "", f"e{number}", float(number))
    if not isinstance(made, Committed):
        raise TypeError(made)
    files = {"journal.json": f'{{"seq":{number}}}'.encode(), "plan.md": PLAN}
    work.save_checkpoint(f"{number:05d}", "iteration", float(number), files)


def cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def below(folder: Path) -> tuple[int, float]:
    """Files and megabytes."""
    paths = [Path(root, name) for root, _, names in os.walk(folder) for name in names]
    return len(paths), round(sum(path.lstat().st_size for path in paths) / 1e6, 2)


def measure(iterations: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as place:
        repo = make_repo(Path(place) / "repo")
        before = below(repo / ".git")
        work = open_workspace(repo)
        work.start_sprint(1.0)
        spent: list[float] = []
        for number in range(iterations):
            began = cpu()
            one(work, number)
            spent.append(cpu() - began)
        tenth = max(5, iterations // 10)
        early, late = sorted(spent[5 : 5 + tenth]), sorted(spent[-tenth:])
        state, in_git = below(Path(place) / "state"), below(repo / ".git")
        refs = repo / ".git/refs"
        return {
            "iterations": iterations,
            "cpu_ms_early": round(1000 * early[len(early) // 2], 1),
            "cpu_ms_late": round(1000 * late[len(late) // 2], 1),
            "late_to_early": round(late[len(late) // 2] / early[len(early) // 2], 2),
            "state_files_per_iteration": round(state[0] / iterations, 2),
            "state_mb": state[1],
            "git_files": in_git[0] - before[0],
            "git_mb": round(in_git[1] - before[1], 2),
            "refs": len(git(repo, "for-each-ref", "--format=x").split()),
            "loose_ref_files": below(refs)[0],
            "packs": len(list((repo / ".git/objects/pack").glob("*.pack"))),
        }


def run() -> dict[str, object]:
    return measure(ITERATIONS)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ITERATIONS), indent=2))
