"""Starts `devteam` processes without paying for the imports each time: a server that has them forks one a request.

Each is a real process with its own environment, folder and streams. What is about imports, signals or terminals is
tested with processes started the ordinary way.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class ForkServer:
    """The client's side. One request at a time."""

    def __init__(self, library: Path | None = None, begin: str = "", warm: Sequence[str] = ()) -> None:
        """`library`: preloaded in every process; each calls its function `begin` when it has its own environment.
        `warm`: modules beyond those of every command that the server imports, once."""
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "HOME": "/nonexistent"}
        self._begin = begin
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.forkserver", *warm],
            cwd=ROOT,
            env=env | ({"LD_PRELOAD": str(library)} if library else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=bool(library),  # Linux shares the cores out by session: each server gets its part
        )

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def run(
        self, words: list[str], cwd: Path, env: dict[str, str], seconds: float, stdin: str = ""
    ) -> tuple[int, str, str]:
        with tempfile.TemporaryDirectory() as folder:
            given, out, err = Path(folder) / "in", Path(folder) / "out", Path(folder) / "err"
            given.write_text(stdin, encoding="utf-8")
            asked = {
                "argv": words, "cwd": str(cwd), "env": env, "in": str(given) if stdin else os.devnull,
                "out": str(out), "err": str(err), "seconds": seconds, "begin": self._begin,
            }  # fmt: skip
            assert self._process.stdin and self._process.stdout
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")


def _serve(warm: Sequence[str]) -> None:
    """The server's side: warm imports, then a child a line."""
    import importlib

    import engine.service.doctor
    import engine.service.init
    import engine.service.landing
    import engine.service.running  # noqa: F401
    import tui.cli.app  # noqa: F401

    for name in warm:
        importlib.import_module(name)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(asked)
        sys.stdout.write(f"{_ended(child, asked['seconds'])}\n")
        sys.stdout.flush()


def _ended(child: int, seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, 9)
        time.sleep(0.005)


def _become(asked: dict[str, Any]) -> None:
    code = 99
    try:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        time.tzset()
        if asked["begin"]:
            ctypes.CDLL(None)[asked["begin"]]()
        for name, fd, flags in (
            (asked["in"], 0, os.O_RDONLY),
            (asked["out"], 1, os.O_WRONLY | os.O_CREAT),
            (asked["err"], 2, os.O_WRONLY | os.O_CREAT),
        ):
            opened = os.open(name, flags, 0o600)
            os.dup2(opened, fd)
            os.close(opened)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(fd, mode, encoding="utf-8", closefd=False) for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        sys.argv = ["devteam", *asked["argv"]]
        from tui.cli.main import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1:])
