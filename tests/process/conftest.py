"""Grounds to run processes on: a checkout, its clone, a user's HOME, a state directory; and who survived."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from engine.core.sandboxes import SandboxName
from engine.perform.process import landlock_exec, proctable
from engine.perform.process.probe import SandboxUnavailableError, probe
from engine.perform.process.sandbox import SandboxMode
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Confinement, ProcessSpec
from tests.patience import patience

NAUGHTY = (Path(__file__).parent / "naughty.py").read_text()
NO_BWRAP = "bubblewrap is not installed: its tests are skipped (Debian: apt install bubblewrap)"
NO_LANDLOCK = "this kernel has no Landlock: its tests are skipped"


MODES = tuple(SandboxName)
"""Every mode there is: a new one is held to all that is held here."""
CONFINING = tuple(mode for mode in MODES if mode is not SandboxName.NONE)


@lru_cache
def refused(mode: str) -> str:
    """Why this machine cannot have the mode; found out once, as the engine does it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(probe(mode, scratch=Path(folder), home=Path.home()))
        except SandboxUnavailableError as error:
            return str(error)
    return ""


def need(mode: str) -> None:
    if mode == "bwrap" and not shutil.which("bwrap"):
        pytest.skip(NO_BWRAP)
    if mode == "namespaces" and (why := _found_out(mode)):
        pytest.skip(f"no namespaces here: {why}")
    if mode == "landlock" and (not sys.platform.startswith("linux") or landlock_exec.abi() < 1):
        pytest.skip(NO_LANDLOCK)


def here() -> list[SandboxName]:
    """The modes this machine has, strongest first: a missing one hides no other from a test."""
    return [mode for mode in MODES if mode is SandboxName.NONE or not _found_out(mode)]


def _found_out(mode: str) -> str:
    # In a thread, for the test may have a loop of its own.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(refused, mode).result()


def survivors(marker: str) -> list[int]:
    """Living processes with the marker in their command line: no variable of ours is needed to find them."""
    found = []
    for pid in proctable.pids():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        each = proctable.entry(pid)
        if marker.encode() in line and each and each.alive and pid != os.getpid():
            found.append(pid)
    return found


@dataclass
class Grounds:
    base: Path
    run_id: str = field(default_factory=lambda: f"run-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        for folder in (self.checkout, self.clone, self.home, self.private, self.state):
            folder.mkdir(parents=True, exist_ok=True)

    checkout = property(lambda self: self.base / "user" / "projects" / "shop")
    clone = property(lambda self: self.base / "state" / "lane" / "clone")
    home = property(lambda self: self.base / "user")
    private = property(lambda self: self.base / "state" / "homes" / "implementer")
    state = property(lambda self: self.base / "state" / "journal")

    def spawner(self, mode: SandboxMode | str, grace: float = 0.3) -> ProcessSpawner:
        need(mode if isinstance(mode, str) else mode.name)
        return ProcessSpawner(
            mode, self.run_id, time.monotonic, home=self.home, scratch=self.base / "scratch", grace=grace
        )

    def env(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **more}

    def confine(self, **more: Any) -> Confinement:
        given = {"checkout": self.checkout, "clone": self.clone, "home": self.private, "hide": (self.base / "state",)}
        return Confinement(**{**given, **more})

    def spec(self, *argv: str, **more: Any) -> ProcessSpec:
        given = {"cwd": self.checkout, "env": self.env(), "timeout": patience(20.0), "confine": self.confine()}
        return ProcessSpec(argv=argv, **{**given, **more})

    def python(self, source: str, *args: str, **more: Any) -> ProcessSpec:
        return self.spec(sys.executable, "-I", "-S", "-c", source, *args, **more)

    def naughty(self, kind: str, marker: str, *, leaving: bool = False, **more: Any) -> ProcessSpec:
        return self.python(NAUGHTY, kind, marker, *(["exit"] if leaving else []), **more)


@pytest.fixture
def grounds(tmp_path: Path) -> Grounds:
    return Grounds(base=Path(os.path.realpath(tmp_path)) / "g")


@pytest.fixture
def marker() -> Iterator[str]:
    """Names the processes of one test; a test that fails leaves none of them to the machine."""
    name = f"mark-{uuid.uuid4().hex}"
    yield name
    for pid in survivors(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
