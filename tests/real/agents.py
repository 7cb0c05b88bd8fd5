"""The real agent CLIs: installed from npm into .cache/agents, and pointed at our own model server on loopback, in a
network that has nothing else.

Environment: only what a test gives, with a fresh HOME. A CLI that cannot be installed is reported, not passed.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.core.model import AgentResult, Role
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Adapter, AgentCall, Output
from tests.agents.fake_model_server import FakeModelServer, Script, Step

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
"""Not below /tmp: codex refuses to keep its helpers there."""
PACKAGES = {
    "claude": ("@anthropic-ai/claude-code@2.1.325", "claude"),
    "claude-old": ("@anthropic-ai/claude-code@2.1.197", "claude"),
    "codex": ("@openai/codex", "codex"),
    "gemini": ("@google/gemini-cli", "gemini"),
    "opencode": ("opencode-ai", "opencode"),
}
OVER_ACP = {
    "claude-agent-acp": ("@agentclientprotocol/claude-agent-acp", "claude-agent-acp"),
    "codex-acp": ("@agentclientprotocol/codex-acp", "codex-acp"),
    "qwen": ("@qwen-code/qwen-code", "qwen"),
}
"""Agents that speak the Agent Client Protocol only, or are known to us by it; opencode has its place above."""
PROBLEMS: dict[str, str] = {}
PATIENCE = 900
"""Seconds that npm may take for one of them: 8 to 47 on a loaded machine, 50 to 460 MB each."""


def place_of(name: str) -> Path:
    return CACHE / "agents" / name / "node_modules" / ".bin" / {**PACKAGES, **OVER_ACP}[name][1]


def install(name: str) -> None:
    """Install a CLI if it is not there yet; where that is impossible, the reason goes to PROBLEMS."""
    found = place_of(name)
    if found.exists():
        return
    package, npm = {**PACKAGES, **OVER_ACP}[name][0], shutil.which("npm")
    if npm is None:
        PROBLEMS[name] = f"{package} cannot be installed: there is no npm"
        return
    folder = CACHE / "agents" / name
    folder.mkdir(parents=True, exist_ok=True)
    line = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", package]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        PROBLEMS[name] = f"{package} did not arrive within {PATIENCE} s; once more, by hand: {shlex.join(line)}"
        shutil.rmtree(folder, ignore_errors=True)  # half of it is no CLI
        return
    if done.returncode or not found.exists():
        words = (done.stderr or done.stdout).strip().splitlines()
        PROBLEMS[name] = f"{package} cannot be installed: {words[-1] if words else 'npm failed without a word'}"


def program(name: str) -> str:
    """The installed program. Skips, with the reason, where it could not be installed."""
    if name in PROBLEMS:
        pytest.skip(PROBLEMS[name])
    assert place_of(name).exists(), f"{name} is installed when the tests are collected"
    return str(place_of(name))


@dataclass
class RealAgent:
    """A real CLI, its adapter, and the environment that points it at the model server."""

    name: str
    adapter: Adapter
    env: dict[str, str]
    model: str
    script: Callable[..., Script]
    spawner: ProcessSpawner
    place: Path
    outputs: list[Output] = field(default_factory=list)

    @property
    def clone(self) -> Path:
        return self.place / "clone"

    def call(self, prompt: str = "Write hello.txt.", **more: Any) -> AgentCall:
        base: dict[str, Any] = {
            "effect": f"real-{self.name}",
            "role": Role.IMPLEMENTER,
            "model": self.model,
            "prompt": prompt,
            "timeout": 90.0,
            "idle_timeout": 60.0,
            "checkout": self.place / "checkout",
            "clone": self.clone,
            "home": self.place / "home",
            "scratch": self.place / "scratch",
            "log": self.place / "logs" / "call.log",
            "env": self.env,
        }
        return AgentCall(**{**base, **more})

    async def run(self, prompt: str = "Write hello.txt.", **more: Any) -> AgentResult:
        return await self.adapter.call(self.call(prompt, **more), self.spawner, self.outputs.append)


def dialect_of(name: str, url: str) -> tuple[AgentConfig, dict[str, str], str]:
    """Configuration, environment and model that make a CLI talk to the model server."""
    match name:
        case "claude" | "claude-old":
            env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy-key-for-loopback"}
            return AgentConfig(program=program(name)), env, "sonnet"
        case "claude-agent-acp":
            env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy-key-for-loopback"}
            return AgentConfig(program=program(name)), env, "sonnet"
        case "codex-acp":
            provider = {"name": "fake", "base_url": f"{url}/v1", "env_key": "CODEX_API_KEY", "wire_api": "responses"}
            provider |= {"request_max_retries": 1, "stream_max_retries": 1}
            config = {"model_provider": "fake", "model_providers": {"fake": provider}}
            env = {"CODEX_API_KEY": "dummy-key-for-loopback", "CODEX_CONFIG": json.dumps(config)}
            return AgentConfig(program=program(name)), env, "gpt-5.5"
        case "qwen":
            env = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "dummy-key-for-loopback", "OPENAI_MODEL": "m1"}
            return AgentConfig(program=program(name), args=("--auth-type", "openai")), env, "m1"
        case "codex":
            provider = (
                f'model_providers.fake={{name="fake",base_url="{url}/v1",env_key="CODEX_API_KEY",'
                'wire_api="responses",request_max_retries=1,stream_max_retries=1}'
            )
            args = ("-c", 'model_provider="fake"', "-c", provider)
            return AgentConfig(program=program(name), args=args), {"CODEX_API_KEY": "dummy-key-for-loopback"}, "gpt-5.5"
        case "gemini":
            env = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "dummy-key-for-loopback"}
            return AgentConfig(program=program(name)), env, "gemini-2.5-pro"
        case "opencode":
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{url}/v1", "apiKey": "dummy-key-for-loopback"},
                "models": {
                    "m1": {
                        "name": "m1",
                        "cost": {"input": 3, "output": 15},
                        "limit": {"context": 2_000_000, "output": 8000},
                    }
                },
            }
            content = {
                "autoupdate": False,
                "share": "disabled",
                "provider": {"fake": provider},
                "model": "fake/m1",
                "small_model": "fake/m1",
            }
            env = {
                "OPENCODE_CONFIG_CONTENT": json.dumps(content),
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
            }
            return AgentConfig(program=program(name)), env, "fake/m1"
    raise AssertionError(name)


def build(name: str, place: Path, server: FakeModelServer, mode: Any) -> RealAgent:
    """One real CLI on an empty clone, in the given sandbox mode."""
    for folder in ("checkout", "clone", "home", "scratch", "logs", "user"):
        (place / folder).mkdir(parents=True)
    config, env, model = dialect_of(name, server.url(place.name))
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(place / "user"), "TERM": "dumb", "LANG": "C.UTF-8"}
    spawner = ProcessSpawner(mode, place.name, time.monotonic, home=place / "user", scratch=place / "scratch")

    def write_script(steps: list[Step], **more: Any) -> Script:
        return server.script(place.name, steps, **more)

    agent = "claude" if name == "claude-old" else name
    built = adapter(agent, config, clock=time.time)
    return RealAgent(name, built, {**base, **env}, model, write_script, spawner, place)
