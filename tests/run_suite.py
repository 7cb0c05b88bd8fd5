"""What `make test` runs: the suite, side by side; then whatever failed there once more, alone.

With `--all` two other jobs run beside it, on cores that the suite leaves idle while it waits: lint, and the tests that
depend on bubblewrap with it hidden. What they say is printed when they are done; a failed lint ends the run. Where
bubblewrap is not installed the suite itself is the run without it, and no test runs twice.

A test of real processes can lose a race on a crowded machine that has nothing to do with what it shows. Such a test is
named at the end, so that it is mended; a test that also fails alone fails the suite, and so do more than a few.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests import depth

ROOT = Path(__file__).parents[1]
FEW = 5
"""More failures than this are no accident, and nobody waits for them to be repeated."""
WORKERS = 2 * max(2, os.cpu_count() or 2)
"""Twice as many workers as cores: half of what these tests do is wait for a process, a timer or a disk."""
MEMORY = Path("/dev/shm")
ROOM = 6 << 30
"""Bytes of memory that have to be free where the files of the tests lie in it; a whole run has a few hundred MB."""
ORDINARY = "not torture and not real and not foreign"
CACHE = ".pytest_cache"


def run(
    words: list[str],
    environment: Mapping[str, str],
    root: Path = ROOT,
    workers: int = WORKERS,
    cache: str = CACHE,
    go_on: Callable[[], bool] = lambda: True,
) -> int:
    """The exit code of the tests that `words` select; they are ended as soon as they need not go on."""
    kept = root / cache / "v" / "cache" / "lastfailed"
    kept.unlink(missing_ok=True)

    def tests(environment: Mapping[str, str], *more: str) -> int:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *more]
        with (
            in_memory() as place,
            subprocess.Popen(
                [*command, *(["-o", "tmp_path_retention_policy=failed"] if place else [])],
                cwd=root,
                env={**environment, **place},
            ) as process,
        ):
            while process.poll() is None and go_on():
                time.sleep(0.1)
            if process.returncode is None:
                process.terminate()
                process.wait()
        return process.returncode

    code = tests(environment, *words, "-n", str(workers), "--dist", "loadgroup")
    failed = sorted(map(without_group, json.loads(kept.read_text()))) if kept.is_file() else []
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= FEW:
        return code
    print(f"\n{len(failed)} failed among the others; once more, alone:", *failed, sep="\n  ", flush=True)
    whole = {name: value for name, value in environment.items() if name not in (depth.TURN, depth.WHOLE)}
    again = tests(whole, "-n", "0", *failed)  # by name: no turn passes one over, and a name that nobody has is an error
    if again == pytest.ExitCode.OK:
        print("\nPassed alone, failed among others: a race of the test or of the product, to be mended:", flush=True)
        print(*(f"  {name}" for name in failed), sep="\n", flush=True)
    return again


def without_group(name: str) -> str:
    """A test's name as pytest takes it; xdist adds the group that it runs in."""
    return re.sub(r"@[\w-]+$", "", name)


@contextlib.contextmanager
def in_memory(memory: Path = MEMORY, room: int = ROOM) -> Iterator[dict[str, str]]:
    """What tells pytest to keep the files of one run where no disk is waited for: every commit of every repository
    syncs, and that is half of what the tests wait for. Nothing where the machine has no such place or no room in it."""
    try:
        there = os.statvfs(memory)
        known = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        free = min(there.f_bavail * there.f_frsize, int(known["MemAvailable"].split()[0]) * 1024)
        fits = free >= room and not there.f_flag & os.ST_NOEXEC and os.access(memory, os.W_OK)
    except (OSError, KeyError):
        fits = False
    if not fits:
        yield {}
        return
    folder = tempfile.mkdtemp(prefix="d", dir=memory)  # a short name: sockets lie below it
    try:
        yield {"PYTEST_DEBUG_TEMPROOT": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Beside:
    """A command that runs beside the suite and is heard when it is done."""

    def __init__(self, *command: str, more: Mapping[str, str] | None = None) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  it is read when the command has ended
        self._process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(more or {})}, stdout=self._said, stderr=subprocess.STDOUT
        )

    def failed(self) -> bool:
        return bool(self._process.poll())

    def end(self) -> int:
        """Its exit code; what it said goes to our own output."""
        code = self._process.wait()
        self._said.seek(0)
        print(f"\n── {' '.join(map(str, self._process.args[-3:]))}", flush=True)  # type: ignore[index, union-attr]
        sys.stdout.buffer.write(self._said.read())
        sys.stdout.flush()
        return code

    def stop(self) -> None:
        self._process.terminate()


def with_it_hidden(path: str) -> list[str]:
    """The command that repeats with bubblewrap hidden what depends on it; nothing where PATH has none to hide."""
    if shutil.which("bwrap", path=path) is None:
        return []
    return [sys.executable, "-m", "tests.without_bwrap", "--lean", "--workers=1"]


def rewrite_assertions(root: Path = ROOT) -> None:
    """Once in a fresh clone, before each worker would do it for itself: thirteen seconds of CPU each, and more for the
    plug-ins where the environment forbids to keep bytecode. What does not collect is told by the tests themselves."""
    if any((root / "tests").glob("*/__pycache__/*-pytest-*.pyc")):
        return
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n", "0", "-m", ORDINARY]
    subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def everything() -> int:
    lint = Beside("make", "-s", "lint")
    turn = {} if depth.deep() else depth.of_this_commit()
    hidden = [
        Beside(*command, more=depth.next_turn(turn))
        for command in [with_it_hidden(os.environ.get("PATH", os.defpath))]
        if command
    ]
    rewrite_assertions()
    if turn:
        print(
            f"Of the dear tests one in {depth.TURNS} runs, by turns (tests/depth.py); DEVTEAM_DEEP=1 runs all.",
            flush=True,
        )
    code = run(["-m", ORDINARY], {**os.environ, **turn}, go_on=lambda: not lint.failed())
    if lint.end():
        for job in hidden:
            job.stop()
        return 1
    return next(filter(None, [code, *(job.end() for job in hidden)]), 0)


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(everything() if given == ["--all"] else run(["-m", ORDINARY, *given], os.environ))
