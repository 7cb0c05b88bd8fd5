"""Codex, headless: `codex exec --json -` with the prompt on stdin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from engine.core.model import AgentResult, Tokens
from engine.files import write_inside
from engine.perform.agents import headless, launch
from engine.perform.agents.codex_stream import CodexStream, tokens_of
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock, Stream
from engine.perform.agents.wire import at, decode, mapping
from engine.perform.process.spawning import AgentCall, Output, ProcessSpec, Spawner

_TAIL = 400_000


class Codex:
    """In our sandbox codex's own must be off (it cannot run inside, and fails without a word). Elsewhere it is on."""

    name = "codex"
    native_schema = True

    def __init__(self, _name: str, config: AgentConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        return await headless.drive(self, call, spawner, emit)

    def stream(self, call: AgentCall, where: launch.Place) -> Stream:
        home = where.host_config / ".codex"
        before = _used(home, call.session) if call.session else Tokens()
        return CodexStream(
            call, self.clock, before=before, usage=lambda thread: _used(home, thread), sandboxed=not where.fenced
        )

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec:
        argv = [launch.program(self.config, self.name, call.env), "exec"]
        if call.session:
            argv += ["resume"]
        argv += ["--json", "--skip-git-repo-check", "-c", "analytics.enabled=false", "--disable", "plugins"]
        argv += ["-c", "check_for_update_on_startup=false", *self._permissions(call, where)]
        if call.model:
            argv += ["-m", call.model]
        home = where.host_config / ".codex"
        for folder in (home, where.host_home):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if call.schema is not None:
            write_inside(where.host_home, "answer-schema.json", json.dumps(call.schema))
            argv += ["--output-schema", str(where.home / "answer-schema.json")]
        argv += [*self.config.args, *([call.session] if call.session else []), "-"]
        env = {"CODEX_HOME": str(where.config / ".codex")}
        if key := call.env.get("CODEX_API_KEY") or call.env.get("OPENAI_API_KEY"):
            env["CODEX_API_KEY"] = key
        stdin = call.prompt.encode("utf-8", "replace")
        return launch.spec(call, where, self.config, tuple(argv), env, stdin=stdin)

    def _permissions(self, call: AgentCall, where: launch.Place) -> list[str]:
        if where.fenced:
            return ["--dangerously-bypass-approvals-and-sandbox"]
        mode = "read-only" if call.read_only else "workspace-write"
        return ["-c", f'sandbox_mode="{mode}"', "-c", 'approval_policy="never"']


def _used(home: Path, thread: str) -> Tokens | None:
    """The newest running total in the thread's session file. It is written by codex, so it is read with suspicion."""
    if not thread or not all(c.isalnum() or c == "-" for c in thread):
        return None
    try:
        newest = max((home / "sessions").rglob(f"*{thread}.jsonl"), default=None)
        if newest is None:
            return None
        with newest.open("rb") as file:
            file.seek(max(0, newest.stat().st_size - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        if b'"token_count"' in line and (event := decode(line)):
            total = mapping(at(event, "payload.info.total_token_usage"))
            if total:
                return tokens_of(total)
    return None
