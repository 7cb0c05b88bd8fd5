"""The n-th operation fails: a real run by the command line with a shim that lets one write, sync, rename … fail.

    python -m tests.torture.nth OP [FIRST [STEP [RUNS]]]       prints a line for each run
    python -m tests.torture.nth spread [EACH [DONE]]           of every operation, place and program EACH points

The second looks at what an undisturbed run does and takes points from every kind of it, the rarest kinds first. DONE is
a file with a line for each point that was run: they are not run again, so a long run can be cut into parts.

The processes are forked off one that has imported everything, with the shim in it: half of what a run cost was imports.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.cli.forkserver import ForkServer
from tests.engine import small

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
PLACES = (
    ("journal", (".devteam/devteam.db", "/backups/")),
    ("refs", ("/refs/", "/packed-refs", "/HEAD", "/logs/refs", "/index")),
    ("evidence", ("/evidence/",)),
    ("homes", ("/homes/",)),
    ("agent logs", ("/logs/",)),
    ("objects", ("/objects/",)),
    ("clones", ("/lanes/", "/rooms/", "/store", "/engine.git", "/clones/")),
    ("views", (".devteam/",)),
)
"""What we write, by a piece of its path; the first that fits. Everything else is the state folder itself."""


@dataclass(frozen=True)
class Point:
    """One operation of an undisturbed run."""

    op: str
    number: int
    program: str
    place: str

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.op, self.place, self.program


def place_of(path: str) -> str:
    return next((name for name, pieces in PLACES if any(piece in path for piece in pieces)), "state")


def spread(points: Sequence[Point], each: int) -> list[Point]:
    """Of every kind the first three, the last, and others evenly between; one of each kind before the second of any."""
    kinds: dict[tuple[str, str, str], list[Point]] = {}
    for point in points:
        kinds.setdefault(point.kind, []).append(point)
    chosen = [_evenly(found, each) for _, found in sorted(kinds.items(), key=lambda item: len(item[1]))]
    return [point for row in zip_longest(*chosen) for point in row if point is not None]


def _evenly(found: list[Point], each: int) -> list[Point]:
    wanted = [0, len(found) - 1, 1, 2, *(len(found) * part // each for part in range(1, each))]
    inside = [place for place in dict.fromkeys(wanted) if 0 <= place < len(found)]
    return [found[place] for place in inside[:each]]


def built(folder: Path) -> Shim | None:
    """The shim; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "nth.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(made), str(SOURCE), "-ldl"], check=True, timeout=120
    )
    return Shim(made)


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


class Shim:
    """The built shim, and a server whose processes have it."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self.server = ForkServer(library, "nth_begin")


@dataclass
class Trial:
    """A small repository whose engine meets one failure."""

    folder: Path
    shim: Shim

    def __post_init__(self) -> None:
        self.repo, self.home = self.folder / "repo", self.folder / "home"
        self.home.mkdir(parents=True)
        small.make(self.repo)

    def run(self, op: str = "", number: int = 0, log: Path | None = None) -> Ended:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        counter = self.folder / "counter"
        counter.write_bytes(bytes(8))
        if op:
            env |= {
                "LD_PRELOAD": str(self.shim.library),
                "NTH_OP": op,
                "NTH_N": str(number),
                "NTH_ERRNO": str(OPERATIONS[op]),
                "NTH_UNDER": f"{self.repo}:{self.home}",
                "NTH_COUNTER": str(counter),
            }
        if log is not None:
            log.write_bytes(b"")
            env["NTH_LOG"] = str(log)
        return Ended(*self.shim.server.run(["run", "--unattended", "--trust", "all"], self.repo, env, seconds=600))

    def counted(self) -> int:
        return int.from_bytes((self.folder / "counter").read_bytes(), "little")


def points_of(folder: Path, shim: Shim, ops: Iterable[str] = OPERATIONS) -> list[Point]:
    """Everything that an undisturbed run does."""
    found = []
    for op in ops:
        trial = Trial(folder / op, shim)
        log = trial.folder / "log"
        done = trial.run(op, 0, log)
        assert done.returncode == 0, done.stdout + done.stderr
        for line in log.read_text(errors="replace").splitlines():
            number, program, *path = line.split(" ", 2)
            found.append(Point(op, int(number), program, place_of(path[0] if path else "")))
    return found


def check(folder: Path, shim: Shim, op: str, number: int) -> tuple[str, bool]:
    """(what is wrong, whether the operation came that far). It ends in words, and the next start completes."""
    trial = Trial(folder, shim)
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
        shim = built(Path(place))
        if shim is None:
            print("no compiler")
            return 0
        for number in range(first, first + step * runs, step):
            folder = Path(place) / str(number)
            wrong, reached = check(folder, shim, op, number)
            print(f"{op} {number}: {wrong or 'ok'}", flush=True)
            bad += bool(wrong)
            shutil.rmtree(folder, ignore_errors=True)
            if not reached:
                break
    return bad


def main_spread(each: int = 3, done_in: str = "") -> int:
    done = Path(done_in) if done_in else None
    known = set(done.read_text().splitlines()) if done is not None and done.exists() else set()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        shim = built(Path(place))
        if shim is None:
            print("no compiler")
            return 0
        points = points_of(Path(place) / "counting", shim)
        chosen = spread(points, each)
        kinds = {point.kind for point in points}
        print(f"{len(points)} operations of {len(kinds)} kinds; {len(chosen)} points", flush=True)
        for turn, point in enumerate(chosen):
            name = f"{point.op} {point.number}"
            if name in known:
                continue
            folder = Path(place) / str(turn)
            wrong, reached = check(folder, shim, point.op, point.number)
            said = wrong or ("ok" if reached else "ok (not reached)")
            print(f"{name} ({point.place}, {point.program}): {said}", flush=True)
            bad += bool(wrong)
            shutil.rmtree(folder, ignore_errors=True)
            if done is not None and not wrong:
                with done.open("a") as file:
                    file.write(f"{name}\n")
    print(f"{bad} bad")
    return bad


if __name__ == "__main__":
    op_, *more = sys.argv[1:]
    if op_ == "spread":
        sys.exit(1 if main_spread(int(more[0]) if more else 3, "".join(more[1:2])) else 0)
    sys.exit(1 if main(op_, *(int(word) for word in more)) else 0)
