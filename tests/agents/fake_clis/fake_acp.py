"""An agent that speaks the Agent Client Protocol: raw JSON-RPC lines, as the real ones send them."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from pathlib import Path

import behaviour

FAILS = {
    "rate": {"code": -32603, "message": "Internal error", "data": {"errorKind": "rate_limit"}},
    "limit": {"code": -32603, "message": "Internal error", "data": {"errorKind": "usage_limit_reached"}},
    "overloaded": {"code": -32603, "message": "Internal error", "data": {"status": 529}},
    "auth": {"code": -32000, "message": "Authentication required"},
    "billing": {"code": -32603, "message": "Internal error", "data": {"error": {"type": "insufficient_quota"}}},
    "context": {"code": -32603, "message": "Internal error", "data": {"details": "prompt is too long"}},
    "model": {"code": -32603, "message": "Internal error", "data": {"name": "ProviderModelNotFoundError"}},
    "network": {"code": -32603, "message": "Internal error: socket hang up"},
}
lock = threading.Lock()


def send(**message: object) -> None:
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


class Agent:
    """One prompt turn, on its own thread so that a cancel is heard meanwhile."""

    def __init__(self, session: str, request: object, answers: dict, cancelled: threading.Event) -> None:
        self.session, self.request, self.answers, self.cancelled = session, request, answers, cancelled
        self.tools, self.cost = 0, 0.0
        self.stop = "end_turn"

    def update(self, update: str, **more: object) -> None:
        send(method="session/update", params={"sessionId": self.session, "update": {"sessionUpdate": update, **more}})

    def start(self) -> None:
        self.update("available_commands_update", availableCommands=[])
        self.update("a_kind_of_next_year", anything=[1])

    def tool(self, kind: str, what: str) -> None:
        self.tools += 1
        self.cost += 0.01
        call = {"toolCallId": f"t{self.tools}", "kind": "edit" if kind == "write" else "execute", "title": what}
        self.update("tool_call", **call, status="pending")
        self.update("tool_call_update", toolCallId=call["toolCallId"], status="completed")
        self.update("usage_update", used=100, size=1000, cost={"amount": self.cost, "currency": "USD"})

    def ask(self, call: dict) -> str:
        options = [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        box = self.answers["perm"] = {"ready": threading.Event(), "result": None}
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        send(id="perm", method="session/request_permission", params=params)
        box["ready"].wait()
        return (box["result"] or {}).get("outcome", {}).get("optionId", "")

    def text(self, words: str) -> None:
        for part in (words[:5], words[5:]):
            self.update("agent_message_chunk", content={"type": "text", "text": part})

    def done(self, count: int = 1) -> int:
        self.cost += 0.001
        self.update("usage_update", used=100, size=1000, cost={"amount": self.cost, "currency": "USD"})
        usage = {"totalTokens": 120, "inputTokens": 100, "outputTokens": 20}
        for _ in range(count):
            send(id=self.request, result={"stopReason": self.stop, "usage": usage})
        return 0

    def answer(self, words: str) -> int:
        self.text(f"Here it is:\n\n```json\n{words}\n```\n")
        return self.done()

    def denied(self) -> int:
        chosen = self.ask({"toolCallId": "t1", "kind": "edit", "title": "write x"})
        if chosen == "yes":
            Path("made.txt").write_text("x", encoding="utf-8")
        self.text(f"The answer was {chosen}.")
        return self.done()

    def fail(self, kind: str) -> int:
        send(id=self.request, error=FAILS[kind])
        return 0

    def late(self) -> None:
        """The answer first, the cost a while later, as a busy machine may have it."""
        self.text("Done.")
        send(id=self.request, result={"stopReason": "end_turn"})
        time.sleep(2)
        self.update("usage_update", used=100, size=1000, cost={"amount": 0.7, "currency": "USD"})

    def together(self) -> None:
        """Cost and answer in one piece."""
        self.text("Done.")
        update = {"sessionUpdate": "usage_update", "used": 100, "cost": {"amount": 0.7, "currency": "USD"}}
        told = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": self.session, "update": update}}
        answer = {"jsonrpc": "2.0", "id": self.request, "result": {"stopReason": "end_turn"}}
        with lock:
            print(json.dumps(told) + "\n" + json.dumps(answer), flush=True)

    def capped(self, turns: int) -> bool:
        return self.cancelled.is_set()

    def cap(self) -> int:
        self.stop = "cancelled"
        return self.done()


def main() -> int:
    if "--version" in sys.argv:
        print("1.999.0")
        return 0
    answers: dict = {}
    cancelled = threading.Event()
    known = [{"modelId": "m1"}, {"modelId": "m2"}, {"modelId": "$x|m3(y)", "name": "m3"}]
    models = {"availableModels": known, "currentModelId": "m1"}
    modes = {"availableModes": [{"id": "build"}, {"id": "plan"}], "currentModeId": "build"}
    for line in sys.stdin:
        message = json.loads(line)
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        match method:
            case "initialize":
                send(id=number, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
            case "session/new":
                assert Path(params["cwd"]).is_dir()
                send(id=number, result={"sessionId": f"ses_{uuid.uuid4()}", "models": models, "modes": modes})
            case "session/load" if params["sessionId"] == "gone":
                send(id=number, error={"code": -32602, "message": "no such session"})
            case "session/load":
                update = {"sessionUpdate": "usage_update", "cost": {"amount": 0.0, "currency": "USD"}}
                send(method="session/update", params={"sessionId": params["sessionId"], "update": update})
                old = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "OLD WORDS"}}
                send(method="session/update", params={"sessionId": params["sessionId"], "update": old})
                send(id=number, result={"models": models, "modes": modes})
            case "session/set_model" if params["modelId"] not in [one["modelId"] for one in known]:
                send(id=number, error={"code": -32602, "message": "no such model"})
            case "session/set_mode" | "session/set_model":
                send(id=number, result={})
            case "session/cancel":
                cancelled.set()
            case "session/prompt":
                agent = Agent(params["sessionId"], number, answers, cancelled)
                prompt = params["prompt"][0]["text"]
                own = {"late": agent.late, "together": agent.together}.get(behaviour.wanted(prompt))
                play, given = (own, ()) if own else (behaviour.act, (prompt, agent))
                threading.Thread(target=play, args=given, daemon=True).start()
            case None if number in answers:
                answers[number]["result"] = message.get("result")
                answers[number]["ready"].set()
    return 0


sys.exit(main())
