"""The user's notify_command: the snippets of docs/notify.md as they stand there, against receivers on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socketserver
import threading
import time
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from engine.clock import SystemClock, VirtualClock
from engine.core import events as ev
from engine.core.state import State
from engine.core.vocabulary import Choice, GateKind, Outcome
from engine.notify import Notifier
from engine.perform.process.spawner import ProcessSpawner
from engine.project import open_project
from engine.session import Session
from engine.session_options import Options
from engine.told_to_viewers import Recorded
from tests.engine import small
from tests.patience import eventually

DOCS = Path(__file__).parents[2] / "docs" / "notify.md"
SNIPPETS = [tomllib.loads(text)["notify_command"] for text in re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.S)]
GATE = ev.GateOpened(gate="G1", task="1.1", kind=GateKind.FIX, title='it\'s "quoted" $(HOME)', choices=(Choice.YES,))


class Heard(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.heard.append((self.path, self.headers.get("Title", ""), body))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


class Mail(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        say = lambda line: self.wfile.write(line + b"\r\n")  # noqa: E731
        say(b"220 here")
        lines: list[bytes] = []
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                say(b"354 go on")
                while (line := self.rfile.readline()) != b".\r\n":
                    lines.append(line)
                self.server.heard.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            elif word == b"QUIT":
                break
            say(b"250 ok")


@contextlib.contextmanager
def receiving(server: Any) -> Iterator[tuple[int, list[Any]]]:
    server.heard = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], server.heard
    server.shutdown()
    server.server_close()


def notifier(tmp_path: Path, command: str, quiet: str = "", clock: Any = None) -> Notifier:
    folder, home = tmp_path / "repo", tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    folder.mkdir(parents=True)
    small.git(folder, "init", "-q")
    env = {"PATH": f"{home / 'bin'}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}
    spawner = ProcessSpawner("none", "run", time.monotonic, home=home, scratch=tmp_path)
    return Notifier(command, quiet, spawner, open_project(folder, env, home), clock or SystemClock())


async def told(one: Notifier, event: ev.AnyEvent, seq: int = 1) -> None:
    one([ev.Envelope(seq=seq, stream="001-x", at=100.0, event=event)], State(sprint="001-x"))


async def test_desktop(tmp_path: Path) -> None:
    one = notifier(tmp_path, SNIPPETS[0])
    program = tmp_path / "home" / "bin" / "notify-send"
    program.write_text('#!/bin/sh\nprintf "%s|%s" "$1" "$2" > "$HOME/shown"\n')
    program.chmod(0o755)
    await told(one, GATE)
    await one.close()
    assert (tmp_path / "home" / "shown").read_text() == 'devteam: gate|G1: it\'s "quoted" $(HOME)'


async def test_ntfy_and_slack(tmp_path: Path) -> None:
    with receiving(HTTPServer(("127.0.0.1", 0), Heard)) as (port, heard):
        ntfy = notifier(tmp_path / "a", SNIPPETS[1].replace("https://ntfy.example", f"http://127.0.0.1:{port}"))
        await told(ntfy, GATE)
        await ntfy.close()
        assert heard == [("/YOUR-TOPIC", "devteam gate", 'G1: it\'s "quoted" $(HOME)')]
        slack = notifier(tmp_path / "b", SNIPPETS[2])
        hook = tmp_path / "b" / "home" / ".config" / "devteam" / "slack-webhook"
        hook.parent.mkdir(parents=True)
        hook.write_text(f"http://127.0.0.1:{port}/services/x\n")
        await told(slack, GATE)
        await slack.close()
        assert heard[1][0] == "/services/x"
        assert json.loads(heard[1][2])["text"] == 'gate: G1: it\'s "quoted" $(HOME)\ndevteam answer G1 yes'


async def test_mail(tmp_path: Path) -> None:
    with receiving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)) as (port, heard):
        one = notifier(tmp_path, SNIPPETS[3].replace("localhost:25", f"127.0.0.1:{port}"))
        await told(one, ev.RunEnded(run="r", outcome=Outcome.DONE, reason="all of it"))
        await one.close()
    (mail,) = heard
    assert "Subject: devteam done: 001-x" in mail and "done: all of it" in mail


async def test_quiet_hours_keep_it_back_and_tell_it_together(tmp_path: Path) -> None:
    clock = VirtualClock(86_400.0 * 20_000 + 23 * 3600)
    one = notifier(tmp_path, 'cat >> "$HOME/told"', "22:00-07:00", clock)
    await told(one, GATE)
    await told(one, ev.RunEnded(run="r", outcome=Outcome.BLOCKED, reason="one gate"), 2)
    await asyncio.sleep(0)
    assert not (tmp_path / "home" / "told").exists()
    await clock.advance(8 * 3600 + 1)
    await eventually(lambda: (tmp_path / "home" / "told").exists() and (tmp_path / "home" / "told").read_text())
    await one.close()
    (line,) = (tmp_path / "home" / "told").read_text().splitlines()
    said = json.loads(line)
    assert said["kind"] == "blocked" and said["message"].startswith("2 things in your quiet hours: G1:")
    assert said["repository"] == str(tmp_path / "repo")


@pytest.mark.parametrize(
    ("command", "how", "says"),
    [
        pytest.param("echo POST hook-1f >&2; exit 3", "exit code 3", "POST hook-1f", id="fails"),
        pytest.param("no-such-program", "exit code 127", "no-such-program: not found", id="not there"),
        pytest.param("echo hook-1f >&2; kill -9 $$", "exit code -9", "hook-1f", id="killed"),
    ],
)
async def test_a_command_that_fails_is_said_once_and_what_it_says_stays_out_of_the_journal(
    tmp_path: Path, command: str, how: str, says: str
) -> None:
    """By the last word of the run at the latest: who walks away has to know that nobody calls them."""
    sprint = small.make(tmp_path / "repo")
    config = tmp_path / "repo" / ".devteam" / "config.toml"
    config.write_text(f'notify_command = "{command}"\n{config.read_text()}')
    project = small.project_of(tmp_path / "repo", tmp_path / "state")
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options) as session:
        assert (await session.run()).outcome == "done"
        facts = Recorded(project, sprint, SystemClock())(0, 10_000)
    notes = [one.event for one in facts if isinstance(one.event, ev.Noted) and "notify_command" in one.event.text]
    assert [(note.level, f"({how})" in note.text) for note in notes] == [("warning", True)]
    assert says not in repr(facts)
    assert says in (project.state.root / "engine.jsonl").read_text()


async def test_one_that_works_is_not_said(tmp_path: Path) -> None:
    heard: list[str] = []
    one = notifier(tmp_path, "true")
    one._failed = lambda how, _said: heard.append(how)
    await told(one, GATE)
    await one.close()
    assert not heard
