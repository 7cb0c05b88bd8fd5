"""Claude Code, headless: `claude -p` with the prompt on stdin and stream-json out."""

from __future__ import annotations

import json
from collections.abc import Callable

from engine.core.model import AgentResult
from engine.perform.agents import headless, launch
from engine.perform.agents.claude_stream import ClaudeStream
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock, Stream
from engine.perform.process.spawning import AgentCall, Output, ProcessSpec, Spawner

_WRITING = "Write,Edit,MultiEdit,NotebookEdit"
_OWN_SANDBOX = {"sandbox": {"enabled": True, "autoAllowBashIfSandboxed": True}}
"""Claude's own fence for its shell, used where we have none: commands run only if that sandbox is there."""


class Claude:
    """In our sandbox: all permissions, the mount is the fence. Elsewhere: edits accepted, the shell only in Claude's
    own sandbox or where the user allows it; read-only roles get no shell at all."""

    name = "claude"
    native_schema = True

    def __init__(self, _name: str, config: AgentConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        return await headless.drive(self, call, spawner, emit)

    def stream(self, call: AgentCall, where: launch.Place) -> Stream:
        return ClaudeStream(call, self.clock)

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec:
        argv = [launch.program(self.config, self.name, call.env), "-p", "--output-format", "stream-json", "--verbose"]
        argv += self._permissions(call, where)
        if call.model:
            argv += ["--model", call.model]
        if call.session:
            argv += ["--resume", call.session]
        if call.max_turns is not None:
            argv += ["--max-turns", str(call.max_turns)]
        if call.max_usd is not None:
            argv += ["--max-budget-usd", f"{call.max_usd:.4f}"]
        if call.schema is not None:
            argv += ["--json-schema", json.dumps(call.schema)]
        env = {
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "2",
        }
        env["CLAUDE_CONFIG_DIR"] = str(where.config / ".claude")
        if where.fenced:
            env["IS_SANDBOX"] = "1"
        stdin = call.prompt.encode("utf-8", "replace")
        return launch.spec(call, where, self.config, (*argv, *self.config.args), env, stdin=stdin)

    def _permissions(self, call: AgentCall, where: launch.Place) -> list[str]:
        # A read-only role must not be steered by settings or hooks that the implementer left in the tree it judges.
        sources = ["--setting-sources", "user"] if call.read_only else []
        if where.fenced:
            mode = ["--permission-mode", "bypassPermissions"]
            return [*mode, *sources, *(["--disallowedTools", _WRITING] if call.read_only else [])]
        if call.read_only:
            allowed = ["--allowedTools", "Read,Grep,Glob"]
            return ["--permission-mode", "default", *sources, *allowed, "--disallowedTools", f"{_WRITING},Bash"]
        allowed = ["--allowedTools", ",".join(self.config.allow)] if self.config.allow else []
        return ["--permission-mode", "acceptEdits", "--settings", json.dumps(_OWN_SANDBOX), *allowed]
