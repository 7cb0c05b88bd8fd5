"""The n-th operation fails: a real run by the command line with a shim that lets one write, sync, rename … fail.

python -m tests.torture.nth OP [FIRST [STEP [RUNS]]]     prints a line for each run
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.engine import small

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("nth_operation.c")
OPERATIONS = {
    "open": errno.ENOSPC,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.EIO,
    "link": errno.ENOSPC,
    "fork": errno.EAGAIN,
    "mmap": errno.ENOMEM,
}
EXITS = {0, 1, 2, 3, 130}


def shim(folder: Path) -> Path | None:
    """The shim, built; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "nth.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(made), str(SOURCE), "-ldl"], check=True, timeout=120
    )
    return made


@dataclass
class Trial:
    """A small repository whose engine meets one failure."""

    folder: Path
    library: Path

    def __post_init__(self) -> None:
        self.repo, self.home = self.folder / "repo", self.folder / "home"
        self.home.mkdir(parents=True)
        small.make(self.repo)

    def run(self, op: str = "", number: int = 0) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        counter = self.folder / "counter"
        counter.write_bytes(bytes(8))
        if op:
            env |= {
                "LD_PRELOAD": str(self.library),
                "NTH_OP": op,
                "NTH_N": str(number),
                "NTH_ERRNO": str(OPERATIONS[op]),
                "NTH_UNDER": f"{self.repo}:{self.home}",
                "NTH_COUNTER": str(counter),
            }
        argv = [sys.executable, "-P", "-m", "tui.cli.main", "run", "--unattended", "--trust", "all"]
        return subprocess.run(argv, cwd=self.repo, env=env, capture_output=True, text=True, timeout=600, check=False)

    def counted(self) -> int:
        return int.from_bytes((self.folder / "counter").read_bytes(), "little")


def check(folder: Path, library: Path, op: str, number: int) -> tuple[str, bool]:
    """(what is wrong, whether the operation came that far). It ends in words, and the next start completes."""
    trial = Trial(folder, library)
    before = small.user_side(trial.repo)
    failed = trial.run(op, number)
    reached = trial.counted() >= number
    said = failed.stdout + failed.stderr
    wrong = []
    if "Traceback" in said:
        wrong.append("a traceback: " + said[said.index("Traceback") :][-600:])
    if failed.returncode not in EXITS:
        wrong.append(f"exit code {failed.returncode}: {said[-300:]}")
    if failed.returncode and not said.strip():
        wrong.append("it failed without a word")
    if "BLOCKED" in failed.stdout or "blocked:" in failed.stdout:
        wrong.append(f"a task ended for the machine's fault: {failed.stdout[-400:]}")
    if failed.returncode:
        again = trial.run()
        if again.returncode:
            wrong.append(f"the next start ended with {again.returncode}: {(again.stdout + again.stderr)[-600:]}")
    made = [subject for subject, _ in small.branch(trial.repo, "devteam/001-make-good") if subject.startswith("impl(")]
    if len(made) != 2 or len(set(made)) != 2:
        wrong.append(f"commits: {made}")
    if small.user_side(trial.repo) != before:
        wrong.append("the user's side changed")
    return "; ".join(wrong), reached


def main(op: str, first: int = 1, step: int = 1, runs: int = 10_000) -> int:
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        library = shim(Path(place))
        if library is None:
            print("no compiler")
            return 0
        for number in range(first, first + step * runs, step):
            folder = Path(place) / str(number)
            wrong, reached = check(folder, library, op, number)
            print(f"{op} {number}: {wrong or 'ok'}", flush=True)
            bad += bool(wrong)
            shutil.rmtree(folder, ignore_errors=True)
            if not reached:
                break
    return bad


if __name__ == "__main__":
    op_, *numbers = sys.argv[1:]
    sys.exit(1 if main(op_, *(int(word) for word in numbers)) else 0)
