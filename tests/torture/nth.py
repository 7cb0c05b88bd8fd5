"""The n-th operation fails: a real run by the command line with a shim that lets one write, sync, rename … fail.

    python -m tests.torture.nth OP [FIRST [STEP [RUNS]]]       prints a line for each run
    python -m tests.torture.nth all DONE [WORKERS [EACH]]      every operation of a sprint, or of every kind EACH

The second looks at what an undisturbed run does, one point of every kind (operation, place, program) before the second
of any, the rarest kinds first, and ends with a table. DONE is a file with a line for each point that was run: on the
same commit they are not run again, so a long run can be cut into parts; those of other commits do not count.

The processes are forked off one that has imported everything, with the shim in it: half of what a run cost was imports.
"""

from __future__ import annotations

import errno
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine.core.model import MachineFault, Struct
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
    """Of every kind EACH: the first three, the last, and others evenly between; one of each kind before the second of
    any. All, where EACH is no less than there are."""
    kinds: dict[tuple[str, str, str], list[Point]] = {}
    for point in points:
        kinds.setdefault(point.kind, []).append(point)
    chosen = [_evenly(found, each) for _, found in sorted(kinds.items(), key=lambda item: len(item[1]))]
    return [point for row in zip_longest(*chosen) for point in row if point is not None]


def _evenly(found: list[Point], each: int) -> list[Point]:
    wanted = [0, len(found) - 1, 1, 2, *(len(found) * part // each for part in range(1, each))]
    if each >= len(found):
        wanted.extend(range(len(found)))
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


WARM = ("git", "jinja2", "engine.html_report", "engine.service.reports", "tui.cli.headless", "tests.torture.templates")
"""What a sprint imports besides, and its prompts compiled."""


class Shim:
    """The built shim, and a server whose processes have it."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self.server = ForkServer(library, "nth_begin", WARM)


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


class Row(Struct, frozen=True, kw_only=True):
    """How one point ended."""

    op: str
    number: int
    place: str = ""
    program: str = ""
    wrong: str = ""
    reached: bool = True
    exit_code: int = 0
    """0: the run went on over the failure and completed."""
    named: str = ""
    """The machine's fault that an ended run named, or the last thing it said."""
    next_exit: int | None = None
    """Of the next start, where there had to be one."""
    commit: str = ""
    """What was run."""


def check(folder: Path, shim: Shim, op: str, number: int) -> str:
    """What is wrong."""
    return checked(folder, shim, Point(op, number, "", "")).wrong


def checked(folder: Path, shim: Shim, point: Point) -> Row:
    """The run ends well or in words that name what failed, no task ends for it, and the next start completes."""
    trial = Trial(folder, shim)
    before = small.user_side(trial.repo)
    failed = trial.run(point.op, point.number)
    reached = trial.counted() >= point.number
    said = failed.stdout + failed.stderr
    wrong, named, next_exit = [], "", None
    if "Traceback" in said:
        wrong.append("a traceback: " + said[said.index("Traceback") :][-600:])
    if failed.returncode not in EXITS:
        wrong.append(f"exit code {failed.returncode}: {said[-300:]}")
    if "BLOCKED" in failed.stdout or "blocked:" in failed.stdout:
        wrong.append(f"a task ended for the machine's fault: {failed.stdout[-400:]}")
    if failed.returncode:
        named = fault_named(said, OPERATIONS[point.op])
        if not named:
            wrong.append(f"it ended with {failed.returncode} and does not name the fault: {said[-600:]!r}")
        again = trial.run()
        next_exit = again.returncode
        if again.returncode:
            wrong.append(f"the next start ended with {again.returncode}: {(again.stdout + again.stderr)[-600:]}")
    made = [subject for subject, _ in small.branch(trial.repo, "devteam/001-make-good") if subject.startswith("impl(")]
    if len(made) != 2 or len(set(made)) != 2:
        wrong.append(f"commits: {made}")
    if small.user_side(trial.repo) != before:
        wrong.append("the user's side changed")
    return Row(
        op=point.op,
        number=point.number,
        place=point.place,
        program=point.program,
        wrong="; ".join(wrong),
        reached=reached,
        exit_code=failed.returncode,
        named=named,
        next_exit=next_exit,
    )


def fault_named(said: str, number: int) -> str:
    """The named state of a run that ended, or the system's own words for the error that it met."""
    found = [fault.value for fault in MachineFault if fault.value in said]
    words = os.strerror(number)
    return found[0] if found else words if words.lower() in said.lower() else ""


def main(op: str, first: int = 1, step: int = 1, runs: int = 10_000) -> int:
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        shim = built(Path(place))
        if shim is None:
            print("no compiler")
            return 0
        for number in range(first, first + step * runs, step):
            folder = Path(place) / str(number)
            row = checked(folder, shim, Point(op, number, "", ""))
            print(f"{op} {number}: {row.wrong or row.named or 'went on'}", flush=True)
            bad += bool(row.wrong)
            shutil.rmtree(folder, ignore_errors=True)
            if not row.reached:
                break
    return bad


def main_all(done_in: str, workers: int = 1, each: int = 0) -> int:
    """Every point, or EACH of every kind, by so many workers; then the table of all that DONE knows."""
    done, commit = Path(done_in), head()
    known = {(row.op, row.number) for row in recorded(done, commit) if not row.wrong}
    with tempfile.TemporaryDirectory() as place:
        shims = [built(Path(place)) for _ in range(workers)]
        points = points_of(Path(place) / "counting", shims[0]) if shims[0] is not None else []
        chosen = spread(points, each or len(points))
        waiting: queue.SimpleQueue[Point] = queue.SimpleQueue()
        for point in chosen:
            if (point.op, point.number) not in known:
                waiting.put(point)
        print(f"{len(points)} operations; {len(chosen)} points, {waiting.qsize()} of them to run", flush=True)
        one_at_a_time = threading.Lock()

        def work(shim: Shim) -> None:
            while True:
                try:
                    point = waiting.get_nowait()
                except queue.Empty:
                    return
                folder = Path(place) / f"{point.op}-{point.number}"
                row = replace(checked(folder, shim, point), commit=commit)
                shutil.rmtree(folder, ignore_errors=True)
                with one_at_a_time, done.open("ab") as file:
                    file.write(msgspec.json.encode(row) + b"\n")
                    if row.wrong:
                        print(f"{point.op} {point.number} ({point.place}, {point.program}): {row.wrong}", flush=True)

        threads = [threading.Thread(target=work, args=(shim,)) for shim in shims if shim is not None]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = recorded(done, commit)
    print("\n".join((f"on {commit[:12]}", *table(rows))))
    return sum(bool(row.wrong) for row in rows)


def recorded(done: Path, commit: str) -> list[Row]:
    """The last word on each point of this commit."""
    lines = done.read_bytes().splitlines() if done.exists() else []
    rows = [msgspec.json.decode(line, type=Row) for line in lines]
    return list({(row.op, row.number): row for row in rows if row.commit == commit}.values())


def head() -> str:
    """The commit of this folder; what is not committed is another one each time."""
    asked = ["git", "-C", str(SOURCE.parent), "describe", "--always", "--abbrev=40", f"--dirty=-{os.getpid()}"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def table(rows: Sequence[Row]) -> list[str]:
    """Of each operation: how its points ended."""
    made = [f"{'operation':<10}{'points':>8}{'reached':>9}{'went on':>9}{'named':>7}{'completed next':>16}{'bad':>5}"]
    for name in (*OPERATIONS, "all"):
        of = [row for row in rows if name in ("all", row.op)]
        ended = [row for row in of if row.exit_code]
        made.append(
            f"{name:<10}{len(of):>8}{sum(row.reached for row in of):>9}{len(of) - len(ended):>9}"
            f"{sum(bool(row.named) for row in ended):>7}{sum(row.next_exit == 0 for row in ended):>16}"
            f"{sum(bool(row.wrong) for row in of):>5}"
        )
    return made


if __name__ == "__main__":
    op_, *more = sys.argv[1:]
    if op_ == "all":
        sys.exit(1 if main_all(more[0], *(int(word) for word in more[1:])) else 0)
    sys.exit(1 if main(op_, *(int(word) for word in more)) else 0)
