"""The tools of the comparison: how each is had, what it is given, and what its end means."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).with_name("stub.sh")
CHECK = "sh keep_test.sh"
KEEP = "#!/bin/sh\n! grep -q broken state.txt\n"
NOT_HAD = ("ralphctl", "ralphex", "continuous-claude", "open-ralph-wiggum", "@th0rgal/ralph-wiggum")
"""Names that are asked for at run time and said when no registry has them."""


@dataclass
class Lab:
    """One run: a repository, a HOME, a stub with its orders beside it."""

    folder: Path
    tasks: int
    path: tuple[str, ...] = ()
    """Folders of programs that come first."""
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def agent(self) -> Path:
        return self.folder / "bin" / "claude"

    def env(self) -> dict[str, str]:
        """Nothing of the machine's own: no key, no login, an empty HOME."""
        places = os.pathsep.join((str(self.agent.parent), *self.path, "/usr/local/bin", "/usr/bin", "/bin"))
        return {
            "PATH": places, "HOME": str(self.folder / "home"), "LANG": "C.UTF-8", "TERM": "xterm",
            "XDG_STATE_HOME": str(self.folder / "state"), "ANTHROPIC_API_KEY": "dummy",
            "GIT_CONFIG_GLOBAL": str(self.folder / "gitconfig"), **self.extra,
        }  # fmt: skip


def make(folder: Path, tasks: int, case: str) -> Lab:
    lab = Lab(folder, tasks)
    for place in (lab.repo, lab.agent.parent, folder / "home"):
        place.mkdir(parents=True)
    (folder / "gitconfig").write_text(
        "[user]\n\tname = lab\n\temail = lab@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    shutil.copy2(STUB, lab.agent)
    (lab.agent.parent / "case").write_text(case)
    (lab.repo / "keep_test.sh").write_text(KEEP)
    (lab.repo / "state.txt").write_text("broken\n" if case == "false" else "good\n")
    (lab.repo / "mine.txt").write_text("committed\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=lab.repo, env=lab.env(), check=True)
    return lab


class Tool(Protocol):
    name: str
    gated: bool

    def had(self, cache: Path) -> str:
        """Fetch it; a sentence when it cannot be had, else nothing."""
        ...

    def give(self, lab: Lab) -> None: ...

    def argv(self, lab: Lab) -> list[str]: ...

    def accepted(self, lab: Lab, code: int) -> int:
        """Tasks it holds for done."""
        ...

    def has(self, lab: Lab, name: str) -> bool:
        """Whether what it gives the user has this file."""
        ...


class InPlace:
    """Works in the user's own checkout."""

    def has(self, lab: Lab, name: str) -> bool:
        return (lab.repo / name).exists()


class ShellLoop(InPlace):
    """What people write themselves: until the agent says the word."""

    name = "shell loop"
    gated = False

    def had(self, cache: Path) -> str:
        return ""

    def give(self, lab: Lab) -> None:
        script = f"i=0; while [ $i -lt {lab.tasks} ]; do i=$((i+1)); echo go | claude -p > out.$i 2>&1; done\n"
        (lab.folder / "loop.sh").write_text(script.replace("out.", f"{lab.folder}/out."))

    def argv(self, lab: Lab) -> list[str]:
        return ["sh", str(lab.folder / "loop.sh")]

    def accepted(self, lab: Lab, code: int) -> int:
        return sum("COMPLETE" in path.read_text(errors="replace")[-2000:] for path in lab.folder.glob("out.*"))


class RalphTui(InPlace):
    """npm: ralph-tui, run by bun, headless, without its delay."""

    name = "ralph-tui"
    gated = False

    def __init__(self) -> None:
        self._bin = Path()

    def had(self, cache: Path) -> str:
        if shutil.which("npm") is None:
            return "npm is not installed"
        install = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(cache), "ralph-tui", "bun"]
        wanted = ("npm_config_registry", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR")
        reach = {name: os.environ[name] for name in wanted if name in os.environ}
        env = {"PATH": os.environ["PATH"], "HOME": str(cache / "home"), **reach}
        if not (cache / "node_modules/.bin/ralph-tui").exists():
            done = subprocess.run(install, env=env, capture_output=True, check=False, timeout=600)
            if done.returncode:
                return "no registry here has it"
        self._bin = cache / "node_modules/.bin"
        found = json.loads((cache / "node_modules/ralph-tui/package.json").read_text())
        self.name = f"ralph-tui {found['version']}"
        return ""

    def give(self, lab: Lab) -> None:
        stories = [
            {"id": f"US-{n:03}", "title": f"Write f{n}.txt", "description": "x", "acceptanceCriteria": ["it is there"],
             "priority": n + 1, "passes": False}
            for n in range(lab.tasks)
        ]  # fmt: skip
        prd = {"name": "lab", "branchName": "main", "description": "x", "userStories": stories}
        (lab.folder / "prd.json").write_text(json.dumps(prd))
        lab.path = (str(self._bin),)

    def argv(self, lab: Lab) -> list[str]:
        return [
            str(self._bin / "bun"), str(self._bin / "ralph-tui"), "run", "--headless", "--no-setup", "--prd",
            str(lab.folder / "prd.json"), "--agent", "claude", "--iterations", str(lab.tasks), "--delay", "0",
            "--no-notify",
        ]  # fmt: skip

    def accepted(self, lab: Lab, code: int) -> int:
        return sum(story["passes"] for story in json.loads((lab.folder / "prd.json").read_text())["userStories"])


class Devteam:
    """This work tree: the same stub as a `command` agent, one check, no reviewer (the others have none)."""

    name = "devteam"
    gated = True

    def had(self, cache: Path) -> str:
        return ""

    def give(self, lab: Lab) -> None:
        settings = lab.repo / ".devteam"
        settings.mkdir()
        (settings / "config.toml").write_text(
            f"""[ladder]
failures = [2]

[[ladder.rungs]]
name = "stub"
agent = "command"
model = "stub"
reserve_usd = 0.01

[agents.command]
argv = ["{lab.agent}"]
output = "text"

[task_loop]
review = false
final_review = false

[limits]
calls_per_hour = 100000

[checks]
preset = "none"

[[checks.run]]
name = "keep"
kind = "own"
command = "{CHECK}"
"""
        )
        rows = "".join(
            f"- [ ] 1.{n} Write f{n}.txt\n      scope: f*.txt\n      proof: none\n      complexity: 1\n"
            for n in range(lab.tasks)
        )
        plan = lab.folder / "plan.md"
        plan.write_text(f"# Lab\n\n## Phase 1: one\n\n{rows}")
        subprocess.run(
            [sys.executable, "-m", "tui.cli.main", "plan", "--from", str(plan)], cwd=lab.repo,
            env={**lab.env(), "PYTHONPATH": str(ROOT)}, check=True, capture_output=True,
        )  # fmt: skip
        lab.extra = {"PYTHONPATH": str(ROOT)}

    def argv(self, lab: Lab) -> list[str]:
        return [sys.executable, "-m", "tui.cli.main", "run", "--unattended", "--json", "--trust", "all"]

    def accepted(self, lab: Lab, code: int) -> int:
        listed = subprocess.run(
            ["git", "log", "--format=%(trailers:key=Devteam-Task)", "--branches=devteam/*"],
            cwd=lab.repo, env=lab.env(), capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        return listed.count("Devteam-Task")

    def has(self, lab: Lab, name: str) -> bool:
        asked = ["git", "ls-tree", "--name-only", "devteam/001-lab", name]
        listed = subprocess.run(asked, cwd=lab.repo, env=lab.env(), capture_output=True, text=True, check=False)
        return name in listed.stdout
