"""`devteam land --pr`: the sprint's branch on the user's remote and a pull request for it, or the words to type."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from engine.clock import SystemClock
from engine.core.clean import clean_line
from engine.core.model import Struct
from engine.core.state import State
from engine.paths import make_state
from engine.perform.process.probe import probe
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Finished, ProcessSpec
from engine.plans.sprints import SprintFolder
from engine.pull_request import description
from engine.service.landing import workspace_of
from engine.service.local import Desk
from engine.views import write_atomically

SECONDS = 300.0
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
"""Neither may wait for somebody who types."""


class Request(Struct, frozen=True, kw_only=True):
    """A pull request that could be opened."""

    branch: str
    base: str
    title: str
    text: Path
    """Its description, as a file in the checkout."""

    def push(self, remote: str) -> tuple[str, ...]:
        return ("git", "push", "--set-upstream", remote, f"refs/heads/{self.branch}:refs/heads/{self.branch}")

    def create(self) -> tuple[str, ...]:
        onto = (f"--base={self.base}",) if self.base else ()
        return (
            "gh",
            "pr",
            "create",
            f"--head={self.branch}",
            *onto,
            f"--title={self.title}",
            f"--body-file={self.text}",
        )

    def edit(self) -> tuple[str, ...]:
        return ("gh", "pr", "edit", self.branch, f"--title={self.title}", f"--body-file={self.text}")


def publish(desk: Desk, hint: str) -> tuple[bool, list[str]]:
    """Push the branch and open its pull request; without gh or a remote, say what to type. No file is touched."""
    folder, state = desk.sprint(hint), desk.state(hint)
    if not state.head or state.head == state.base:
        return False, ["there is nothing to land yet"]
    workspace = workspace_of(desk, hint)
    kept = workspace.has_it()
    if kept != f"refs/heads/{folder.branch}":
        return False, [
            f"{folder.branch} is checked out and behind; its commits are on {kept}",
            "  git switch another branch",
        ]
    asked = _request(desk, folder, state, workspace.repo.head()[1].removeprefix("refs/heads/"))
    shown = f"wrote {asked.text.relative_to(desk.root)}"
    return asyncio.run(_open(desk, asked, shown))


def _request(desk: Desk, folder: SprintFolder, state: State, base: str) -> Request:
    path = folder.path / "pull-request.md"
    write_atomically(path, description(state))
    title = clean_line(state.plan.title, 120) if state.plan is not None else folder.id
    return Request(branch=folder.branch, base=base, title=title, text=path)


async def _open(desk: Desk, asked: Request, shown: str) -> tuple[bool, list[str]]:
    project = desk.project
    clock = SystemClock()
    scratch = make_state(project.state).root / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    # The user's own programs with the user's own logins: no sandbox would let them do what they are asked.
    mode = await probe("none", scratch=scratch, home=project.home)
    spawner = ProcessSpawner(mode, "publish", clock.monotonic, home=project.home, scratch=scratch)

    async def run(argv: Sequence[str]) -> Finished:
        env = {**project.env, **QUIET, "HOME": str(project.home)}
        return await spawner.run(ProcessSpec(argv=tuple(argv), cwd=project.root, env=env, timeout=SECONDS))

    remotes = (await run(("git", "remote"))).stdout.decode("utf-8", "replace").split()
    remote = "origin" if "origin" in remotes else remotes[0] if len(remotes) == 1 else ""
    with_gh = shutil.which("gh", path=project.env.get("PATH", os.defpath)) is not None
    if not remote or not with_gh:
        return True, [_lacking(remotes, remote, with_gh, shown), *_to_type(asked, remote or "origin")]
    pushed = await run(asked.push(remote))
    if pushed.exit_code != 0:
        return False, [f"{remote} did not take the branch:", *_said(pushed), "nothing was opened; to try it by hand:",
                       *_to_type(asked, remote)]  # fmt: skip
    made = await run(asked.create())
    if made.exit_code != 0 and b"already exists" in made.stderr:
        made = await run(asked.edit())
    if made.exit_code != 0:
        said = f"{asked.branch} is on {remote}, but gh opened no pull request:"
        return False, [said, *_said(made), "to try it by hand:", f"  {shlex.join(asked.create())}"]
    return True, [f"{shown}; {asked.branch} is on {remote}", *_said(made)]


def _lacking(remotes: Sequence[str], remote: str, with_gh: bool, shown: str) -> str:
    why = []
    if not remote:
        why.append("there are several remotes and none is called origin" if remotes else "there is no remote")
    if not with_gh:
        why.append("gh is not on PATH")
    return f"{shown}; {' and '.join(why)}, so nothing was sent. To open it:"


def _to_type(asked: Request, remote: str) -> list[str]:
    return [f"  {shlex.join(asked.push(remote))}", f"  {shlex.join(asked.create())}"]


def _said(ended: Finished) -> list[str]:
    words = ended.error or (ended.stdout + ended.stderr).decode("utf-8", "replace")
    return [f"  {clean_line(line)}" for line in words.splitlines() if line.strip()][-8:]
