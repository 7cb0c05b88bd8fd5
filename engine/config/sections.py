"""The whole of .devteam/config.toml, section by section.

Each section is a frozen struct with a docstring under each field; docs/config.md and the comments of a new config.toml
are made from them.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.config.base import Hours, Section
from engine.config.check_settings import Checks
from engine.config.looping import (
    Baselines,
    Budget,
    Checkpoints,
    CircuitBreaker,
    ErrorRecovery,
    Gates,
    Ladder,
    Limits,
    Monitor,
    Rollback,
    TaskLoop,
    Timeouts,
)
from engine.config.working import AgentConfig, Identity, Sandbox, Scripted, Workspace


class Config(Section, frozen=True, kw_only=True):
    """Settings outside any table; they come first in the file."""

    lanes: Annotated[int, Meta(ge=1, le=16)] = 1
    """Tasks worked on at the same time."""
    auto_land: bool = False
    """Bring the finished sprint onto your branch by itself, if your files have not changed."""
    notify_command: str = ""
    """Shell line run when you are needed, e.g. 'notify-send devteam "$DEVTEAM_MESSAGE"'; JSON on stdin (notify.md)."""
    quiet_hours: Hours = ""
    """No notifications then, by your clock, e.g. "22:00-07:00"; what came is told together when they are over."""
    theme: str = ""
    """Theme of the dashboard; empty: the default."""
    keys: dict[str, str] = {}
    """Keys of the dashboard by action, e.g. pause = "p"."""
    task_loop: TaskLoop = TaskLoop()
    ladder: Ladder = Ladder()
    budget: Budget = Budget()
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    gates: Gates = Gates()
    monitor: Monitor = Monitor()
    error_recovery: ErrorRecovery = ErrorRecovery()
    circuit_breaker: CircuitBreaker = CircuitBreaker()
    rollback: Rollback = Rollback()
    checkpoints: Checkpoints = Checkpoints()
    baselines: Baselines = Baselines()
    checks: Checks = Checks()
    agents: dict[str, AgentConfig] = {}
    """Agent programs by name."""
    workspace: Workspace = Workspace()
    sandbox: Sandbox = Sandbox()
    identity: Identity = Identity()
    scripted: Scripted = Scripted()
