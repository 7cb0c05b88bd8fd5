"""Repositories of a stranger, and the command line as a stranger's shell starts it: real processes, real git."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.forkserver import ForkServer
from tests.patience import patience, until

ROOT = Path(__file__).parents[2]

CONFIG = """
[gates]
task = "auto"
fix = "auto"

[ladder]
failures = [1, 2]

[[ladder.rungs]]
name = "small"
agent = "scripted"
reserve_usd = 0.1

[[ladder.rungs]]
name = "big"
agent = "scripted"
reserve_usd = 0.2

[scripted]
scenario = ".devteam/scenario.toml"

[checks]
preset = "none"

[[checks.run]]
name = "shape"
kind = "lint"
command = ["sh", "check.sh"]
"""

PLAN = """# Count things

Status: APPROVED
Topic: count

Words of the user that stay.

## Phase 1: One

- [ ] 1.1 Write one
  accept: there is a one
  scope: src/**
  proof: none
  complexity: 2

- [ ] 1.2 Write two
  depends: 1.1
  scope: src/**
  proof: none
  complexity: 2

Closing words that stay too.
"""

SCENARIO = """
[[call]]
task = "1.1"
text = "One is written."
cost_usd = 0.05
[[call.edit]]
path = "src/one.txt"
content = "one\\n"

[[call]]
task = "1.2"
iteration = 1
text = "Two, badly."
[[call.edit]]
path = "src/two.txt"
content = "BAD\\n"

[[call]]
task = "1.2"
text = "Two."
[[call.edit]]
path = "src/two.txt"
content = "two\\n"

[[call]]
role = "reviewer"
[call.structured]
approved = true
summary = "as asked"
criteria = [{ text = "there is a one", met = true, reference = "src/one.txt" }]

[[call]]
role = "answerer"
text = "Because."
"""

CHECK = """test -d src || exit 1
if grep -rq BAD src; then echo "src/two.txt is BAD"; exit 1; fi
"""


@functools.cache
def _server() -> ForkServer:
    return ForkServer()


@dataclass
class Ground:
    """One repository and a private HOME."""

    folder: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=u", "-c", "user.email=u@x", *args],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **self.env,
        }

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "tui.cli.main", *args]

    def run(self, *args: str, stdin: str = "", cwd: Path | None = None) -> Told:
        """`devteam ARGS` in this repository, to its end."""
        code, out, err = _server().run(list(args), cwd or self.folder, self.environment(), patience(90.0), stdin)
        assert "Traceback" not in out + err, err
        assert "bug in devteam" not in err, err
        return Told(code, out, err)

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*args),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def status(self) -> dict[str, Any]:
        return json.loads(self.run("status", "--json").out)

    def until(self, holds: Callable[[], object], seconds: float = 30.0, every: float = 0.05) -> None:
        until(holds, seconds, every)

    def begun(self) -> bool:
        """An engine has got as far as a task."""
        path = self.folder / ".devteam/progress.txt"
        return path.is_file() and "[~]" in path.read_text(encoding="utf-8")

    def fingerprint(self) -> str:
        """Every byte of the user's checkout but .devteam/, their index, HEAD and their own refs."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            if parts[0] in (".devteam", ".git") or not path.is_file():
                continue
            digest.update(f"{parts} {path.stat().st_mode}".encode() + path.read_bytes())
        digest.update((self.folder / ".git" / "HEAD").read_bytes())
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        digest.update("\n".join(ref for ref in refs if "/devteam/" not in ref).encode())
        digest.update(self.git("ls-files", "--stage").encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Told:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    def events(self) -> list[dict[str, Any]]:
        """stdout as events, without their envelopes."""
        return [line["event"] for line in self.lines()]

    def lines(self) -> list[dict[str, Any]]:
        """stdout as JSON lines: anything else on it is an error."""
        return [json.loads(line) for line in self.out.splitlines()]


def make(folder: Path, home: Path, *, config: str = CONFIG, plan: str = PLAN, scenario: str = SCENARIO) -> Ground:
    """A small repository with a scripted agent and a check that takes no time."""
    home.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    ground = Ground(folder, home)
    ground.git("init", "-q", "-b", "main")
    ground.write("check.sh", CHECK)
    ground.write("src/zero.txt", "zero\n")
    ground.git("add", "-A")
    ground.git("commit", "-qm", "start")
    ground.write(".devteam/config.toml", config)
    ground.write(".devteam/scenario.toml", scenario)
    if plan:
        source = home / "plan.md"
        source.write_text(plan, encoding="utf-8")
        assert ground.run("plan", "--from", str(source)).code == 0
    return ground


def trusted(ground: Ground) -> Ground:
    words = ground.run("trust", "--show").out.split()
    assert ground.run("trust", "--hash", words[words.index("hash") + 1].rstrip(":")).code == 0
    return ground
