"""Agents, started on trial in the sandbox without the network: nothing can be spent, and what is hidden there shows.

A program of our own adapters is asked for its version. A command of the user's is not run: whether its program, its
interpreter and the files it names are visible inside is looked at from inside.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.config import Config, to_policy
from engine.core.clean import clean_line
from engine.perform.agents.classify import login_hint
from engine.perform.agents.login import login_mounts
from engine.perform.agents.registry import AgentInfo, adapter_kind
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.environment import scrubbed
from engine.perform.process.spawning import Confinement, ProcessSpec
from engine.project import Project
from engine.service.findings import Finding
from engine.service.rehearsing import Rooms

SECONDS = 30.0
LOOK = 'for file; do [ -e "$file" ] || command -v -- "$file" >/dev/null 2>&1 || echo "$file"; done'


async def start_on_trial(project: Project, config: Config, infos: list[AgentInfo], rooms: Rooms) -> list[Finding]:
    """One finding for each agent of the ladder that would not work in its sandbox, with the cure."""
    configs = {name: msgspec.convert(msgspec.to_builtins(one), AgentConfig) for name, one in config.agents.items()}
    wanted = list(dict.fromkeys(rung.agent for rung in to_policy(config).ladder.rungs))
    known = {info.name: info for info in infos}
    findings: list[Finding] = []
    for name in wanted:
        own = configs.get(name, AgentConfig())
        kind = adapter_kind(name, own)
        if kind == "scripted":
            continue
        info = known.get(name)
        if info is None or not info.installed:
            hint = f"install {name}, or take it out of [ladder] in .devteam/config.toml"
            program = own.program or (own.argv[0] if own.argv else name)
            findings.append(Finding(mark="bad", what=f"agent {name}", found=f"{program} is not on PATH", hint=hint))
            continue
        hidden = await _hidden(project, name, own, info.program, rooms)
        if hidden:
            findings.append(_says_hidden(name, own, hidden, project))
        elif kind != "command" and (said := await _version(project, name, own, info.program, rooms)):
            hint = f"try it yourself: {info.program} --version; the sandbox shows no HOME but its login file"
            findings.append(Finding(mark="bad", what=f"agent {name}", found=said, hint=hint))
        elif kind != "command" and not info.login:
            findings.append(Finding(mark="note", what=f"agent {name}", found="no login seen", hint=login_hint(name)))
    return findings


async def _hidden(project: Project, name: str, own: AgentConfig, program: str, rooms: Rooms) -> list[str]:
    """Files the command needs that are there for us and not inside."""
    needed = [program, *_interpreter(Path(program), project.env.get("PATH", os.defpath))]
    needed += [word for word in own.argv[1:] if "/" in word and "{" not in word and _path(word, project).is_file()]
    spec = _spec(project, name, own, rooms, ("/bin/sh", "-c", LOOK, "sh", *dict.fromkeys(needed)))
    finished = await rooms.spawner.run(spec)
    return finished.stdout.decode("utf-8", "replace").splitlines() if finished.reason == "exited" else []


def _path(word: str, project: Project) -> Path:
    return project.root / word


def _interpreter(program: Path, path: str) -> Iterator[str]:
    """What `#!` names, as far as it is there at all; a name that is not is a broken script and said as hidden."""
    try:
        with program.open("rb") as file:
            first = file.readline(400)
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    words = first[2:].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        yield from (shutil.which(word, path=path) or word for word in named[:1])
    elif words:
        yield words[0]


def _says_hidden(name: str, own: AgentConfig, hidden: list[str], project: Project) -> Finding:
    first = hidden[0]
    path = _path(first, project)
    what = f"agent {name}"
    if not path.exists() and shutil.which(first) is None:
        hint = f"install {Path(first).name}, or mend the first line of {own.program or (own.argv or (name,))[0]}"
        return Finding(mark="bad", what=what, found=f"its interpreter {first} is missing", hint=hint)
    if path.is_relative_to(project.root):
        relative = path.relative_to(project.root)
        hint = f'git add {relative}, or: workspace.copy = ["{relative}"]'
        return Finding(mark="bad", what=what, found=f"{relative} is not in the clones: it is ignored", hint=hint)
    folder = path.parent
    shown = f"~/{folder.relative_to(project.home)}" if folder.is_relative_to(project.home) else str(folder)
    hint = f'workspace.mounts = ["{shown}"]   in .devteam/config.toml'
    return Finding(mark="bad", what=what, found=f"the sandbox hides {first}", hint=hint)


async def _version(project: Project, name: str, own: AgentConfig, program: str, rooms: Rooms) -> str:
    """Empty when it starts inside; else what it said."""
    finished = await rooms.spawner.run(_spec(project, name, own, rooms, (program, "--version")))
    if finished.reason == "exited" and finished.exit_code == 0:
        return ""
    words = (finished.stderr + finished.stdout).decode("utf-8", "replace").strip().splitlines()
    said = clean_line(words[-1]) if words else finished.error or f"{finished.reason}, exit code {finished.exit_code}"
    return f"does not start in the sandbox: {said[:200]}"


def _spec(project: Project, name: str, own: AgentConfig, rooms: Rooms, argv: tuple[str, ...]) -> ProcessSpec:
    home = rooms.workspace.store.folder("homes", "trial")
    mounts, names = login_mounts(name, project.home, project.env, own)
    clone = rooms.scratch / "as-clone"
    clone.mkdir(exist_ok=True, mode=0o700)
    confine = Confinement(
        checkout=rooms.workspace.checkout,
        clone=clone,
        network=False,
        home=home,
        mounts=(*mounts, *rooms.workspace.mounts),
        hide=rooms.hide,
    )
    env = {**scrubbed(project.env, names), **own.env}
    if argv[0] == "/bin/sh":  # looking for a program that is not started: it is shown as it will be when it is
        env["PATH"] = f"{env.get('PATH', os.defpath)}{os.pathsep}{Path(argv[4]).parent}"
    return ProcessSpec(argv=argv, cwd=rooms.workspace.checkout, env=env, timeout=SECONDS, confine=confine)
