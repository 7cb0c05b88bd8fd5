"""What the user may say of one agent: the `[agents.NAME]` table of .devteam/config.toml."""

from __future__ import annotations

from engine.core.model import Struct


class AgentConfig(Struct, frozen=True, kw_only=True):
    """One agent program."""

    adapter: str = ""
    """claude, codex, gemini, acp, command or scripted; empty: the adapter of the agent's own name."""
    program: str = ""
    """Path or name of the program, where it is not the agent's name; for `scripted`, the scenario file."""
    args: tuple[str, ...] = ()
    """Arguments added to every call."""
    env: dict[str, str] = {}
    """Variables added to every call."""
    allow: tuple[str, ...] = ()
    """Tools the agent may use without asking where there is no sandbox, in the agent's own words ("Bash")."""
    argv: tuple[str, ...] = ()
    """acp and command: the whole command line. Placeholders {prompt_file} {model} {cwd} {session}."""
    resume: tuple[str, ...] = ()
    """command: arguments added when a session is resumed, e.g. ["--session", "{session}"]."""
    output: str = "text"
    """command: text, or jsonl with `fields`."""
    fields: dict[str, str] = {}
    """command, jsonl: dotted paths by name: text, thinking, tool, path, session, model, cost, input_tokens,
    output_tokens, cache_read, cache_write, error, status; `done` is "path=value", the line that ends a good run."""
    sums: bool = False
    """command, jsonl: costs and tokens are per step and are to be added up, not totals."""
    modes: dict[str, str] = {}
    """acp: the agent's mode id for `write` and for `read`; unset: the ids known for the agent."""
    login_env: tuple[str, ...] = ()
    """Names of variables that hold a login of this agent; they are passed on."""
    login_files: tuple[str, ...] = ()
    """Login files below HOME, bound read-write into the agent's private HOME."""
