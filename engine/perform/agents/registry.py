"""Finding an adapter by name, and what `devteam agents` and `devteam init` ask: what is installed, what could be used.

Adapters are imported when they are asked for; listing agents costs one `--version` each and never a request.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from engine.agent_records import TEMPLATES, record, records
from engine.core.model import Rung, Struct
from engine.perform.agents.login import login_of
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock
from engine.perform.process.environment import scrubbed
from engine.perform.process.spawning import Adapter, ProcessSpec, Spawner

_VERSION_SECONDS = 10.0
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


class UnknownAgentError(Exception):
    """No adapter for this name; the words go to the user."""


def adapter_kind(name: str, config: AgentConfig) -> str:
    """Which adapter drives the agent: configured, its own, acp for the agents known to speak it, command by argv."""
    if config.adapter:
        return config.adapter
    if known := record(name):
        return "acp" if known.acp else name
    return "command" if config.argv else ""


def adapter(name: str, config: AgentConfig, *, clock: Clock) -> Adapter:
    """The adapter of one agent."""
    kind = adapter_kind(name, config)
    known = record(kind)
    where = TEMPLATES.get(kind) or (known.adapter if known else "")
    if not where:
        raise UnknownAgentError(
            f"agent {name!r} has no adapter: use one of {', '.join(looked_for())}, or give it `argv` (any command) or "
            f'`adapter = "acp"` under [agents.{name}] in .devteam/config.toml'
        )
    module, _, attribute = where.partition(":")
    return cast(Adapter, getattr(import_module(module), attribute)(name, config, clock))


def looked_for() -> tuple[str, ...]:
    """Agents `devteam agents` looks for without being told."""
    return tuple(one.name for one in records().values() if one.looked_for)


class AgentInfo(Struct, frozen=True, kw_only=True):
    """One agent as `devteam agents` shows it."""

    name: str
    adapter: str
    installed: bool
    program: str = ""
    version: str = ""
    login: str = ""
    """Where a login was seen ("ANTHROPIC_API_KEY", "~/.claude/.credentials.json"), by name only; empty: none seen."""
    rungs: tuple[str, ...] = ()
    """Names of the ladder's rungs that use it."""
    problem: str = ""

    def usable(self) -> bool:
        return self.installed and not self.problem


async def survey(
    env: Mapping[str, str],
    spawner: Spawner,
    *,
    home: Path,
    agents: Mapping[str, AgentConfig] | None = None,
    rungs: tuple[Rung, ...] = (),
) -> list[AgentInfo]:
    """Every known and every configured agent, installed ones first. Nothing is spent: versions and file names only.

    `env` is the user's own, for the names of logins in it; the programs see none of them.
    """
    configured = dict(agents or {})
    names = dict.fromkeys((*configured, *looked_for()))
    infos = await asyncio.gather(
        *(_look(name, configured.get(name, AgentConfig()), env, spawner, home, rungs) for name in names)
    )
    return sorted(infos, key=lambda info: not info.installed)


async def _look(
    name: str, config: AgentConfig, env: Mapping[str, str], spawner: Spawner, home: Path, rungs: tuple[Rung, ...]
) -> AgentInfo:
    kind = adapter_kind(name, config)
    used = tuple(rung.name for rung in rungs if rung.agent == name)
    if kind == "scripted":
        return AgentInfo(name=name, adapter=kind, installed=True, login="needs none", rungs=used)
    wanted = config.program or (config.argv[0] if config.argv else name)
    program = shutil.which(wanted, path=env.get("PATH", "")) or ""
    login = _login(name, config, env, home)
    if not program:
        known = record(name)
        missing = f"{wanted} is not on PATH" + (f" → {known.install}" if known and known.install else "")
        return AgentInfo(name=name, adapter=kind, installed=False, login=login, rungs=used, problem=missing)
    version, problem = "", ""
    if kind != "command":
        version, problem = await _version(program, scrubbed(env), spawner, home)
    return AgentInfo(
        name=name,
        adapter=kind,
        installed=True,
        program=program,
        version=version,
        login=login,
        rungs=used,
        problem=problem,
    )


async def _version(program: str, env: Mapping[str, str], spawner: Spawner, home: Path) -> tuple[str, str]:
    spec = ProcessSpec(
        argv=(program, "--version"), cwd=home, env=dict(env), timeout=_VERSION_SECONDS, max_total=100_000
    )
    finished = await spawner.run(spec)
    if found := _VERSION.search(finished.stdout.decode("utf-8", "replace")):
        return found.group(), ""
    if finished.reason != "exited":
        return "", f"`{program} --version` did not end by itself ({finished.reason})"
    words = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return "", f"`{program} --version` failed: {words[-1] if words else f'exit code {finished.exit_code}'}"


def _login(name: str, config: AgentConfig, env: Mapping[str, str], home: Path) -> str:
    login = login_of(name, config)
    for variable in login.env:
        if env.get(variable):
            return variable
    return next((f"~/{file}" for file in login.files if (home / file).is_file()), "")
