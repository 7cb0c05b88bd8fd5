"""How each program is started: full permission only inside the sandbox, restricted by its own means elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.model import Role
from engine.core.sandboxes import SandboxName
from engine.perform.agents.launch import place
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawning import ProcessSpec
from tests.agents.conftest import NOW, MakeCall

KEYS = {"ANTHROPIC_API_KEY": "k", "CODEX_API_KEY": "k", "GEMINI_API_KEY": "k"}


def spec_of(agent: str, mode: str, make_call: MakeCall, config: AgentConfig | None = None, **more: Any) -> ProcessSpec:
    call = make_call("THE PROMPT", **more)
    call = make_call("THE PROMPT", env={**call.env, **KEYS}, **more)
    made: Any = adapter(agent, config or AgentConfig(), clock=lambda: NOW)
    spec = made.spec(call, place(call, SandboxName(mode), agent, made.config))
    assert isinstance(spec, ProcessSpec)
    return spec


FULL = {
    "claude": ("--permission-mode", "bypassPermissions"),
    "codex": ("--dangerously-bypass-approvals-and-sandbox",),
    "gemini": ("--yolo",),
}


def has(spec: ProcessSpec, words: tuple[str, ...]) -> bool:
    line = spec.argv
    return any(line[i : i + len(words)] == words for i in range(len(line)))


@pytest.mark.parametrize("agent", FULL)
@pytest.mark.parametrize("read_only", [False, True])
def test_full_permission_only_inside_the_sandbox(agent: str, read_only: bool, make_call: MakeCall) -> None:
    fenced = spec_of(agent, "bwrap", make_call, read_only=read_only)
    assert has(fenced, FULL[agent])
    assert fenced.confine is not None
    assert fenced.confine.writable is not read_only
    for weak in (SandboxName.LANDLOCK, SandboxName.NONE):
        spec = spec_of(agent, weak, make_call, read_only=read_only)
        assert not has(spec, FULL[agent])
        assert spec.confine is not None
        assert spec.confine.writable is not read_only


@pytest.mark.parametrize(
    ("agent", "read_only", "words"),
    [
        pytest.param(
            "claude", True, ("--disallowedTools", "Write,Edit,MultiEdit,NotebookEdit,Bash"), id="claude reads"
        ),
        pytest.param("claude", False, ("--permission-mode", "acceptEdits"), id="claude writes"),
        pytest.param("codex", True, ("-c", 'sandbox_mode="read-only"'), id="codex reads"),
        pytest.param("codex", False, ("-c", 'sandbox_mode="workspace-write"'), id="codex writes"),
        pytest.param("gemini", True, ("--approval-mode", "default"), id="gemini reads"),
        pytest.param("gemini", False, ("--approval-mode", "auto_edit"), id="gemini writes"),
    ],
)
def test_own_restrictions_where_there_is_no_sandbox(
    agent: str, read_only: bool, words: tuple[str, ...], make_call: MakeCall
) -> None:
    assert has(spec_of(agent, "none", make_call, read_only=read_only), words)


def test_a_reader_has_no_writing_tools_and_hears_no_project_settings(make_call: MakeCall) -> None:
    spec = spec_of("claude", "bwrap", make_call, read_only=True)
    assert has(spec, ("--disallowedTools", "Write,Edit,MultiEdit,NotebookEdit"))
    assert has(spec, ("--setting-sources", "user"))


@pytest.mark.parametrize("agent", FULL)
def test_the_prompt_goes_in_by_stdin(agent: str, make_call: MakeCall) -> None:
    spec = spec_of(agent, "bwrap", make_call)
    assert spec.stdin == b"THE PROMPT"
    assert not any("THE PROMPT" in word for word in spec.argv)
    assert not any(key in word for word in spec.argv for key in KEYS.values() if len(key) > 3)


@pytest.mark.parametrize("agent", FULL)
def test_the_configuration_is_private(agent: str, make_call: MakeCall, tmp_path: Path) -> None:
    spec = spec_of(agent, "bwrap", make_call)
    assert spec.confine is not None
    assert spec.confine.home == tmp_path / "home"
    named = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME"}[agent]
    assert spec.env[named].startswith(spec.env["HOME"])
    assert spec.env["HOME"] == str(tmp_path / "user-home")  # mounted over it


def test_caps_model_session_and_schema_are_given(make_call: MakeCall) -> None:
    more: dict[str, Any] = {
        "session": "s1",
        "max_turns": 4,
        "max_usd": 1.5,
        "schema": {"type": "object"},
        "role": Role.REVIEWER,
    }
    claude = spec_of("claude", "bwrap", make_call, **more)
    assert has(claude, ("--model", "m1"))
    assert has(claude, ("--resume", "s1"))
    assert has(claude, ("--max-turns", "4"))
    assert has(claude, ("--max-budget-usd", "1.5000"))
    assert has(claude, ("--json-schema", '{"type": "object"}'))
    assert (claude.env["CLAUDE_CODE_MAX_RETRIES"], claude.env["IS_SANDBOX"]) == ("2", "1")
    codex = spec_of("codex", "bwrap", make_call, **more)
    assert codex.argv[1:3] == ("exec", "resume")
    assert codex.argv[-2:] == ("s1", "-")
    assert has(codex, ("-m", "m1"))
    schema = Path(codex.argv[codex.argv.index("--output-schema") + 1])
    assert schema.parent == Path(codex.env["HOME"])
    gemini = spec_of("gemini", "bwrap", make_call, **more)
    assert has(gemini, ("--resume", "s1"))
    assert not gemini.graceful
    written = make_call().home / ".gemini" / "settings.json"
    settings = json.loads(written.read_text())
    assert settings["general"]["maxAttempts"] == 2
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"


def test_what_the_user_allows_is_passed_on(make_call: MakeCall) -> None:
    claude = spec_of("claude", "none", make_call, AgentConfig(allow=("Bash", "WebFetch")))
    assert has(claude, ("--allowedTools", "Bash,WebFetch"))
    gemini = spec_of("gemini", "none", make_call, AgentConfig(allow=("run_shell_command",)))
    assert has(gemini, ("--allowed-tools", "run_shell_command"))
    assert not has(spec_of("claude", "bwrap", make_call, AgentConfig(allow=("Bash",))), ("--allowedTools", "Bash"))
