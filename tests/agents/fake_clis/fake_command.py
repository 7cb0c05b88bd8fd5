"""A local script behind the `command` adapter: JSON lines with a shape of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import behaviour

STATUS = {"rate": 429, "limit": 429, "overloaded": 529, "auth": 401, "billing": 402, "context": 413, "model": 404}


class Command:
    def __init__(self, session: str) -> None:
        self.session = session or "s-1"
        self.cost = 0.0

    def emit(self, **event: object) -> None:
        print(json.dumps({"sid": self.session, **event}), flush=True)

    def start(self) -> None:
        self.emit(kind="hello")

    def tool(self, kind: str, what: str) -> None:
        self.emit(kind="tool", tool={"name": kind, "path": what})

    def text(self, words: str) -> None:
        self.emit(kind="say", part={"text": words})

    def done(self, count: int = 1) -> int:
        for _ in range(count):
            self.emit(kind="end", cost=0.002, usage={"in": 100, "out": 20})
        return 0

    def answer(self, words: str) -> int:
        self.text(f"```json\n{words}\n```")
        return self.done()

    def denied(self) -> int:
        return self.done()

    def fail(self, kind: str) -> int:
        words = "connection reset" if kind == "network" else kind
        self.emit(kind="oops", error={"message": words, "status": STATUS.get(kind, 0)})
        return 1

    def capped(self, turns: int) -> bool:
        return False


def main() -> int:
    args = sys.argv[1:]
    prompt = Path(args[args.index("--file") + 1]).read_text() if "--file" in args else sys.stdin.read()
    session = args[args.index("--session") + 1] if "--session" in args else ""
    return behaviour.act(prompt, Command(session))


sys.exit(main())
