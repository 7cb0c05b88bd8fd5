"""Speaks `codex exec --json` as recorded from the real program, with the session file it keeps."""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path

import behaviour

FAILS = {
    "rate": "exceeded retry limit, last status: 429 Too Many Requests",
    "overloaded": "unexpected status 503 Service Unavailable: overloaded, url: http://127.0.0.1/v1/responses",
    "auth": "unexpected status 401 Unauthorized: Incorrect API key provided: dummy.",
    "billing": "Quota exceeded. Check your plan and billing details.",
    "context": json.dumps({"error": {"message": "too long", "code": "context_length_exceeded"}}),
    "model": "The model `nope` does not exist",
    "network": "stream disconnected before completion: error sending request",
    "limit": "You’ve hit your usage limit. Visit https://example.invalid or try again at Nov 16th, 2026 8:13 PM.",
}


class Codex:
    def __init__(self, session: str) -> None:
        self.session = session or str(uuid.uuid4())
        self.items = 0
        folder = Path(os.environ["CODEX_HOME"]) / "sessions" / "2026" / "11" / "16"
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"rollout-2026-11-16T00-00-00-{self.session}.jsonl"
        self.used = 0
        if self.file.exists():
            last = json.loads(self.file.read_text().splitlines()[-1])
            self.used = last["payload"]["info"]["total_token_usage"]["output_tokens"] // 20

    def usage(self) -> dict:
        return {
            "input_tokens": 100 * self.used,
            "cached_input_tokens": 0,
            "cache_write_input_tokens": 0,
            "output_tokens": 20 * self.used,
            "reasoning_output_tokens": 0,
        }

    def emit(self, kind: str, **more: object) -> None:
        print(json.dumps({"type": kind, **more}), flush=True)

    def request(self) -> None:
        self.used += 1
        event = {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": self.usage()}}}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    def start(self) -> None:
        self.emit("thread.started", thread_id=self.session)
        self.emit("turn.started")

    def tool(self, kind: str, what: str) -> None:
        self.request()
        item = {"id": f"item_{self.items}", "type": "command_execution", "command": what, "aggregated_output": ""}
        if kind == "write":
            item = {"id": f"item_{self.items}", "type": "file_change", "changes": [{"path": what, "kind": "add"}]}
        self.items += 1
        self.emit("item.started", item={**item, "status": "in_progress"})
        self.emit("item.completed", item={**item, "exit_code": 0, "status": "completed"})

    def text(self, words: str) -> None:
        self.emit("item.completed", item={"id": f"item_{self.items}", "type": "agent_message", "text": words})

    def done(self, count: int = 1) -> int:
        self.request()
        for _ in range(count):
            self.emit("turn.completed", usage=self.usage())
        return 0

    def answer(self, words: str) -> int:
        self.text(words)
        return self.done()

    def denied(self) -> int:
        print(
            "WARNING: proceeding, even though we could not create PATH aliases: Refusing", file=sys.stderr, flush=True
        )
        self.text("All done.")
        return self.done()

    def fail(self, kind: str) -> int:
        self.emit("error", message=f"Reconnecting... 1/1 ({FAILS[kind]})")
        self.emit("turn.failed", error={"message": FAILS[kind]})
        return 1

    def capped(self, turns: int) -> bool:
        return False


def main() -> int:
    args = sys.argv[1:]
    if args[:1] == ["--version"]:
        print("codex-cli 0.999.0")
        return 0
    if args[:1] != ["exec"] or "--json" not in args or args[-1] != "-":
        print("error: unexpected arguments", file=sys.stderr)
        return 2
    session = args[-2] if args[1] == "resume" else ""
    if session == "gone":
        print("Error: thread/resume failed: no rollout found for thread id gone", file=sys.stderr)
        return 1
    return behaviour.act(sys.stdin.read(), Codex(session))


sys.exit(main())
