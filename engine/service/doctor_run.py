"""`devteam doctor --run`: the configured checks in checkout and clone, the set-up, the agents; each with its cure."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.config import Config, ConfigRefused
from engine.core.activity import CheckProgress
from engine.core.model import CheckKind
from engine.link.user_errors import as_user_error
from engine.perform.checks.presets.package import Candidate
from engine.perform.checks.presets.registry import survey
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import PerformError
from engine.project import Project
from engine.service.agent_start import start_on_trial
from engine.service.agent_survey import list_agents
from engine.service.comparison import Compared, compare, told
from engine.service.findings import Finding
from engine.service.local import Desk
from engine.service.rehearsing import open_rooms
from engine.settings import check_specs

CONFIG = ".devteam/config.toml"
BUILT_IN = ("cd", "export", "set", ".", "test", "[", "true", "if", "for")


def rehearse(desk: Desk, progress: Callable[[str], None] = lambda _text: None) -> list[Finding]:
    """Run everything once as a run would, without an agent. Nothing of the user's is written."""
    project = desk.project
    try:
        config = project.config()
    except ConfigRefused:
        return []  # examine has said it
    findings = list(_named(project, config))
    if any(finding.mark == "bad" for finding in findings):
        return findings
    try:
        return [*findings, *asyncio.run(_rehearsed(project, config, progress))]
    except Exception as error:
        said = as_user_error(error)
        if said is None:
            raise
        return [*findings, Finding(mark="bad", what="rehearsal", found=str(said), hint=said.hint)]


def _named(project: Project, config: Config) -> Iterator[Finding]:
    """What the configuration names and is not there."""
    for pattern in config.workspace.copy:
        if not any(project.root.glob(pattern.lstrip("/"))):
            hint = f"make it, or take it out of workspace.copy in {CONFIG}"
            yield Finding(mark="bad", what="workspace.copy", found=f"{pattern} matches no file", hint=hint)
    for name in config.workspace.mounts:
        path = project.home / name[2:] if name.startswith("~/") else Path(name)
        if not path.exists():
            hint = f"make it, or take it out of workspace.mounts in {CONFIG}"
            yield Finding(mark="bad", what="workspace.mounts", found=f"{name} is not there", hint=hint)
    if config.workspace.setup and (missing := _missing(config.workspace.setup, project.env.get("PATH", ""))):
        hint = f"install {missing}, or change workspace.setup in {CONFIG}"
        words = f"{missing} is not installed: {config.workspace.setup}"
        yield Finding(mark="bad", what="workspace.setup", found=words, hint=hint)
    for check in config.checks.run:
        if check.folder and not (project.root / check.folder).is_dir():
            hint = f'mend folder = "{check.folder}" of [[checks.run]] "{check.name}" in {CONFIG}'
            yield Finding(mark="bad", what=f"check {check.name}", found=f"there is no folder {check.folder}", hint=hint)


def _missing(line: str, path: str) -> str:
    """The first program of a shell line that is not there; empty for what only a shell can tell."""
    try:
        first = next(iter(shlex.split(line.partition("&&")[0])), "")
    except ValueError:
        return ""
    plain = first and not set("=$`(){}/") & set(first) and first not in BUILT_IN
    return first if plain and shutil.which(first, path=path) is None else ""


async def _rehearsed(project: Project, config: Config, progress: Callable[[str], None]) -> list[Finding]:
    specs = check_specs(config, project.root)

    def hear(one: CheckProgress) -> None:
        progress(f"\t{one.check} {one.detail}".rstrip())

    async with open_rooms(project, config, hear) as rooms:
        try:
            await rooms.dependencies.rehearsed()
        except PerformError as failed:
            return [Finding(mark="bad", what="workspace.setup", found=str(failed), hint=failed.hint)]
        compared = await compare(rooms.rehearsal, [Candidate(check=spec) for spec in specs], progress, choose=False)
        empty = await asyncio.to_thread(rooms.workspace.empty_submodules)
        infos = await asyncio.to_thread(list_agents, project.root, project.env, project.home)
        agents = await start_on_trial(project, config, infos, rooms)
    findings = list(_checks(specs, compared, project.root))
    findings += [
        Finding(mark="bad", what="submodule", found=f"{name} was never fetched", hint="git submodule update --init")
        for name in empty
    ]
    return [*findings, *_unused(project, config, specs), *agents]


def _checks(specs: tuple[CheckSpec, ...], compared: Compared, root: Path) -> Iterator[Finding]:
    required = {spec.name: spec for spec in specs if spec.required}
    for one in compared.tried:
        if not one.differs:
            yield Finding(mark="ok", what=f"check {one.spec.name}", found=told(one))
    for left in compared.left_out:
        spec = required.get(left.name)
        hint = left.fix or (_unstartable(root / spec.folder, spec.command[0]) if spec else "")
        hint = hint or f'mend or remove [[checks.run]] "{left.name}" in {CONFIG}'
        yield Finding(mark="bad" if spec else "note", what=f"check {left.name}", found=left.reason, hint=hint)
    yield from compared.findings
    if not any(spec.kind is CheckKind.TESTS for spec in specs):
        hint = f'add [[checks.run]] with kind = "tests" to {CONFIG}, or `verify:` to the tasks'
        yield Finding(mark="note", what="checks", found="no check runs tests: little can be proven", hint=hint)


def _unstartable(folder: Path, program: str) -> str:
    """What mends a program of the project's own that is there and cannot be started."""
    path = folder / program
    if "/" not in program:
        return ""
    if path.is_symlink() and not path.exists():
        return f"{program} leads to {path.readlink()}, which is gone: make its environment anew"
    return f"chmod +x {program}   (and commit that)" if path.is_file() and not os.access(path, os.X_OK) else ""


def _unused(project: Project, config: Config, specs: tuple[CheckSpec, ...]) -> Iterator[Finding]:
    """What could be checked by now and is not: a tool installed since, a package added since."""
    if config.checks.preset != "none":
        return
    places = {(spec.kind, spec.folder) for spec in specs}
    known = {spec.name for spec in specs}
    known |= {words.partition(":")[0] for words in config.checks.left_out if "not installed" not in words}
    for candidate in survey(
        project.root, lambda name: shutil.which(name, path=project.env.get("PATH")), project.home
    ).candidates:
        known_place = (candidate.check.kind, candidate.check.folder) in places
        if not known_place and not {way.name for way in candidate.ways()} & known:
            found = f"{candidate.check.name} could be checked ({candidate.check.why})"
            yield Finding(mark="note", what="not checked", found=found, hint="devteam init --force")
