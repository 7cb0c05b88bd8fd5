"""Speaks `gemini -o stream-json` as recorded from the real program, with its chat file."""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path

import behaviour

FAILS = {
    "rate": (173, "[API Error: quota]\nPlease wait and try again later.", "RetryableQuotaError", 429),
    "limit": (173, "[API Error: You have exhausted your daily quota on this model.]", "TerminalQuotaError", 429),
    "overloaded": (247, "[API Error: overloaded]", "RetryableQuotaError", 503),
    "auth": (145, '[API Error: {"error":{"code":401,"message":"bad","status":"UNAUTHENTICATED"}}]', "_ApiError", 401),
    "billing": (
        1,
        '[API Error: {"error":{"code":402,"message":"pay","status":"FAILED_PRECONDITION"}}]',
        "_ApiError",
        402,
    ),
    "context": (
        144,
        '[API Error: {"error":{"code":400,"message":"The input token count (2) exceeds the maximum number of tokens '
        'allowed (1).","status":"INVALID_ARGUMENT"}}]',
        "_ApiError",
        400,
    ),
    "model": (1, "[API Error: models/x is not found]", "ModelNotFoundError", 404),
    "network": (1, "[API Error: exception TypeError: fetch failed sending request]", "Error", 0),
}


class Gemini:
    def __init__(self, session: str, model: str) -> None:
        self.session = session or str(uuid.uuid4())
        self.model = model
        self.tools = 0
        chats = Path(os.environ["GEMINI_CLI_HOME"]) / ".gemini" / "tmp" / "ws" / "chats"
        chats.mkdir(parents=True, exist_ok=True)
        self.file = chats / f"session-2026-11-16T00-00-{self.session[:8]}.jsonl"

    def emit(self, kind: str, **more: object) -> None:
        print(json.dumps({"type": kind, "timestamp": "2026-11-16T00:00:00Z", **more}), flush=True)

    def request(self) -> None:
        line = {"id": str(uuid.uuid4()), "type": "gemini", "tokens": {"input": 100000, "output": 2000, "cached": 0}}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def start(self) -> None:
        self.emit("init", session_id=self.session, model=self.model)
        self.emit("message", role="user", content="…")

    def tool(self, kind: str, what: str) -> None:
        self.request()
        self.tools += 1
        name = "write_file" if kind == "write" else "run_shell_command"
        given = {"file_path": what} if kind == "write" else {"command": what}
        self.emit("tool_use", tool_name=name, tool_id=f"t{self.tools}", parameters=given)
        self.emit("tool_result", tool_id=f"t{self.tools}", status="success")

    def text(self, words: str) -> None:
        half = len(words) // 2
        self.emit("message", role="assistant", content=words[:half], delta=True)
        self.emit("message", role="assistant", content=words[half:], delta=True)

    def done(self, count: int = 1) -> int:
        stats = {"total_tokens": 120, "input_tokens": 100, "output_tokens": 20, "cached": 0, "tool_calls": self.tools}
        for _ in range(count):
            self.emit("result", status="success", stats=stats)
        return 0

    def answer(self, words: str) -> int:
        self.text(f"Here it is:\n\n```json\n{words}\n```\n")
        return self.done()

    def denied(self) -> int:
        self.text("All done.")
        return self.done()

    def fail(self, kind: str) -> int:
        code, words, name, status = FAILS[kind]
        print(f"Attempt 1 failed with status {status}. Retrying with backoff...", file=sys.stderr)
        print(f"Error when talking to Gemini API {name}: x\n    at nowhere\n  status: {status}\n}}", file=sys.stderr)
        sys.stderr.flush()
        self.emit("result", status="error", error={"type": "unknown", "message": words}, stats={"input_tokens": 0})
        return code

    def capped(self, turns: int) -> bool:
        return False


def main() -> int:
    args = sys.argv[1:]
    if "--version" in args:
        print("0.999.0")
        return 0
    settings = json.loads((Path(os.environ["GEMINI_CLI_HOME"]) / ".gemini" / "settings.json").read_text())
    if not settings["security"]["auth"]["selectedType"]:
        print("Invalid auth method selected.", file=sys.stderr)
        return 41
    session = args[args.index("--resume") + 1] if "--resume" in args else ""
    if session == "gone":
        print("Error resuming session: Invalid session identifier", file=sys.stderr)
        return 42
    return behaviour.act(sys.stdin.read(), Gemini(session, args[args.index("-m") + 1] if "-m" in args else "gemini"))


sys.exit(main())
