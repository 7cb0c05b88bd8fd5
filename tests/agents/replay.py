"""Feeding recorded streams to the parsers, and where the recordings are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.core.model import AgentResult, Role
from engine.perform.agents.acp_stream import AcpStream
from engine.perform.agents.claude_stream import ClaudeStream
from engine.perform.agents.codex_stream import CodexStream
from engine.perform.agents.command_stream import FieldStream
from engine.perform.agents.gemini_stream import GeminiStream
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Stream
from engine.perform.process.spawning import AgentCall, Finished, Output

NOW = 1794850000.0
FIXTURES = Path(__file__).parent / "fixtures"
OPENCODE = AgentConfig(
    output="jsonl",
    sums=True,
    fields={
        "text": "part.text",
        "session": "sessionID",
        "cost": "part.cost",
        "input_tokens": "part.tokens.input",
        "output_tokens": "part.tokens.output",
        "cache_read": "part.tokens.cache.read",
        "error": "error.data.message",
        "status": "error.data.statusCode",
        "done": "part.reason=stop",
    },
)
"""`opencode run --format json` behind the command adapter: a template for the long tail."""


def handbook() -> Path | None:
    """The recorded transcripts that lie beside the repository, where they do."""
    root = Path(__file__).resolve().parents[2]
    for place in (root.parent / "shared", root.parent.parent / "shared"):
        if (found := place / "handbook" / "transcripts").is_dir():
            return found
    return None


def stream_for(agent: str, program: str = "acp", **more: Any) -> Stream:
    base: dict[str, Any] = {"effect": "e", "role": Role.IMPLEMENTER, "model": "m1", "prompt": ""}
    call = AgentCall(**{**base, **more})

    def clock() -> float:
        return NOW

    match agent:
        case "claude" | "qwen":
            return ClaudeStream(call, clock)
        case "codex":
            return CodexStream(call, clock)
        case "gemini":
            return GeminiStream(call, clock)
        case "opencode":
            return FieldStream(call, clock, "opencode", OPENCODE)
        case "acp":
            made = AcpStream(call, clock, agent="acp", program=program, fenced=False)
            made.asked = True
            return made
    raise AssertionError(agent)


def replay(
    agent: str, stdout: bytes, stderr: bytes = b"", exit_code: int | None = 0, reason: str = "exited", **more: Any
) -> tuple[AgentResult, list[Output]]:
    stream = stream_for(agent, **more)
    outputs: list[Output] = []
    for line in stderr.split(b"\n"):
        outputs += stream.feed_error(line)
    for line in stdout.split(b"\n"):
        outputs += stream.feed(line)
    return stream.finish(Finished(reason=reason, exit_code=exit_code, seconds=1.0)), outputs


def recordings(folder: Path) -> dict[str, tuple[str, bytes, bytes, int]]:
    """name → (agent, stdout, stderr, exit code) of a folder with an index.json."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, bytes, bytes, int]] = {}
    for name, entry in index.items():
        parts = [folder / f"{name}.{part}" for part in ("stdout", "stderr")]
        out, err = (part.read_bytes() if part.exists() else b"" for part in parts)
        found[name] = (entry.get("agent") or name.split("-")[0], out, err, entry["exit_code"])
    return found
