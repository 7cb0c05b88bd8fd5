"""Where each program keeps its login. Files are looked for by name only: not opened here, never copied.

A credentials file is bound read-write, alone: programs refresh their tokens, and a copy or a read-only file would
log the user out when the provider rotates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.core.model import Struct
from engine.perform.agents.settings import AgentConfig
from engine.perform.contract import Mount


class Login(Struct, frozen=True, kw_only=True):
    """The names of one program's login: environment variables, files below HOME."""

    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extra_env: tuple[str, ...] = ()
    """No login by themselves, but part of one: endpoints, regions, projects."""


LOGINS = {
    "claude": Login(
        env=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
        files=(".claude/.credentials.json",),
        extra_env=(
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_CUSTOM_HEADERS",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "ANTHROPIC_VERTEX_PROJECT_ID",
            "CLOUD_ML_REGION",
            "AWS_REGION",
        ),
    ),
    "codex": Login(
        env=("CODEX_API_KEY", "OPENAI_API_KEY"),
        files=(".codex/auth.json",),
        extra_env=("OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
    ),
    "gemini": Login(
        env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        files=(".gemini/oauth_creds.json",),
        extra_env=(
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ),
    ),
    "opencode": Login(
        env=("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        files=(".local/share/opencode/auth.json",),
        extra_env=("OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG"),
    ),
    "qwen": Login(
        env=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
        files=(".qwen/oauth_creds.json",),
        extra_env=("OPENAI_BASE_URL", "OPENAI_MODEL"),
    ),
    "copilot": Login(
        env=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
        files=(".copilot/config.json",),
        extra_env=("COPILOT_PROVIDER_BASE_URL", "COPILOT_MODEL", "COPILOT_OFFLINE"),
    ),
}
LOGINS["claude-agent-acp"] = LOGINS["claude"]
LOGINS["codex-acp"] = LOGINS["codex"]


def login_of(agent: str, config: AgentConfig | None = None) -> Login:
    if config is None:
        return LOGINS.get(agent, Login())
    known = LOGINS.get(agent) or LOGINS.get(config.adapter, Login())
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
