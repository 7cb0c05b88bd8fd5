"""Gemini CLI, headless: the prompt on stdin, `-o stream-json` out. Its switches live in a settings file we write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from engine.core.model import AgentResult, Tokens
from engine.files import write_inside
from engine.perform.agents import headless, launch
from engine.perform.agents.gemini_stream import GeminiStream
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock, Stream
from engine.perform.agents.wire import count, decode, mapping, text
from engine.perform.process.spawning import AgentCall, Output, ProcessSpec, Spawner

_WRITING = ("write_file", "replace")


class Gemini:
    """In our sandbox: --yolo. Elsewhere edits are approved and the shell only where the user allows it; read-only roles
    run in the default mode, where gemini offers no writing tool at all."""

    name = "gemini"
    native_schema = False

    def __init__(self, _name: str, config: AgentConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        return await headless.drive(self, call, spawner, emit)

    def stream(self, call: AgentCall, where: launch.Place) -> Stream:
        chats = where.host_config / ".gemini" / "tmp"
        return GeminiStream(call, self.clock, usage=lambda session: _used(chats, session))

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec:
        argv = [launch.program(self.config, self.name, call.env), "-o", "stream-json", "--skip-trust"]
        argv += self._permissions(call, where)
        if call.model:
            argv += ["-m", call.model]
        if call.session:
            argv += ["--resume", call.session]
        if where.private:
            _write_settings(where.host_config / ".gemini", call)
        env = {"GEMINI_CLI_NO_RELAUNCH": "true", "NO_COLOR": "1", "GEMINI_CLI_HOME": str(where.config)}
        stdin = call.prompt.encode("utf-8", "replace")
        # SIGTERM ends gemini with exit 0 and leaves its tool commands alive: it is not worth waiting for.
        return launch.spec(call, where, self.config, (*argv, *self.config.args), env, stdin=stdin, graceful=False)

    def _permissions(self, call: AgentCall, where: launch.Place) -> list[str]:
        if where.fenced:
            return ["--yolo"]
        if call.read_only:
            return ["--approval-mode", "default"]
        allowed = [word for name in self.config.allow for word in ("--allowed-tools", name)]
        return ["--approval-mode", "auto_edit", *allowed]


def _write_settings(folder: Path, call: AgentCall) -> None:
    """Two attempts and then the error: our own policy waits. Without `selectedType` gemini refuses to start."""
    if call.env.get("GOOGLE_GENAI_USE_VERTEXAI"):
        auth = "vertex-ai"
    elif call.env.get("GEMINI_API_KEY") or call.env.get("GOOGLE_API_KEY"):
        auth = "gemini-api-key"
    else:
        auth = "oauth-personal"
    settings: dict[str, object] = {
        "security": {"auth": {"selectedType": auth}},
        "general": {"maxAttempts": 2, "retryFetchErrors": False, "disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    if call.read_only:
        settings["tools"] = {"exclude": list(_WRITING)}
    write_inside(folder, "settings.json", json.dumps(settings))


def _used(chats: Path, session: str) -> Tokens | None:
    """The sum over the session's chat file. It is written by gemini, so it is read with suspicion."""
    if not session or not all(c.isalnum() or c == "-" for c in session):
        return None
    given, out, read, seen = 0, 0, 0, set()
    try:
        files = list(chats.glob(f"*/chats/session-*{session[:8]}.jsonl"))
        lines = [line for file in files for line in file.read_bytes().split(b"\n")]
    except OSError:
        return None
    for line in lines:
        event = decode(line) if b'"tokens"' in line else None
        if event is None or text(event.get("id")) in seen:
            continue
        seen.add(text(event.get("id")))
        tokens = mapping(event.get("tokens"))
        cached = count(tokens.get("cached"))
        given += max(0, count(tokens.get("input")) - cached)
        out += count(tokens.get("output")) + count(tokens.get("thoughts"))
        read += cached
    return Tokens(input=given, output=out, cache_read=read) if seen else None
