"""Settings of those who work and where: agents, clones, sandbox, identity."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.config.base import MoreThanZero, Name, Positive, Section, Words


class AgentConfig(Section, frozen=True, kw_only=True):
    """One agent program. claude, codex and gemini need no table unless you change something."""

    adapter: Literal["", "claude", "codex", "gemini", "acp", "command", "scripted"] = ""
    """How to talk to it; empty: as the agent's own name says. acp speaks the Agent Client Protocol, \
command runs any program."""
    program: str = ""
    """Path or name of the program, where it is not the agent's name."""
    args: Words = ()
    """Arguments added to every call."""
    env: dict[str, str] = {}
    """Variables added to every call. Never keys or passwords: name those in `login_env`."""
    allow: Words = ()
    """Tools it may use without asking where there is no sandbox, in its own words."""
    argv: Words = ()
    """acp, command: the whole command line. {prompt_file} {model} {cwd} {session} are filled in."""
    resume: Words = ()
    """command: arguments added when a session goes on, e.g. ["--session", "{session}"]."""
    output: Literal["text", "jsonl"] = "text"
    """command: what it prints."""
    fields: dict[str, str] = {}
    """command, jsonl: where in a line to find text, cost, session … as dotted paths."""
    sums: bool = False
    """command, jsonl: costs and tokens are per step and are to be added up."""
    modes: dict[str, str] = {}
    """acp: its mode for `write` and for `read`."""
    login_env: Words = ()
    """Names of variables that hold its login; they are passed on from your environment."""
    login_files: Words = ()
    """Login files below your home folder that it needs."""


class Workspace(Section, frozen=True, kw_only=True):
    """The clones in which agents and checks work."""

    setup: str = ""
    """Shell line run once in each new clone, e.g. "npm ci"."""
    server: str = ""
    """Shell line of a development server that runs beside the sprint, e.g. "npm run dev"; it ends with the run."""
    server_health: str = ""
    """Shell line that succeeds once the server is up, e.g. "curl -fsS localhost:3000". Without `server`, what \
`.devteam/init.sh` leaves in the background is the server."""
    server_seconds: MoreThanZero = 60.0
    """How long it may take to be up."""
    copy: Words = ()
    """Ignored files to copy into the clones, e.g. [".env.test"]. Nothing ignored is copied unless it is named here."""
    carry: Words = (".venv", "venv", "node_modules")
    """Ignored folders shown read-only at their place in the clones, where they exist."""
    mounts: Words = ()
    """Further paths of this machine shown read-only: absolute, or below ~."""
    keep_sprints: Annotated[int, Meta(ge=0)] = 10
    """Ended and landed sprints of which logs, homes, checkpoints, refs and evidence of every attempt are kept. A run \
removes those of older ones when it begins and says so (`devteam clean`); 0 keeps all."""
    max_file_bytes: Positive = 5_000_000
    """Largest new file an attempt may add."""
    max_total_bytes: Positive = 50_000_000
    """Most bytes one attempt may add or change."""
    max_files: Positive = 2_000
    """Most files one attempt may add."""
    commit_progress: bool | Literal["auto"] = "auto"
    """Commit the sprint's plan, report and learnings with each task, so that nothing is left over after landing. \
auto: if you have committed `.devteam/`."""


class Sandbox(Section, frozen=True, kw_only=True):
    """How agents and checks are kept in their clone."""

    mode: Literal["auto", "bwrap", "namespaces", "landlock", "none"] = "auto"
    """auto takes the strongest there is; a named one that is missing stops the start."""


class Identity(Section, frozen=True, kw_only=True):
    """Author of the commits on the sprint branch."""

    name: Name = "devteam"
    """Name."""
    email: Name = "devteam@localhost"
    """Address."""


class Scripted(Section, frozen=True, kw_only=True):
    """The scripted agent of the demo, the tests and drills."""

    scenario: str = ""
    """Path of the scenario file, relative to the repository."""
    speed: MoreThanZero = 1.0
    """Delays are divided by this."""
