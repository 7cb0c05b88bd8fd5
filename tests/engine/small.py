"""A small real repository with a plan, a scripted agent and a check that is a shell line: a whole sprint in seconds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from engine.plans.sprints import SprintFolder, list_sprints, new_sprint
from engine.project import Project, open_project

PLAN = """# Make it good

Status: APPROVED
Topic: small

## Phase 1: Words

- [ ] 1.1 Write a good word
      description: Put the word good into word.txt.
      accept: word.txt says good
      scope: word.txt
      proof: none
      complexity: 1

- [ ] 1.2 Write another file
      scope: other.txt
      depends: 1.1
      proof: none
      complexity: 1
"""

SCENARIO = """
[[call]]
task = "1.1"
iteration = 1
output = ["trying"]
edit = [{ path = "word.txt", content = "bad\\n" }]

[[call]]
task = "1.1"
iteration = 2
output = ["mending"]
edit = [{ path = "word.txt", content = "good\\n" }]

[[call]]
task = "1.2"
edit = [{ path = "other.txt", content = "other\\n" }]

[[call]]
task = "1.1"
role = "reviewer"
[call.structured]
approved = true
summary = "it says good"
criteria = [{ text = "word.txt says good", met = true, reference = "word.txt:1" }]

[[call]]
role = "reviewer"
[call.structured]
approved = true
criteria = []
summary = "fine"

[[call]]
role = "answerer"
text = "because the plan says so"
"""

CONFIG = """
[ladder]
failures = [2, 3]

[[ladder.rungs]]
name = "haiku"
agent = "scripted"
model = "haiku"
reserve_usd = 0.1

[[ladder.rungs]]
name = "opus"
agent = "scripted"
model = "opus"
reserve_usd = 0.5

[scripted]
scenario = ".devteam/scenario.toml"

[checks]
preset = "none"

[[checks.run]]
name = "words"
kind = "own"
command = "! grep -rq bad --include=*.txt ."

[gates]
fix = "auto"
task = "auto"
"""


def make(folder: Path, *, plan: str = PLAN, scenario: str = SCENARIO, config: str = CONFIG) -> SprintFolder:
    """The repository with one sprint; taken up as it is when it is there already."""
    if found := list_sprints(folder) if (folder / ".devteam").is_dir() else ():
        return found[-1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "word.txt").write_text("none\n")
    (folder / "user.txt").write_text("the user's own\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    (folder / "user.txt").write_text("the user's own, edited and not committed\n")
    settings = folder / ".devteam"
    settings.mkdir()
    (settings / "config.toml").write_text(config)
    (settings / "scenario.toml").write_text(scenario)
    return new_sprint(folder, plan, "plan.md", "2026-11-16")


def git(folder: Path, *arguments: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/dev/null",
        "GIT_AUTHOR_NAME": "u",
        "GIT_AUTHOR_EMAIL": "u@localhost",
        "GIT_COMMITTER_NAME": "u",
        "GIT_COMMITTER_EMAIL": "u@localhost",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, check=True)
    return done.stdout.decode()


def project_of(folder: Path, state: Path) -> Project:
    """The project with a state directory and a HOME of its own."""
    home = state.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8"}
    return open_project(folder, env, home)


def user_side(folder: Path) -> dict[str, object]:
    """Everything of the user's that a run must leave alone, in comparable form."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.relative_to(folder).parts[0] not in (".git", ".devteam")
    }
    refs = [
        line
        for line in git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        if not line.startswith(("refs/heads/devteam/", "refs/devteam/"))
    ]
    return {
        "files": files,
        "head": (folder / ".git" / "HEAD").read_text(),
        "index": git(folder, "ls-files", "-s"),
        "status": [line for line in git(folder, "status", "--porcelain").splitlines() if ".devteam" not in line],
        "refs": refs,
        "stash": git(folder, "stash", "list"),
    }


def branch(folder: Path, name: str) -> list[tuple[str, str]]:
    """(subject, tree) of the sprint branch's own commits, oldest first."""
    log = git(folder, "log", "--reverse", "--format=%s%x00%T", f"main..{name}")
    return [(subject, tree) for subject, tree in (line.split("\0") for line in log.splitlines())]
