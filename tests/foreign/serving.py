"""One project from `devteam init` to `devteam land`: init once for each base, then every change from a copy of that.

The checkout stays at one path, because editable installs and npm's links know their folder by it.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import tomli_w

from tests.foreign.changes import Change, changes
from tests.foreign.prepared import GIT, version_of
from tests.foreign.projects import Foreign

ROOT = Path(__file__).parents[2]
LONGEST = 900.0
"""Seconds for one command; what takes longer is not served."""
INSTALLED = (".venv", "node_modules")
"""Folders that are not copied for every change."""
LADDER = """
[[ladder.rungs]]
name = "hand"
agent = "scripted"
reserve_usd = 0.1
"""


@dataclass
class Row:
    project: str
    what: str
    version: str = ""
    init: str = ""
    honest: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    paid: int = 0
    """Agent calls before a refusal by the environment."""
    seconds: float = 0.0
    cpu: list[float] = field(default_factory=list)
    """Of the runs of changes that were accepted."""
    own_cpu: list[float] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    """Honest changes that were not simply accepted, with the reason."""

    def words(self) -> str:
        """Project and version, what init took, what became of each change, calls paid before a refusal."""
        return (
            f"{self.project:<26} {self.version:<22} {self.init:<30} honest {' '.join(self.honest):<28} "
            f"wrong {' '.join(self.wrong):<24} own tests {' '.join(self.own) or '–':<18} paid {self.paid}  "
            f"CPU {self.ratio():<7} {self.seconds:.0f} s"
        )

    def ratio(self) -> str:
        """CPU of the runs of accepted changes against one run each of the project's own tests."""
        return f"{sum(self.cpu) / sum(self.own_cpu):.1f} ×" if self.cpu and sum(self.own_cpu) else "–"


def devteam(folder: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(ROOT)}
    # rustup finds its toolchains by HOME, which is not the user's here
    env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
    argv = [sys.executable, "-P", "-m", "tui.cli.main", *args]
    done = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL
    )
    if target := os.environ.get("DEVTEAM_FOREIGN_LOG"):  # what the user would have read
        with Path(target).open("a") as file:
            file.write(f"$ devteam {' '.join(args)}   → {done.returncode}\n")
            file.write("" if args[0] == "run" else done.stdout)
            file.write(done.stderr)
    return done


class Served:
    """A project in its place, and what became of each change."""

    def __init__(self, project: Foreign, source: Path, place: Path) -> None:
        self.project, self.folder, self.place = project, source, place
        self.home = place / "home"
        self.row = Row(project=project.name, what=project.what, version=version_of(project))
        self.said: list[str] = []

    def serve(self, chosen: str = "") -> None:
        started = time.monotonic()
        wanted = [
            change
            for change in changes(self.project, self.folder)
            if not chosen or any(name in change.name for name in chosen.split(","))
        ]
        self._put(self.folder, self.place / "original")
        for planted in (False, True):
            of_it = [change for change in wanted if change.planted is planted]
            if of_it and self._initialised(planted):
                for change in of_it:
                    how = self._outcome(change)
                    (self.row.honest if change.honest else self.row.wrong).append(how.partition(" ")[0])
                    self.said.append(f"{'honest' if change.honest else 'wrong'} {change.name}: {how}")
                    if change.honest and how != "accepted":
                        self.row.odd.append(f"{change.name}: {how[:400]}")
            self._put(self.place / "original", self.folder)
        self.row.seconds = time.monotonic() - started

    def _initialised(self, planted: bool) -> bool:
        """`devteam init` on this base, kept so that every change starts right behind it."""
        if planted:
            path, right, wrong = self.project.broken
            text = (self.folder / path).read_text()
            assert right in text, f"{self.project.name}: the place to break is gone"
            (self.folder / path).write_text(text.replace(right, wrong, 1))
            subprocess.run([*GIT, "commit", "-qam", "a bug"], cwd=self.folder, check=True)
            seen = subprocess.run(self.project.own, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST)
            assert seen.returncode, f"{self.project.name}: its own tests do not see the bug"
            # what that run left in the checkout is not what devteam left there
            kept = [word for name in INSTALLED for word in ("-e", name)]
            subprocess.run([*GIT, "clean", "-fdq", *kept], cwd=self.folder, check=True)
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        told = devteam(self.folder, self.home, "init")
        self.row.init = self.row.init or _checks(told.stdout)
        assert told.returncode == 0, told.stderr
        assert len(told.stdout.splitlines()) < 30, told.stdout
        for words in self.project.says:
            assert words in told.stdout, told.stdout
        status = [*GIT, "status", "--porcelain", "--ignore-submodules"]
        left = subprocess.run(status, cwd=self.folder, capture_output=True, text=True).stdout.splitlines()
        assert not [line for line in left if ".devteam" not in line and ".venv" not in line], left
        self._put(self.folder, self.place / "initialised")
        self._put(self.home, self.place / "initialised-home")
        return True

    def _outcome(self, change: Change) -> str:
        """accepted, asked, refused or environment: from what init left to land."""
        self._put(self.place / "initialised", self.folder)
        self._put(self.place / "initialised-home", self.home)
        folder, home = self.folder, self.home
        given_to_the_agent(folder, change)
        planned = devteam(folder, home, "plan", "--from", str(folder.parent / "plan.md"))
        assert planned.returncode == 0, planned.stderr
        before = _children()
        run = devteam(folder, home, "run", "--unattended", "--json", "--trust", "all")
        cpu = _children() - before
        events = [json.loads(line)["event"] for line in run.stdout.splitlines()]
        end = events[-1] if events else {}
        if str(end.get("reason", "")).startswith("environment:"):
            self.row.paid += sum(event["type"] == "agent_finished" for event in events)
            return f"environment ({end['reason'][:200]})"
        if run.returncode == 0:
            landed = devteam(folder, home, "land")
            if landed.returncode:
                return f"unlanded ({landed.stderr[-200:]})"
            before = _children()
            judged = subprocess.run(self.project.own, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
            self.row.cpu.append(cpu)
            self.row.own_cpu.append(_children() - before)
            self.row.own.append("green" if judged.returncode == 0 else "RED")
            return "accepted"
        finished = [event for event in events if event["type"] == "checks_finished" and event.get("task")]
        asked = bool(finished) and finished[-1].get("proof") == "QUESTION"
        why = [f"{event.get('proof')}: {event.get('proof_reason')}" for event in finished]
        why = why or [f"{event.get('reason')}" for event in events if event["type"] == "task_ended"]
        reason = f"{' | '.join(why)[:600]} {end.get('reason', run.stderr)[:300]}"
        return f"asked ({reason})" if asked else f"refused ({reason})"

    @staticmethod
    def _put(source: Path, dest: Path) -> None:
        """`dest` becomes `source`; installed packages, which nobody writes to, stay where they are."""
        _emptied(dest)
        shutil.copytree(source, dest, symlinks=True, ignore=shutil.ignore_patterns(*INSTALLED), dirs_exist_ok=True)

    def held(self, chosen: str = "") -> None:
        words = "\n".join(self.said)
        assert self.row.paid == 0, words
        assert "accepted" not in self.row.wrong, words
        assert all(how in ("accepted", "asked") for how in self.row.honest), words
        assert "accepted" in self.row.honest or chosen, f"not served\n{words}"
        assert "RED" not in self.row.own, words


def _emptied(folder: Path) -> None:
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if path.name in INSTALLED:
            continue
        if path.is_dir() and not path.is_symlink():
            _emptied(path)
            if not any(path.iterdir()):
                path.rmdir()
        else:
            path.unlink()


def given_to_the_agent(folder: Path, change: Change) -> None:
    """The one thing edited by hand: who the agent is, and what it will do."""
    config = folder / ".devteam" / "config.toml"
    text = config.read_text()
    for header, lines in (
        ("[gates]", 'task = "auto"\nfix = "auto"'),
        ("[ladder]", "failures = [1]"),
        ("[scripted]", 'scenario = ".devteam/scenario.toml"'),
        ("[task_loop]", "max_iterations = 1"),
    ):
        text = text.replace(f"\n{header}\n", f"\n{header}\n{lines}\n", 1)
    config.write_text(text + LADDER)
    review = {
        "role": "reviewer",
        "structured": {
            "approved": True,
            "summary": "fine",
            "criteria": [{"text": "done", "met": True, "reference": "x"}],
        },
    }
    scenario = {"call": [{"task": "1.1", "text": "Done.", "edit": list(change.edits)}, review]}
    (folder / ".devteam" / "scenario.toml").write_text(tomli_w.dumps(scenario))
    proof = f"  proof: {change.proof}\n" if change.proof else ""
    head = "# Work\n\nStatus: APPROVED\nTopic: work\n\n## Phase 1: One\n\n"
    (folder.parent / "plan.md").write_text(f"{head}- [ ] 1.1 {change.title}\n  accept: done\n{proof}  complexity: 2\n")


def _checks(out: str) -> str:
    found = [line.split()[1].rstrip(":") for line in out.splitlines() if line.startswith("  check ")]
    return ", ".join(found)[:30] or "no checks"


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
