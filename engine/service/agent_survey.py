"""`devteam agents`: what is installed and configured on this machine; nothing is spent for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.clock import SystemClock
from engine.config import to_policy
from engine.core.model import Rung
from engine.link.user_errors import as_user_error
from engine.perform.agents.registry import AgentInfo, survey
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawner import ProcessSpawner
from engine.service.local import open_desk


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
