"""Grounds to run processes on: a checkout, its clone, a user's HOME, a state directory; and who survived."""

import contextlib
import os
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.perform import landlock_exec, proctable
from engine.perform.contract import Confinement, ProcessSpec
from engine.perform.process import ProcessSpawner
from engine.perform.sandbox import SandboxMode

NAUGHTY = (Path(__file__).parent / "naughty.py").read_text()
NO_BWRAP = "bubblewrap is not installed: its tests are skipped (Debian: apt install bubblewrap)"
NO_LANDLOCK = "this kernel has no Landlock: its tests are skipped"


def need(mode: str) -> None:
    if mode == "bwrap" and not shutil.which("bwrap"):
        pytest.skip(NO_BWRAP)
    if mode == "landlock" and (not sys.platform.startswith("linux") or landlock_exec.abi() < 1):
        pytest.skip(NO_LANDLOCK)


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
        given = {"cwd": self.checkout, "env": self.env(), "timeout": 20.0, "confine": self.confine()}
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
