"""Where a drill plays: a scratch copy of the repository, with its configuration, a scripted agent and a plan of two
small tasks. Nothing of the user's is written, and no agent of theirs is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from engine import files
from engine.config import Config
from engine.core import events as ev
from engine.core.commands import AnyCommand
from engine.core.state import State, Status
from engine.drills.drill_clock import DrillClock
from engine.journal import Journal
from engine.perform.machine import Performs
from engine.perform.process.reaper import find_orphans
from engine.perform.workspace.facts import Identity, Refused
from engine.perform.workspace.git import Git
from engine.perform.workspace.repository import alternate, find
from engine.plans.sprints import SprintFolder, new_sprint
from engine.project import Project, open_project
from engine.session import Session
from engine.session_options import Options

ONE, TWO, CHECK = "DEVTEAM_DRILL_1", "DEVTEAM_DRILL_2", "devteam-drill-check.sh"
CHECK_SCRIPT = f"#!/bin/sh\n! grep -qs bad {ONE} {TWO}\n"
PLAN = f"""# A drill

Status: APPROVED
Topic: drill

## Phase 1: Words

- [ ] 1.1 Write the first word
      scope: {ONE}
      proof: none
      complexity: 1

- [ ] 1.2 Write the second word
      scope: {TWO}
      proof: none
      complexity: 1
"""
REVIEW = """
[[call]]
role = "reviewer"
[call.structured]
approved = true
criteria = []
summary = "fine"

[[call]]
role = "councillor"
[call.structured]
root_cause = "it writes the wrong word"
recommended_fix = "write the right one"
evidence = ["the check"]
confidence = "high"

[[call]]
role = "synthesist"
[call.structured]
root_cause = "it writes the wrong word"
recommended_fix = "write the right one"
insight = "read the check"
test_cases = ["the check"]
"""
SECOND = f"""
[[call]]
task = "1.2"
edit = [{{ path = "{TWO}", content = "good\\n" }}]
"""
_WHO = {
    "GIT_AUTHOR_NAME": "drill",
    "GIT_AUTHOR_EMAIL": "drill@localhost",
    "GIT_COMMITTER_NAME": "drill",
    "GIT_COMMITTER_EMAIL": "drill@localhost",
}
Tweak = Callable[[dict[str, Any]], None]


def good(path: str = ONE, task: str = "1.1", **more: object) -> str:
    """A step that does the work."""
    return step(task=task, edit=[{"path": path, "content": "good\n"}], **more)


def step(**fields: object) -> str:
    """One `[[call]]` of a scenario."""
    return "\n[[call]]\n" + "".join(f"{name} = {_inline(value)}\n" for name, value in fields.items())


def _inline(value: object) -> str:
    """A value as TOML on one line."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{name} = {_inline(part)}" for name, part in value.items()) + " }"
        case list():
            return "[" + ", ".join(_inline(part) for part in value) + "]"
        case _:  # a string of JSON is one of TOML, and so is a number
            return msgspec.json.encode(value).decode()


class Scene:
    """One drill's repository, from its making to the last look at it."""

    def __init__(self, place: Path, root: Path, config: Config, env: Mapping[str, str], *, no_sandbox: bool) -> None:
        self.place = place
        self.repo = place / "repo"
        self.clock = DrillClock()
        self.facts: list[ev.Fact] = []
        self.happened: list[str] = []
        self.run_ids: list[str] = []
        self._no_sandbox = no_sandbox
        self._config = config
        files.private_folder(place / "home")
        self._env = {**env, "HOME": str(place / "home"), "XDG_STATE_HOME": str(place / "state")}
        self.git = _copied(root, self.repo, place)
        self._write(CHECK, CHECK_SCRIPT)
        rules = self.repo / ".gitignore"
        kept = rules.read_text("utf-8", "replace") if rules.is_file() and not rules.is_symlink() else ""
        self._write(".gitignore", kept + "".join(f"\n!/{name}" for name in (CHECK, ONE, TWO)) + "\n")
        self.git.run("add", "-f", "--", CHECK, ".gitignore")
        self.git.run("commit", "-q", "--no-verify", "-m", "a check for the drill")
        self._sprint: SprintFolder | None = None

    def prepare(self, scenario: str, tweak: Tweak = lambda _settings: None) -> None:
        """The plan, the scripted agent, and the user's settings as `tweak` changes them."""
        self._write(".devteam/scenario.toml", scenario + SECOND + REVIEW)
        self._write(".devteam/config.toml", tomli_w.dumps(self._settings(tweak)))
        self._sprint = new_sprint(self.repo, PLAN, "plan.md", "2000-01-01")

    def _settings(self, tweak: Tweak) -> dict[str, Any]:
        """The user's own, but for who works (scripted), what judges (a line of shell) and what reaches outside."""
        settings: dict[str, Any] = msgspec.to_builtins(self._config)
        for rung in settings["ladder"]["rungs"]:
            rung["agent"] = "scripted"
        settings |= {"agents": {}, "notify_command": "", "auto_land": False, "lanes": 1}
        settings["scripted"] = {"scenario": ".devteam/scenario.toml"}
        settings["gates"] |= {"fix": "auto", "task": "auto"}
        settings["workspace"] |= {"setup": "", "server": "", "server_health": "", "copy": [], "mounts": []}
        settings["task_loop"]["final_review"] = False
        checks = settings["checks"]
        checks |= {"preset": "none", "held_out": [], "protected": [*checks["protected"], CHECK]}
        checks["run"] = [{"name": "drill", "kind": "own", "command": f"sh {CHECK}"}]
        tweak(settings)
        plain: dict[str, Any] = _without_none(settings)
        return plain

    def _write(self, name: str, text: str) -> None:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text, mode=files.SHARED, durable=False)

    @property
    def sprint(self) -> SprintFolder:
        if self._sprint is None:
            raise RuntimeError("the scene is not prepared")
        return self._sprint

    def project(self) -> Project:
        return open_project(self.repo, self._env, self.place / "home")

    # ── playing ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(
        self,
        on_fact: Callable[[ev.Fact, Callable[[AnyCommand], object]], object] = lambda _event, _send: None,
        around: Callable[[Performs], Performs] = lambda performer: performer,
        **options: Any,
    ) -> State:
        """One life of an engine, to the end of its run. `on_fact` hears every fact and may give commands."""
        given = {"attended": False, "trust": "all", "speed": 1e9, "no_sandbox": self._no_sandbox, **options}
        async with Session.open(self.project(), self.sprint, self.clock, Options(**given), around=around) as session:

            def hear(envelopes: Sequence[ev.Envelope], _state: State) -> None:
                for envelope in envelopes:
                    self._heard(envelope.event)
                    on_fact(envelope.event, session.runner.put)

            for early in self._recorded(session.opened_at):  # said while it opened: a journal that was damaged
                self._heard(early.event)
            session.watch(hear)
            return await session.run()

    def _recorded(self, after: int) -> list[ev.Envelope]:
        project = self.project()
        with Journal.open(project.repo.db, clock=self.clock.now, backup_dir=project.backups, read_only=True) as journal:
            return list(journal.read(self.sprint.id, after=after))

    def _heard(self, event: ev.Fact) -> None:
        self.facts.append(event)
        match event:
            case ev.RunStarted():
                self.run_ids.append(event.run)
            case ev.AgentFinished(result=result):
                said = f" ({result.error.splitlines()[0][:80]})" if result.error else ""
                self.happened.append(f"{event.task} {event.role.value}: {result.kind.value}{said}")
            case ev.EffectFailed(fault=fault) if fault is not None:
                self.happened.append(f"the machine: {fault.value}")
            case ev.MachineProbed():
                self.happened.append(f"probe: {'well again' if event.ok else event.detail}")
            case ev.Noted(level="warning"):
                self.happened.append(event.text)
            case ev.TaskEnded():
                self.happened.append(f"{event.task} ended {event.decision}: {event.reason[:100]}")
            case ev.RunEnded():
                self.happened.append(f"run ended {event.outcome}: {event.reason.splitlines()[0][:100]}")
            case _:
                pass

    # ── looking ────────────────────────────────────────────────────────────────────────────────────────────────────

    def commits(self) -> list[str]:
        """The tasks that have a commit on the sprint branch, oldest first."""
        log = self.git.run("log", "--reverse", "--format=%s", f"drill..refs/heads/{self.sprint.branch}").decode()
        return [subject.split(" — ")[0].rpartition(" T")[2] for subject in log.splitlines() if " — " in subject]

    def complete(self, state: State) -> bool:
        return all(task.status is Status.COMPLETE for task in state.tasks.values()) and self.commits() == ["1.1", "1.2"]

    def left_alive(self) -> int:
        """Processes of the agents that are still there."""
        return sum(len(find_orphans(run)) for run in self.run_ids)

    def results(self, task: str = "1.1") -> list[ev.AgentFinished]:
        return [event for event in self.facts if isinstance(event, ev.AgentFinished) and event.task == task]


def _copied(root: Path, repo: Path, place: Path) -> Git:
    """The user's last commit as a repository of its own, on a branch `drill`; their objects are only read."""
    theirs = find(root, Identity())
    head = theirs.head()[0]
    if not head:
        raise Refused(f"{root} has no commit yet", hint="git commit, then again")
    form = f"--object-format={theirs.object_format}"
    Git(None, place).run("init", "-q", "-b", "drill", "--template=", form, "--", str(repo))
    files.write(repo / ".git/objects/info/alternates", f"{alternate(theirs.objects)}\n")
    git = Git(repo / ".git", repo, repo, _WHO)
    git.run("update-ref", "refs/heads/drill", head)
    git.run("read-tree", head)
    git.run("checkout-index", "-q", "-a")
    return git


def _without_none(data: Any) -> Any:
    match data:
        case dict():
            return {key: _without_none(value) for key, value in data.items() if value is not None}
        case list() | tuple():
            return [_without_none(item) for item in data]
        case _:
            return data
