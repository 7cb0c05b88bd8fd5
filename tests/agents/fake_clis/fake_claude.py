"""Speaks Claude Code's stream-json as recorded from the real program."""

from __future__ import annotations

import argparse
import json
import sys
import uuid

import behaviour

FAILS = {
    "rate": (429, "rate_limit", "API Error: Request rejected (429) · slow down", {}),
    "overloaded": (529, "server_error", "API Error: Repeated 529 Overloaded errors.", {}),
    "auth": (401, "authentication_failed", "Invalid API key · Fix external API key", {}),
    "billing": (400, "billing_error", "Credit balance is too low", {}),
    "context": (400, "invalid_request", "Prompt is too long", {"terminal_reason": "prompt_too_long"}),
    "model": (404, "model_not_found", "There's an issue with the selected model (x).", {}),
    "network": (
        None,
        "server_error",
        "API Error: Connection dropped (ECONNRESET).",
        {"api_error": "connection_failed"},
    ),
    "limit": (
        429,
        "rate_limit",
        "You've hit your 5-hour limit · resets 4am (UTC)",
        {"api_error": "usage_limit_reached"},
    ),
}


class Claude:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.session = args.resume or str(uuid.uuid4())
        self.last = ""
        self.turns = 0

    def emit(self, event: dict) -> None:
        print(json.dumps({**event, "session_id": self.session}), flush=True)

    def start(self) -> None:
        self.emit({"type": "system", "subtype": "init", "model": self.args.model or "claude-sonnet-5-5", "tools": []})

    def message(self, *content: dict) -> None:
        message = {"role": "assistant", "model": self.args.model or "claude-sonnet-5-5", "content": list(content)}
        self.emit({"type": "assistant", "message": message, "parent_tool_use_id": None})

    def tool(self, kind: str, what: str) -> None:
        self.turns += 1
        name = "Write" if kind == "write" else "Bash"
        given = {"file_path": what} if kind == "write" else {"command": what}
        self.message({"type": "tool_use", "id": f"t{self.turns}", "name": name, "input": given})
        result = {"type": "tool_result", "tool_use_id": f"t{self.turns}", "content": "ok"}
        self.emit({"type": "user", "message": {"role": "user", "content": [result]}})

    def text(self, words: str) -> None:
        self.last = words
        self.message({"type": "text", "text": words})

    def result(self, **more: object) -> None:
        usage = {"inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0}
        since = {"claude-sonnet-5-5": {**usage, "costUSD": 0.001}} if not more.get("free") else {}
        event = {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "api_error_status": None,
            "result": self.last,
            "total_cost_usd": 0.003 if self.args.resume else (0.001 if since else 0),
            "usage": {"input_tokens": 100, "output_tokens": 20},
            "permission_denials": [],
            "uuid": str(uuid.uuid4()),
            "model_usage_since_last_result": since,
        }
        more.pop("free", None)
        self.emit({**event, **more})

    def done(self, count: int = 1) -> int:
        same = str(uuid.uuid4())
        for _ in range(count):
            self.result(uuid=same)
        return 0

    def answer(self, words: str) -> int:
        self.text(words)
        try:
            self.result(structured_output=json.loads(words))
        except ValueError:
            self.result()
        return 0

    def denied(self) -> int:
        self.message({"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "x"}})
        refused = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "permission denied"}
        self.emit({"type": "user", "message": {"role": "user", "content": [refused]}})
        self.text("All done.")
        self.result(permission_denials=[{"tool_name": "Write", "tool_use_id": "t1", "tool_input": {}}])
        return 0

    def fail(self, kind: str) -> int:
        status, word, words, more = FAILS[kind]
        if kind == "limit":
            info = {"status": "rejected", "resetsAt": behaviour.RESET, "rateLimitType": "five_hour"}
            self.emit({"type": "rate_limit_event", "rate_limit_info": info})
        message = {"model": "<synthetic>", "role": "assistant", "content": [{"type": "text", "text": words}]}
        extra = {"api_error": more["api_error"]} if "api_error" in more else {}
        self.emit({"type": "assistant", "message": message, "error": word, "is_api_error_message": True, **extra})
        failed = {"is_error": True, "api_error_status": status, "result": words, "terminal_reason": "api_error", **more}
        self.result(**failed, free=True)
        return 1

    def capped(self, turns: int) -> bool:
        spent = turns * 0.01
        over_budget = self.args.max_budget_usd is not None and spent > self.args.max_budget_usd
        return over_budget or (self.args.max_turns is not None and turns >= self.args.max_turns)

    def cap(self) -> int:
        if self.args.max_budget_usd is not None and self.turns * 0.01 > self.args.max_budget_usd:
            self.result(subtype="error_max_budget_usd", is_error=True, terminal_reason="budget_exhausted")
        else:
            self.result(subtype="error_max_turns", is_error=True, terminal_reason="max_turns")
        return 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--version", action="store_true")
    for name in ("output-format", "permission-mode", "model", "resume", "json-schema", "setting-sources", "settings"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--allowedTools", default="")
    parser.add_argument("--disallowedTools", default="")
    parser.add_argument("--max-turns", type=int)
    parser.add_argument("--max-budget-usd", type=float)
    args = parser.parse_args()
    if args.version:
        print("2.1.999 (Claude Code)")
        return 0
    if args.output_format != "stream-json" or not args.verbose or not args.p:
        print("Error: When using --print, --output-format=stream-json requires --verbose", file=sys.stderr)
        return 1
    if args.resume == "gone":
        print("No conversation found with session ID: gone", file=sys.stderr)
        return 1
    return behaviour.act(sys.stdin.read(), Claude(args))


sys.exit(main())
