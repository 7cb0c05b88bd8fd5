"""Where each program keeps its login. Files are looked for by name only: not opened here, never copied.

A credentials file is bound read-write, alone: programs refresh their tokens, and a copy or a read-only file would
log the user out when the provider rotates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.agent_records import Login, record
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawning import Mount


def login_of(agent: str, config: AgentConfig | None = None) -> Login:
    of_agent = record(agent)
    if config is None:
        return of_agent.login if of_agent else Login()
    of_adapter = record(config.adapter) if config.adapter else None
    known = of_agent.login if of_agent else of_adapter.login if of_adapter else Login()
    return Login(env=known.env + config.login_env, files=known.files + config.login_files, extra_env=known.extra_env)


def login_mounts(
    agent: str, home: Path, env: Mapping[str, str], config: AgentConfig | None = None
) -> tuple[tuple[Mount, ...], tuple[str, ...]]:
    """The user's login for one agent: file mounts below `home` (the user's own), and names of variables to pass on.

    A variable wins over a file: a key in the environment needs no file in the sandbox.
    """
    login = login_of(agent, config)
    named = tuple(name for name in login.env if env.get(name))
    passed = (*named, *(name for name in login.extra_env if env.get(name)))
    if named:
        return (), passed
    found = (home / file for file in login.files)
    return tuple(Mount(source=path, dest=path, writable=True) for path in found if path.is_file()), passed
