"""Where and how an agent program is started: its HOME, its login, its confinement, the finished ProcessSpec.

Where the sandbox can mount, the private HOME is mounted over the user's own and the login file is bound into it, so the
program is isolated and may be given full permission: the sandbox is the fence. In weaker modes nothing can be mounted.
A program that has a variable for its configuration folder is then given the user's own, unless its login is in the
environment; every other one finds links to its login files in its private HOME, and what it saved over such a link goes
to the user's file (`placement.py`). The program's own restricted modes are the fence.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from engine.core.model import Struct
from engine.core.sandboxes import SandboxName
from engine.perform.agents.login import login_mounts
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawning import AgentCall, Confinement, Mount, ProcessSpec

MAX_LINE = 16_000_000
"""A tool result or a final answer of many MB is still one line of JSON."""
MAX_TOTAL = 512_000_000
TOLD = ("claude", "codex", "gemini")
"""Adapters that tell their program where its configuration folder is."""


class Place(Struct, frozen=True, kw_only=True):
    """Where one call runs."""

    home: Path
    """HOME as the program sees it."""
    host_home: Path
    """The same folder as the engine sees it."""
    config: Path
    """Parent of the program's configuration folder as the program sees it: HOME, or the user's own."""
    host_config: Path
    private: bool
    fenced: bool
    """A sandbox holds the program: full permission inside."""
    mounts: tuple[Mount, ...] = ()


def place(call: AgentCall, mode: SandboxName, agent: str, config: AgentConfig) -> Place:
    fenced = mode.mounts
    user_home = Path(call.env.get("HOME") or call.home)
    mounts, _ = login_mounts(agent, user_home, call.env, config)
    if fenced:
        return Place(
            home=user_home,
            host_home=call.home,
            config=user_home,
            host_config=call.home,
            private=True,
            fenced=True,
            mounts=mounts,
        )
    if (config.adapter or agent) not in TOLD:
        return Place(
            home=call.home,
            host_home=call.home,
            config=call.home,
            host_config=call.home,
            private=True,
            fenced=False,
            mounts=mounts,
        )
    own = bool(mounts)
    folder = user_home if own else call.home
    folders = {mount.source.parent for mount in mounts} if own else set()
    return Place(
        home=call.home,
        host_home=call.home,
        config=folder,
        host_config=folder,
        private=not own,
        fenced=False,
        mounts=tuple(Mount(source=path, dest=path, writable=True) for path in sorted(folders)),
    )


def program(config: AgentConfig, agent: str, env: Mapping[str, str]) -> str:
    """The program's path by the call's own PATH; its bare name where it is not there (the spawner then says so)."""
    wanted = config.program or agent
    return shutil.which(wanted, path=env.get("PATH", "")) or wanted


def spec(
    call: AgentCall,
    where: Place,
    config: AgentConfig,
    argv: tuple[str, ...],
    env: Mapping[str, str],
    *,
    stdin: bytes | None,
    keep_stdin: bool = False,
    graceful: bool = True,
) -> ProcessSpec:
    """The process of one call. For read-only roles the clone is mounted read-only: no prompt has to forbid writing."""
    complete = {**call.env, **env, **config.env, "HOME": str(where.home)}
    return ProcessSpec(
        argv=argv,
        cwd=call.checkout,
        env=complete,
        stdin=stdin,
        timeout=call.timeout,
        longest=call.longest,
        idle_timeout=call.idle_timeout,
        max_line=MAX_LINE,
        max_total=MAX_TOTAL,
        graceful=graceful,
        keep_stdin=keep_stdin,
        confine=Confinement(
            checkout=call.checkout,
            clone=call.clone,
            writable=not call.read_only,
            network=True,
            home=where.host_home,
            mounts=(*where.mounts, *call.mounts),
            hide=call.hide,
        ),
    )
