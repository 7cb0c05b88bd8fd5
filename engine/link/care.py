"""Setting up and looking after a repository: init, plan, trust, doctor, agents."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine.clock import SystemClock
from engine.config import Config, ConfigRefused, to_policy
from engine.config.commented import write_default
from engine.config.looping import Ladder, RungConfig
from engine.config.working import Workspace
from engine.core.model import Rung, Struct
from engine.journal import EngineLock, Journal, JournalError, JournalMissing
from engine.link.errors import UserError, as_user_error
from engine.link.local import Desk, open_desk
from engine.paths import make_state
from engine.perform.agents.classify import login_hint
from engine.perform.agents.ladders import propose_ladder
from engine.perform.agents.registry import AgentInfo, survey
from engine.perform.agents.settings import AgentConfig
from engine.perform.checks.presets import detect
from engine.perform.checks.trust import is_trusted, trust
from engine.perform.probe import probe
from engine.perform.process import ProcessSpawner
from engine.perform.sandbox import SandboxMode
from engine.perform.workspace.environment import propose
from engine.perform.workspace.facts import Identity, WorkspaceError
from engine.perform.workspace.preflight import preflight
from engine.perform.workspace.repository import find
from engine.plans.registry import read_text
from engine.plans.sprints import SprintFolder, ensure_gitignore, new_sprint
from engine.settings import check_specs, what_runs


class Finding(Struct, frozen=True, kw_only=True):
    """One line of devteam doctor. mark: ok, note or bad."""

    mark: str
    what: str
    found: str
    hint: str = ""


def init_project(desk: Desk, *, force: bool, today: str) -> Iterator[str]:
    """Find the checks, agents and dependency folders; write the configuration; say what was found."""
    project = desk.project
    path = project.repo.config
    if path.exists() and not force:
        raise UserError(f"{path} is there already", "edit it, or write it anew with: devteam init --force")
    report = preflight(project.root, Identity(), project.home)
    if report.refusal:
        yield f"note: {report.refusal} → {report.command}"
    specs = detect(project.root)
    infos = list_agents(project.root, project.env, project.home)
    ladder = propose_ladder(infos)
    proposal = propose(find(project.root, Identity(), project.home), project.home)
    if path.exists():
        kept = path.with_name(f"config.toml.before-{today}")
        path.replace(kept)
        yield f"the old configuration is kept as {kept.name}"
    write_default(path, _detected(ladder, proposal.setup))
    ensure_gitignore(project.root)
    yield f"wrote {path.relative_to(project.root)}"
    for spec in specs:
        yield f"  check    {spec.name} ({spec.kind.value}): {shlex.join(spec.command)}"
    if not specs:
        yield "  checks   none found: add [[checks.run]] to the configuration; without a check no task can pass"
    for info in infos:
        if info.installed:
            seen = f"login seen: {info.login}" if info.login else "no login seen"
            yield f"  agent    {info.name} {info.version} ({seen})"
    if not ladder:
        yield "  agents   none found: install one (claude, codex, gemini …), or look around with: devteam demo"
    else:
        yield f"  ladder   {' → '.join(rung.name for rung in ladder)}"
    for name in proposal.copy:
        yield f"  ignored  {name}: name it in workspace.copy if the checks need it"
    for mount in proposal.mounts:
        yield f"  carried  {mount.source} (read-only beneath the clones)"
    yield "next: devteam trust, then devteam plan --from plan.md"


def _detected(ladder: tuple[Rung, ...], setup: str) -> Config:
    config = Config(workspace=Workspace(setup=setup))
    if not ladder:
        return config
    rungs = tuple(
        RungConfig(name=rung.name, agent=rung.agent, model=rung.model, reserve_usd=rung.reserve_usd) for rung in ladder
    )
    failures = (2,) * (len(rungs) - 1) + (3,)
    return replace(config, ladder=Ladder(rungs=rungs, failures=failures))


def plan_from(desk: Desk, path: Path, today: str) -> SprintFolder:
    text = read_text(path)
    return new_sprint(desk.root, text, path.name, today)


def trusted_hash(desk: Desk) -> tuple[str, tuple[tuple[str, str], ...], bool]:
    """The hash of everything the repository would have run, the commands, and whether they are trusted."""
    wanted, commands = what_runs(desk.project, desk.project.config())
    return wanted, commands, is_trusted(desk.project.state.root, wanted)


def trust_commands(desk: Desk, wanted: str) -> None:
    make_state(desk.project.state)
    trust(desk.project.state.root, wanted, SystemClock().now())


def list_agents(start: Path, env: Mapping[str, str], home: Path) -> list[AgentInfo]:
    """Every agent known or configured; nothing is spent for it."""
    agents: dict[str, AgentConfig] = {}
    rungs: tuple[Rung, ...] = ()
    try:
        config = open_desk(start, env, home).project.config()
        agents = {name: msgspec.convert(msgspec.to_builtins(one), AgentConfig) for name, one in config.agents.items()}
        rungs = to_policy(config).ladder.rungs
        agents = {**{rung.agent: AgentConfig() for rung in rungs}, **agents}
    except Exception as error:
        if as_user_error(error) is None:
            raise
    scratch = Path(os.path.realpath(env.get("TMPDIR", "/tmp")))  # noqa: S108
    spawner = ProcessSpawner("none", "survey", SystemClock().monotonic, home=home, scratch=scratch)
    return asyncio.run(survey(env, spawner, home=home, agents=agents, rungs=rungs))


def examine(start: Path, env: Mapping[str, str], home: Path) -> list[Finding]:
    """Everything that must be right for a run."""
    findings = [
        Finding(mark="ok", what="python", found=sys.version.split()[0]),
        _tool("git", env, "install git 2.30 or newer"),
    ]
    mode = _sandbox(env, home)
    lost = f" ({'; '.join(mode.lost)})" if mode.lost else ""
    mark = {"bwrap": "ok", "landlock": "note"}.get(mode.name, "bad")
    hint = "" if mark == "ok" else "install bubblewrap (Debian: apt-get install bubblewrap)"
    findings.append(Finding(mark=mark, what="sandbox", found=f"{mode.name}: {mode.detail}{lost}", hint=hint))
    findings += _agents(start, env, home)
    try:
        desk = open_desk(start, env, home)
        findings += _repository(desk)
    except Exception as error:
        told = as_user_error(error)
        if told is None:
            raise
        findings.append(Finding(mark="bad", what="repository", found=str(told), hint=told.hint))
    return findings


def _tool(name: str, env: Mapping[str, str], hint: str) -> Finding:
    path = shutil.which(name, path=env.get("PATH"))
    return Finding(mark="ok" if path else "bad", what=name, found=path or "missing", hint="" if path else hint)


def _sandbox(env: Mapping[str, str], home: Path) -> SandboxMode:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="devteam-doctor-") as scratch:
        return asyncio.run(probe("auto", scratch=Path(os.path.realpath(scratch)), home=home))


def _agents(start: Path, env: Mapping[str, str], home: Path) -> Iterator[Finding]:
    infos = list_agents(start, env, home)
    usable = [info for info in infos if info.usable()]
    for info in usable:
        own = info.adapter == "command"
        mark = "ok" if info.login or own else "note"
        hint = "" if info.login or own else login_hint(info.name)
        seen = f"login {info.login}" if info.login else ("your own command" if own else "no login seen")
        yield Finding(mark=mark, what=f"agent {info.name}", found=f"{info.version} {seen}".strip(), hint=hint)
    for info in infos:
        if info.rungs and not info.usable():
            hint = "install it, or change [ladder] in .devteam/config.toml"
            yield Finding(
                mark="bad",
                what=f"agent {info.name}",
                found=f"{info.problem}; rungs: {', '.join(info.rungs)}",
                hint=hint,
            )
    if not usable:
        yield Finding(
            mark="note",
            what="agents",
            found="none installed",
            hint="install claude, codex or gemini; devteam demo needs none",
        )


def _repository(desk: Desk) -> Iterator[Finding]:
    project = desk.project
    try:
        report = preflight(project.root, Identity(), project.home)
        yield Finding(
            mark="bad" if report.refusal else "ok",
            what="repository",
            found=report.refusal or f"{project.root}" + (f" ({', '.join(report.states)})" if report.states else ""),
            hint=report.command,
        )
    except WorkspaceError as error:
        yield Finding(mark="bad", what="repository", found=error.message, hint=error.hint)
    try:
        config = project.config()
    except ConfigRefused as refused:
        yield Finding(mark="bad", what="configuration", found=str(refused))
        yield from _journal(desk)
        return
    specs = check_specs(config, project.root)
    yield Finding(
        mark="ok" if specs else "bad",
        what="checks",
        found=", ".join(spec.name for spec in specs) or "none: no task could ever pass",
        hint="" if specs else "add [[checks.run]] to .devteam/config.toml",
    )
    wanted, _commands, known = trusted_hash(desk)
    yield Finding(
        mark="ok" if known else "note", what="trust", found=wanted[:16], hint="" if known else "devteam trust"
    )
    yield from _journal(desk)


def _journal(desk: Desk) -> Iterator[Finding]:
    project = desk.project
    holder = EngineLock.holder(project.state.lock)
    yield Finding(mark="ok", what="engine", found=holder.words() if holder else "not running")
    try:
        with Journal.open(
            project.repo.db, clock=SystemClock().now, backup_dir=project.backups, read_only=True
        ) as journal:
            yield Finding(mark="ok", what="journal", found=f"{journal.verify()} events, verified")
    except JournalMissing:
        yield Finding(mark="ok", what="journal", found="not begun")
    except JournalError as error:
        yield Finding(mark="bad", what="journal", found=str(error), hint=error.hint)
