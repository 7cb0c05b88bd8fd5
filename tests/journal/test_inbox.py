"""Commands reach the engine whole, in order, at least once, and no file in the inbox can break it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.clock import SystemClock, VirtualClock
from engine.core.commands import Answer, AnyCommand, Pause, Steer, Stop
from engine.inbox import LARGEST, BadCommand, Inbox, send

REPO = Path(__file__).parents[2]
SEND = """
import sys
from pathlib import Path
from engine.core.commands import Pause
from engine.inbox import send
send(Path(sys.argv[1]), Pause(id=sys.argv[2]))
"""
STEER = Steer(task="1.2", text="use argon2 ✔\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "inbox"


def test_commands_come_in_order_and_stay_until_done(folder: Path) -> None:
    commands: list[AnyCommand] = [Answer(gate="G1", choice="y", id="mine"), STEER, *[Pause(), Stop(now=True)] * 20]
    ids = [send(folder, command) for command in commands]
    assert ids[0] == "mine"
    assert len(set(ids)) == len(ids)
    inbox = Inbox(folder, SystemClock())
    taken = inbox.take()
    assert [command for _, command in taken] == [
        msgspec.structs.replace(command, id=name) for command, name in zip(commands, ids, strict=True)
    ]
    assert inbox.take() == []
    inbox.done(taken[0][0])
    again = Inbox(folder, SystemClock())
    assert again.take() == taken[1:], "an engine that died before `done` sees them again"
    for name, _ in taken:
        again.done(name)
        again.done(name)
    assert list(folder.iterdir()) == []


def test_order_survives_a_clock_set_back(folder: Path) -> None:
    clock = VirtualClock()
    send(folder, Pause(id="a"), clock)
    clock.jump(-3600)
    send(folder, Pause(id="b"), clock)
    send(folder, Pause(id="c"), clock)
    assert [command.id for _, command in Inbox(folder, clock).take()] == ["a", "b", "c"]  # type: ignore[union-attr]


def test_many_senders_at_once_lose_nothing(folder: Path) -> None:
    children = []
    for n in range(8):
        pid = os.fork()
        if pid == 0:
            clock = VirtualClock()  # the same instant for all: names must differ all the same
            for k in range(25):
                send(folder, Pause(id=f"{n}-{k}"), clock)
            os._exit(0)
        children.append(pid)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    ids = [command.id for _, command in Inbox(folder, SystemClock()).take() if not isinstance(command, BadCommand)]
    assert sorted(ids) == sorted(f"{n}-{k}" for n in range(8) for k in range(25))
    for n in range(8):
        assert [i for i in ids if i.startswith(f"{n}-")] == [f"{n}-{k}" for k in range(25)]


def test_threads_of_one_sender_lose_nothing(folder: Path) -> None:
    """One process, one instant: only the refusal of a taken name keeps them apart."""
    clock, start = VirtualClock(), threading.Barrier(8)

    def work(n: int) -> None:
        start.wait()
        for k in range(25):
            send(folder, Pause(id=f"{n}-{k}"), clock)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({command.id for _, command in Inbox(folder, clock).take() if isinstance(command, Pause)}) == 200


def test_files_are_private(folder: Path) -> None:
    old = os.umask(0)
    try:
        send(folder, Pause())
    finally:
        os.umask(old)
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}


def sock(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


BAD: list = [
    pytest.param(lambda p: p.write_bytes(b""), "not a command", id="empty"),
    pytest.param(lambda p: p.write_bytes(b'{"command": "pau'), "not a command", id="half-written"),
    pytest.param(lambda p: p.write_bytes(os.urandom(500)), "not a command", id="garbage"),
    pytest.param(lambda p: p.write_bytes(b'{"command": "rm -rf"}'), "not a command", id="unknown-command"),
    pytest.param(lambda p: p.write_bytes(b'{"command": "answer", "gate": 3}'), "not a command", id="wrong-type"),
    pytest.param(lambda p: p.write_bytes(b"[" * 100_000), "not a command", id="deep"),
    pytest.param(lambda p: p.write_bytes(b'{"command":"pause","by":"' + bytes(range(128, 256))), "not", id="not-utf-8"),
    pytest.param(lambda p: p.write_bytes(b" " * (LARGEST + 1)), "larger than", id="huge"),
    pytest.param(lambda p: p.mkdir(), "not a regular file", id="folder"),
    pytest.param(lambda p: os.mkfifo(p), "not a regular file", id="pipe"),
    pytest.param(sock, "not a regular file", id="socket"),
    pytest.param(lambda p: p.symlink_to("/etc/passwd"), "not a regular file", id="link"),
    pytest.param(lambda p: p.symlink_to("/dev/zero"), "not a regular file", id="link-to-device"),
    pytest.param(lambda p: p.symlink_to("nowhere"), "not a regular file", id="dangling-link"),
]


@pytest.mark.parametrize(("make", "words"), BAD)
@pytest.mark.parametrize("name", ["00000000000000001-1.json", "x\x1b[31m\u202e\ud800.txt"], ids=["proper", "hostile"])
def test_a_bad_file_is_put_aside_with_words(folder: Path, make: Callable[[Path], None], words: str, name: str) -> None:
    send(folder, Pause(id="good"))
    make(folder / os.fsdecode(os.fsencode(name.replace("\ud800", "\udcff"))))
    inbox = Inbox(folder, SystemClock())
    taken = inbox.take()
    bad = [command for _, command in taken if isinstance(command, BadCommand)]
    assert [command.id for _, command in taken if not isinstance(command, BadCommand)] == ["good"]
    assert len(bad) == 1
    assert words in bad[0].reason
    assert "\x1b" not in bad[0].reason
    bad[0].reason.encode()
    assert len(list((folder / "bad").iterdir())) == 1
    for name, _ in taken:
        inbox.done(name)
    assert [path.name for path in folder.iterdir()] == ["bad"]
    assert inbox.take() == []


def test_a_bad_file_that_cannot_be_moved_is_reported_once(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "bad").write_text("in the way")
    (folder / "x").write_text("no")
    inbox = Inbox(folder, SystemClock())
    [(_, bad)] = inbox.take()
    assert isinstance(bad, BadCommand)
    assert "could not be moved" in bad.reason
    assert inbox.take() == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_no_bytes_break_it(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("inbox")
    (folder / "x").write_bytes(data)
    assert len(Inbox(folder, SystemClock()).take()) == 1


def test_half_files_of_dead_senders_are_swept(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, age in ((".old.json.tmp", 7200), (".new.json.tmp", 5)):
        (folder / name).write_text("{")
        os.utime(folder / name, (time.time() - age,) * 2)
    assert Inbox(folder, SystemClock()).take() == []
    assert [path.name for path in folder.iterdir()] == [".new.json.tmp"]


# ── waiting ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_bell_wakes_a_waiting_engine(folder: Path) -> None:
    """The clock stands still, so that only the bell can wake it."""
    send(folder, Pause(id="before"))
    inbox = Inbox(folder, VirtualClock())
    arrivals = inbox.arrivals()
    [(name, first)] = await anext(arrivals)
    inbox.done(name)
    assert first.id == "before"  # type: ignore[union-attr]
    for n in range(3):
        waiting = asyncio.ensure_future(anext(arrivals))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", SEND, str(folder), str(n)], check=True, cwd=REPO)
        [(name, command)] = await asyncio.wait_for(waiting, 10)
        assert command.id == str(n)  # type: ignore[union-attr]
        inbox.done(name)
    await arrivals.aclose()
    assert list(folder.iterdir()) == []


async def test_without_a_bell_the_poll_finds_it(folder: Path) -> None:
    clock = VirtualClock()
    inbox = Inbox(folder, clock)
    (folder / ".bell").mkdir()
    waiting = asyncio.ensure_future(anext(inbox.arrivals()))
    await clock.advance(0.5)
    send(folder, Pause(id="a"))
    await clock.advance(0.1)
    assert not waiting.done()
    await clock.advance(2)
    assert waiting.done()
    assert len(waiting.result()) == 1


async def test_idle_waiting_costs_next_to_nothing(folder: Path) -> None:
    """Counted, not timed: looks at the folder in an hour of silence."""
    clock, looks = VirtualClock(), 0

    class Counting(Inbox):
        def take(self) -> list:
            nonlocal looks
            looks += 1
            return super().take()

    waiting = asyncio.ensure_future(anext(Counting(folder, clock).arrivals()))
    await clock.advance(3600)
    assert looks <= 3601
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_sender_without_an_engine_does_not_wait(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / ".bell")  # left by an engine that was killed
    send(folder, Pause(id="a"))
    arrivals = Inbox(folder, VirtualClock()).arrivals()
    assert len(await anext(arrivals)) == 1
    await arrivals.aclose()
