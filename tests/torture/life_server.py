"""Lives of an engine, forked off a process that has imported everything: half of what a short life cost was imports.

python -m tests.torture.life_server        speaks a line of JSON a request, on its standard streams
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WARM = ("git", "jinja2", "engine.html_report", "engine.service.reports", "tests.torture.templates")


@dataclass(frozen=True)
class Lived:
    """A process of ours that lives, or did."""

    server: LifeServer
    pid: int
    out: Path
    err: Path

    def ended(self, seconds: float) -> int | None:
        """Its exit code, as soon as there is one; None when it still lives after so many seconds."""
        code = self.server.ask(wait=self.pid, seconds=seconds)
        return None if code is None else int(code)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.ended(60.0)


class LifeServer:
    """The client's side. One request at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torture.life_server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, **asked: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, argv: Sequence[object], place: Path) -> Lived:
        out, err = place / "out", place / "err"
        pid = self.ask(argv=[str(part) for part in argv], out=str(out), err=str(err))
        return Lived(self, int(pid), out, err)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    import importlib

    for name in WARM:
        importlib.import_module(name)
    importlib.import_module("tests.torture.life")
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if "wait" in asked:
            said = _waited(asked["wait"], asked["seconds"])
        elif (said := os.fork()) == 0:
            _become(asked)
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()


def _waited(child: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)


def _become(asked: dict[str, Any]) -> None:
    code = 99
    try:
        for name, fd, flags in (
            (os.devnull, 0, os.O_RDONLY),
            (asked["out"], 1, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (asked["err"], 2, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ):
            opened = os.open(name, flags, 0o600)
            os.dup2(opened, fd)
            os.close(opened)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(fd, mode, encoding="utf-8", closefd=False) for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        sys.argv = ["life", *asked["argv"]]
        from tests.torture.life import main

        main()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
