"""The programs that devteam can be inside of, one record each: where their settings lie, which hooks they take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.core.model import Struct

STOP_SECONDS = 7200
"""A stop hook runs the checks, and the reviewer where there is one."""
GUARD_SECONDS = 30


class Hook(Struct, frozen=True, kw_only=True):
    """One hook of ours: `devteam hook VERB`."""

    event: str
    verb: str
    seconds: int
    matcher: str = ""

    def entry(self, command: str) -> dict[str, Any]:
        inner = {"type": "command", "command": command, "timeout": self.seconds}
        return {**({"matcher": self.matcher} if self.matcher else {}), "hooks": [inner]}


class Skill(Struct, frozen=True, kw_only=True):
    """A file of words for the agent: its template, and its place below the settings folder."""

    template: str
    place: str


class Host(Struct, frozen=True, kw_only=True):
    """One program. Its settings folder is below HOME or the repository, by the same name."""

    name: str
    folder: str
    file: str
    """In the folder; its hooks are the member `hooks`."""
    home_variable: str
    """Names the user's settings folder where that is not ~/`folder`."""
    guarded: tuple[str, ...]
    """What of the folder a session may not write while devteam drives it: the hooks, and who runs them."""
    asks: bool
    """Its PreToolUse hook may put a call to the user; else what would be asked is refused."""
    skills: tuple[Skill, ...]
    note: str = ""
    """What the user has to do besides."""

    def user_folder(self, env: Mapping[str, str], home: Path) -> Path:
        named = env.get(self.home_variable, "")
        return Path(named) if named else home / self.folder


HOOKS = (
    Hook(event="Stop", verb="stop", seconds=STOP_SECONDS),
    Hook(event="PreToolUse", verb="guard", seconds=GUARD_SECONDS),
)

_COMMANDS = ("implement", "plan", "status", "answer")

CLAUDE = Host(
    name="claude",
    folder=".claude",
    file="settings.json",
    home_variable="CLAUDE_CONFIG_DIR",
    guarded=("settings*.json", "hooks/**"),
    asks=True,
    skills=(
        *(Skill(template=f"{name}.md.j2", place=f"commands/devteam/{name}.md") for name in _COMMANDS),
        Skill(template="autonomous-mode.md.j2", place="skills/devteam-autonomous-mode/SKILL.md"),
    ),
)
CODEX = Host(
    name="codex",
    folder=".codex",
    file="hooks.json",
    home_variable="CODEX_HOME",
    guarded=("hooks.json", "config.toml"),
    asks=False,
    skills=(
        *(Skill(template=f"{name}.md.j2", place=f"skills/devteam-{name}/SKILL.md") for name in _COMMANDS),
        Skill(template="autonomous-mode.md.j2", place="skills/devteam-autonomous-mode/SKILL.md"),
    ),
    note="codex asks once whether it may run these hooks; a project's are read only in a project that codex trusts",
)
HOSTS = {host.name: host for host in (CLAUDE, CODEX)}
