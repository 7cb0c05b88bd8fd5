"""`devteam trust`: the commands a repository would have run here, and the user's word for them."""

from __future__ import annotations

from engine.clock import SystemClock
from engine.paths import make_state
from engine.perform.checks.trust import is_trusted, trust
from engine.service.local import Desk
from engine.settings import what_runs


def trusted_hash(desk: Desk) -> tuple[str, tuple[tuple[str, str], ...], bool]:
    """The hash of everything the repository would have run, the commands, and whether they are trusted."""
    wanted, commands = what_runs(desk.project, desk.project.config())
    return wanted, commands, not commands or is_trusted(desk.project.state.root, wanted)


def trust_commands(desk: Desk, wanted: str) -> None:
    make_state(desk.project.state)
    trust(desk.project.state.root, wanted, SystemClock().now())
