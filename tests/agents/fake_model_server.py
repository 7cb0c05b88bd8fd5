"""A model server for tests: answers the real agent CLIs on loopback from a script, and remembers what they asked.

Each script has its own base URL (`server.url("name")`), so that several agents run at once without mixing. A script is
a list of steps, one for each request of the agent's main loop (a request that offers tools; `any_request=True` counts
all). After the last step every answer is the text "Done.". Steps are made by the functions below.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents import model_dialects as dialects
from tests.agents.model_dialects import Turn

Step = dict[str, Any]


def say(text: str, **more: Any) -> Step:
    return {"text": text, **more}


def use(name: str, given: Any, **more: Any) -> Step:
    """One tool call; a string as input makes it a custom tool (codex apply_patch)."""
    return {"tools": [(name, given)], **more}


def fail(status: int, kind: str = "api_error", message: str = "scripted failure", **more: Any) -> Step:
    """An HTTP error; `headers`, `extra` (fields of the error object) and `times` may be given. For ever by default."""
    return {"error": (status, kind, message), "times": -1, **more}


def drop(times: int = -1) -> Step:
    return {"drop": True, "times": times}


def hang(seconds: float = 600.0) -> Step:
    return {"hang": seconds, "times": -1}


@dataclass
class Script:
    """The steps of one agent, and what it sent."""

    steps: list[Step] = field(default_factory=list)
    any_request: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> Step:
        with self.lock:
            if not self.steps:
                return say("Done.")
            step = self.steps[0]
            times = step.get("times", 1)
            if times == 1:
                self.steps.pop(0)
            elif times > 1:
                step["times"] = times - 1
            return step


_ROUTES = (
    (re.compile(r"/v1/messages$"), "anthropic"),
    (re.compile(r"/responses$"), "responses"),
    (re.compile(r"/chat/completions$"), "chat"),
    (re.compile(r"/models/([^/:]+):(stream)?[gG]enerateContent$"), "gemini"),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *args: Any) -> None:
        return

    def _body(self) -> dict[str, Any]:
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _json(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, str(value))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Iterator[dialects.Event], headers: dict[str, str], stall: float) -> None:
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", "connection": "close", **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.close_connection = True
        for number, (name, data) in enumerate(events):
            if stall and number == 2:
                self._wait(stall)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode())
            self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Sleep, but not longer than the client or the test stays."""
        end = time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while time.monotonic() < end and not self.server.closing.is_set():
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    raise ConnectionResetError
            except TimeoutError:
                continue
        self.connection.settimeout(None)

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._post()

    def _post(self) -> None:
        body = self._body()
        found = re.match(r"/s/([^/]+)(/[^?]*)", self.path)
        name, path = (found[1], found[2]) if found else ("", self.path.partition("?")[0])
        if path.endswith(("/count_tokens", ":countTokens")):
            return self._json({"input_tokens": 10, "totalTokens": 10})
        routes = [(found, dialect) for pattern, dialect in _ROUTES if (found := pattern.search(path))]
        if not routes:
            return self._json({})
        route, dialect = routes[0]
        streaming = bool(body.get("stream"))
        if dialect == "gemini":
            body["model"], streaming = route[1], bool(route[2])
        script = self.server.scripts.setdefault(name, Script())
        main = script.any_request or bool(body.get("tools"))
        script.requests.append({"path": path, "main": main, "body": body, "at": time.time()})
        return self._answer(dialect, body, streaming, script.take() if main else say("ok"))

    def _answer(self, dialect: str, body: dict[str, Any], streaming: bool, step: Step) -> None:
        if step.get("drop"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        if "hang" in step:
            self.close_connection = True
            return self._wait(step["hang"])
        if "error" in step:
            status, kind, message = step["error"]
            wrong = dialects.error_body(dialect, status, kind, message, step.get("extra", {}))
            return self._json(wrong, status, step.get("headers"))
        turn = Turn(
            model=str(body.get("model") or "fake"),
            text=step.get("text", ""),
            thinking=step.get("thinking", ""),
            tools=step.get("tools", []),
            stop=step.get("stop", ""),
            usage=step.get("usage", {}),
        )
        if not streaming and dialect == "anthropic":
            return self._json(dialects.anthropic_whole(turn))
        if not streaming and dialect == "chat":
            return self._json(dialects.chat_whole(turn))
        events = getattr(dialects, dialect)(turn)
        if not streaming and dialect == "gemini":
            return self._json(next(events)[1])
        return self._stream(events, step.get("headers", {}), step.get("stall", 0.0))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts: dict[str, Script] = {}
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        return


class FakeModelServer:
    """`with FakeModelServer() as server: server.script("t1", [use(...), say("ok")])`."""

    def __init__(self) -> None:
        self._server = _Server()

    def __enter__(self) -> FakeModelServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def script(self, name: str, steps: list[Step], *, any_request: bool = False) -> Script:
        made = Script(steps=[dict(step) for step in steps], any_request=any_request)
        self._server.scripts[name] = made
        return made

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/s/{name}"
