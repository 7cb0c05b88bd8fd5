"""`devteam doctor`: everything that must be right for a run."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine import agent_records, plugins
from engine.clock import SystemClock
from engine.config import ConfigRefused
from engine.core.clean import clean_line
from engine.journal import EngineLock, Journal, JournalError, JournalMissing
from engine.journal.mark import read_mark
from engine.link.user_errors import as_user_error
from engine.perform.agents.classify import login_hint
from engine.perform.checks.presets import registry as preset_registry
from engine.perform.process.probe import probe
from engine.perform.process.sandbox import SandboxMode
from engine.perform.workspace.facts import Identity, WorkspaceError
from engine.perform.workspace.inotify import most_watches
from engine.perform.workspace.preflight import preflight
from engine.plans import registry as plan_registry
from engine.plans.plan_format import PlanFormat
from engine.service.agent_survey import list_agents
from engine.service.findings import Finding, Mark
from engine.service.local import Desk, open_desk
from engine.service.trust import trusted_hash
from engine.settings import check_specs

GROUPS: dict[str, type[object]] = {
    agent_records.GROUP: agent_records.AgentRecord,
    plan_registry.GROUP: PlanFormat,
    preset_registry.GROUP: preset_registry.Preset,
}
"""The entry points of third parties, and what each must name."""


def examine(start: Path, env: Mapping[str, str], home: Path) -> list[Finding]:
    """Everything that must be right for a run, as far as it can be seen without running the checks."""
    findings = [
        Finding(mark="ok", what="python", found=sys.version.split()[0]),
        _tool("git", env, "install git 2.30 or newer"),
    ]
    mode = _sandbox(env, home)
    lost = f" ({'; '.join(mode.lost)})" if mode.lost else ""
    mark: Mark = "ok" if mode.name in ("bwrap", "namespaces") else "note" if mode.name == "landlock" else "bad"
    hint = "" if mark == "ok" else "install bubblewrap (Debian: apt-get install bubblewrap)"
    findings.append(Finding(mark=mark, what="sandbox", found=f"{mode.name}: {mode.detail}{lost}", hint=hint))
    findings += _agents(start, env, home)
    findings += _plugins()
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
        mark: Mark = "ok" if info.login or own else "note"
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


def _plugins() -> Iterator[Finding]:
    """What third parties added, and what could not be loaded."""
    for group, kind in GROUPS.items():
        for plugin in plugins.installed(group, kind):
            found = plugin.problem or f"from {plugin.package}"
            hint = f"pip install --upgrade {plugin.package}, or uninstall it" if plugin.problem else ""
            yield Finding(
                mark="note" if plugin.problem else "ok",
                what=f"plug-in {plugin.name}",
                found=clean_line(found),
                hint=hint,
            )


def _repository(desk: Desk) -> Iterator[Finding]:
    project = desk.project
    try:
        report = preflight(project.root, Identity(), project.home)
        found = report.refusal or f"{project.root}" + (f" ({', '.join(report.states)})" if report.states else "")
        if "unborn" in report.states:
            found += f": {report.notes[report.states.index('unborn')]}"
        mark: Mark = "bad" if report.refusal else "ok"
        yield Finding(mark=mark, what="repository", found=found, hint=report.command)
        yield from _watches(report.files)
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
    for words in config.checks.left_out:
        yield Finding(mark="note", what="left out", found=words)
    wanted, _commands, known = trusted_hash(desk)
    yield Finding(
        mark="ok" if known else "note", what="trust", found=wanted[:16], hint="" if known else "devteam trust"
    )
    yield from _journal(desk)


def _watches(files: int) -> Iterator[Finding]:
    """A lane and a room are followed file by file; beyond what the kernel gives, each iteration looks through all."""
    most, needed = most_watches(), 2 * files
    if 0 < most < needed:
        enough = -(-2 * needed // 100_000) * 100_000
        yield Finding(
            mark="note",
            what="watches",
            found=f"{files:,} files are more than {most:,} watches can follow: an iteration costs a multiple",
            hint=f"sudo sysctl fs.inotify.max_user_watches={enough}",
        )


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
        if (known := read_mark(project.repo.db)) is None:
            yield Finding(mark="ok", what="journal", found="not begun")
        else:
            hint = f"put {project.repo.db} back; devteam run restores it from its backup where there is one"
            yield Finding(mark="bad", what="journal", found=f"gone; it had {known.seq} events", hint=hint)
    except JournalError as error:
        yield Finding(mark="bad", what="journal", found=str(error), hint=error.hint)
