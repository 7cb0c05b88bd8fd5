"""Every command a configuration would have run: what the user is shown before the repository is trusted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from engine.config.base import Command
from engine.config.sections import Config


def commands_of(config: Config) -> tuple[tuple[str, str], ...]:
    """Where it stands and the line itself, in the order of the file."""
    return tuple((where, line) for where, line in _commands(config) if line)


def _commands(config: Config) -> Iterator[tuple[str, str]]:
    yield "notify_command", config.notify_command
    yield "workspace.setup", config.workspace.setup
    yield "workspace.server", config.workspace.server
    yield "workspace.server_health", config.workspace.server_health
    for check in config.checks.run:
        yield f"checks.run {check.name}, build", _line(check.build)
        yield f"checks.run {check.name}", _line(check.command)
    for held in config.checks.held_out:
        yield f"checks.held_out {held.name}", _line(held.command)
    for name, agent in config.agents.items():
        yield f"agents.{name}", shlex.join((*([agent.program] if agent.program else []), *agent.argv, *agent.args))


def _line(command: Command) -> str:
    return command if isinstance(command, str) else shlex.join(command)
