"""The one live channel: facts without gaps, everything live, commands and queries; nobody who watches holds it up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import VERSION
from engine.channel import address
from engine.channel import messages as ms
from engine.channel import server as server_module
from engine.channel.address import connected
from engine.channel.client import Caller, ChannelClosed
from engine.core.activity import AgentOutput
from engine.core.commands import Pause, Resume
from engine.core.events import Envelope
from engine.perform.process.reaper import is_no_child_of_ours
from tests.channel.ground import seqs_until, standing
from tests.depth import examples
from tests.patience import patience


async def test_facts_come_in_order_without_gaps_whenever_one_looks_in(tmp_path: Path) -> None:
    """Viewers come at random moments of a stream of facts, at random places in it."""
    dice = random.Random(7)
    async with standing(tmp_path) as stand:
        viewers = []
        for number in range(400):
            stand.fact(str(number))
            if dice.random() < 0.05:
                after = dice.randint(0, len(stand.journal))
                viewers.append((after, await stand.watch(after)))
            if dice.random() < 0.3:
                await asyncio.sleep(0)
        assert len(viewers) > 10
        for after, watching in viewers:
            assert await seqs_until(watching, 400) == list(range(after + 1, 401))


async def test_a_newcomer_sees_what_is_under_way(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        stand.word("before")
        stand.word("of another", effect="e0")
        stand.fact()
        await asyncio.sleep(0.05)
        watching = await stand.watch()
        await asyncio.sleep(0.05)
        stand.word("after")
        words = []
        async for item in watching.items():
            if isinstance(item, AgentOutput):
                words.append(item.tool)
                if item.tool == "after":
                    break
        assert words == ["before", "of another", "after"]
        # One that knows the end of the other effect has its words from its log.
        knowing = await stand.watch(after=1)
        stand.word("later")
        words = []
        async for item in knowing.items():
            if isinstance(item, AgentOutput):
                words.append(item.tool)
                if item.tool == "later":
                    break
        assert words == ["before", "after", "later"]


async def test_commands_and_queries(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        watching = await stand.watch()
        reading = asyncio.create_task(seqs_until(watching, 1))
        assert (await watching.tell(Pause(by="me"))).ok
        assert not (await watching.tell(Resume())).ok
        assert await watching.ask(b'{"query":"sprints"}') == b'{"text":"19 bytes"}'
        stand.fact()
        assert await reading == [1]
        assert [type(command) for command in stand.told] == [Pause, Resume]

        def from_a_shell() -> ms.Reply:
            with Caller(stand.path, VERSION, timeout=patience(10)) as engine:
                assert engine.welcome.sprint == "001-s"
                return engine.tell(Pause())

        assert (await asyncio.to_thread(from_a_shell)).detail == "heard"


async def test_who_watches_is_counted_and_who_only_says_something_is_not(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        one, two = await stand.watch(), await stand.watch()
        await asyncio.to_thread(lambda: Caller(stand.path, VERSION, timeout=patience(10)).close())
        assert stand.server.viewers == 2
        one.close()
        two.close()
        while stand.server.viewers:
            await asyncio.sleep(0.01)
        assert stand.counts == [1, 2, 1, 0]


async def test_only_its_owner_may_open_it(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        assert stat.S_IMODE(stand.path.stat().st_mode) == 0o600
    assert not stand.path.exists()


async def test_another_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    async with standing(tmp_path) as stand:
        with pytest.raises(ChannelClosed, match="hung up"):
            await stand.watch()
        assert stand.counts == []


async def test_what_the_engine_started_itself_may_not_speak(tmp_path: Path) -> None:
    """An agent without a sandbox could answer its own gate: it is beneath the engine, however often it forks."""
    speak = (
        "import os, socket, sys\n"
        "if len(sys.argv) > 2 and os.fork():\n    os.wait(), sys.exit(0)\n"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        'try: s.sendall(b\'{"say":"hello","protocol":1,"version":"1"}\\n\'); heard = s.recv(100)\n'
        "except OSError: heard = b''\n"
        "print(len(heard))"
    )
    async with standing(tmp_path, is_no_child_of_ours) as stand:
        for more in ((), ("fork",)):
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-c", speak, str(stand.path), *more, stdout=asyncio.subprocess.PIPE
            )
            assert (await child.communicate())[0] == b"0\n"
        with contextlib.closing(await asyncio.to_thread(Caller, stand.path, VERSION, 10)) as caller:
            assert caller.welcome.sprint == "001-s"


@pytest.mark.parametrize("system", ["with /proc", "without"])
async def test_a_path_too_long_for_a_socket_is_reached_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    if system == "without":
        monkeypatch.setattr(address, "OPEN_FOLDERS", tmp_path / "no proc")
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    async with standing(deep) as stand:
        stand.fact()
        assert await seqs_until(await stand.watch(), 1) == [1]


async def test_another_version_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with standing(tmp_path) as stand:
        monkeypatch.setattr("engine.channel.client.ms.PROTOCOL", ms.PROTOCOL)
        link = await asyncio.to_thread(connected, stand.path)
        reader, writer = await asyncio.open_unix_connection(sock=link)
        writer.write(ms.encode(ms.Hello(protocol=99, version="9")))
        refused = ms.decode_heard(await reader.readline())
        assert isinstance(refused, ms.Refused)
        assert "another version" in refused.reason
        assert await reader.read() == b""


async def test_without_an_engine_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ChannelClosed, match="no engine listens"):
        Caller(tmp_path / "none.sock", VERSION)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead.sock"))
    dead.close()
    with pytest.raises(ChannelClosed, match="no engine listens"):
        Caller(tmp_path / "dead.sock", VERSION)


@settings(max_examples=examples(60), deadline=None)
@given(garbage=st.one_of(st.binary(max_size=300), st.just(b"{" * 2000), st.just(b'{"say":"tell"}\n'), st.just(b"\n")))
def test_garbage_harms_nobody(garbage: bytes) -> None:
    import tempfile

    async def attacked(folder: Path) -> None:
        async with standing(folder) as stand:
            watching = await stand.watch()
            for opening in (b"", ms.encode(ms.Hello(protocol=ms.PROTOCOL, version="1", watching=True))):
                link = await asyncio.to_thread(connected, stand.path)
                _reader, writer = await asyncio.open_unix_connection(sock=link)
                writer.write(opening + garbage + b"\n")
                writer.close()
            stand.fact()
            assert await seqs_until(watching, 1) == [1]
            watching.close()
            while stand.server.viewers:
                await asyncio.sleep(0.001)
            assert stand.told == []

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(attacked(Path(folder)))


async def test_who_sends_garbage_first_is_told_so_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes again at once is slowed down; the others are not."""
    slept: list[float] = []
    real = asyncio.sleep

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr(server_module.asyncio, "sleep", noted)
    async with standing(tmp_path) as stand:
        link = await asyncio.to_thread(connected, stand.path)
        reader, writer = await asyncio.open_unix_connection(sock=link)
        writer.write(b"\x00{nonsense\n")
        assert isinstance(ms.decode_heard(await reader.readline()), ms.Refused)
        assert slept == [server_module.BAD_HELLO_SECONDS]
        watching = await stand.watch()
        assert slept == [server_module.BAD_HELLO_SECONDS], "who says hello waits for nobody"
        watching.close()


async def test_too_many_at_once_are_sent_away_and_those_inside_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "MOST_OPEN", 3)
    async with standing(tmp_path) as stand:
        inside = [await stand.watch() for _ in range(3)]
        with pytest.raises(ChannelClosed):
            await stand.watch()
        stand.fact()
        for watching in inside:
            assert await seqs_until(watching, 1) == [1]
            watching.close()


async def test_a_burst_reaches_each_viewer_in_few_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty viewers cost the engine a write each for a frame, not for a fact; nothing is lost or out of order."""
    writes: list[int] = []
    real = asyncio.StreamWriter.write

    def counted(self: asyncio.StreamWriter, data: bytes) -> None:
        writes.append(len(data))
        real(self, data)

    monkeypatch.setattr(asyncio.StreamWriter, "write", counted)
    async with standing(tmp_path) as stand:
        watching = await stand.watch()
        while not stand.server.viewers:
            await asyncio.sleep(0.001)
        for _ in range(300):
            stand.fact()
            await asyncio.sleep(0)
        assert await seqs_until(watching, 300) == list(range(1, 301))
        watching.close()
    assert len(writes) < 60


async def test_twenty_viewers_are_written_to_no_oftener_than_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces to all of them together, while something is said all the time."""
    pieces = [0]
    real = server_module._Viewer.take
    monkeypatch.setattr(server_module._Viewer, "take", lambda self, piece: (pieces.append(1), real(self, piece))[1])
    counted = {}
    for viewers in (4, 20):
        (place := tmp_path / str(viewers)).mkdir()
        async with standing(place) as stand:
            waiting = [await stand.watch() for _ in range(viewers)]
            pieces.clear()
            began = asyncio.get_running_loop().time()
            for number in range(100):
                stand.fact(str(number))
                await asyncio.sleep(0.01)
            counted[viewers] = len(pieces) / (asyncio.get_running_loop().time() - began)
            for watching in waiting:
                assert await seqs_until(watching, 100) == list(range(1, 101))
    assert counted[20] < 1.5 * counted[4], counted


async def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        link = await asyncio.to_thread(connected, stand.path)
        reader, writer = await asyncio.open_unix_connection(sock=link)
        writer.write(ms.encode(ms.Hello(protocol=ms.PROTOCOL, version="1")))
        assert isinstance(ms.decode_heard(await reader.readline()), ms.Welcome)
        writer.write(b"x" * (2 * ms.LARGEST))
        refused = ms.decode_heard(await reader.readline())
        assert isinstance(refused, ms.Refused)


async def test_one_that_never_reads_is_let_go_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "FACTS_KEPT", 150)
    async with standing(tmp_path) as stand:
        link = await asyncio.to_thread(connected, stand.path)
        link.sendall(ms.encode(ms.Hello(protocol=ms.PROTOCOL, version="1", watching=True)))
        while not stand.server.viewers:
            await asyncio.sleep(0.01)
        good = await stand.watch()
        arrived = [0]
        reading = asyncio.create_task(seqs_until(good, 10**9, arrived))
        while stand.server.viewers > 1:
            seen = stand.fact("y" * 20_000).seq
            stand.word("z" * 1000)
            while seen - arrived[-1] > 20:  # the good one is given its time
                assert not reading.done()
                await asyncio.sleep(0.001)
        while arrived[-1] < seen:
            await asyncio.sleep(0.001)
        reading.cancel()
        assert arrived == list(range(seen + 1))
        link.close()
        # It comes back and reads on from wherever it was.
        assert await seqs_until(await stand.watch(7), seen) == list(range(8, seen + 1))


@pytest.mark.parametrize("seed", range(6))
async def test_whoever_reads_by_fits_and_starts_misses_no_fact(tmp_path: Path, seed: int) -> None:
    """Written at once while one keeps up, queued while not, in turns: every fact once, in order, to each of them."""
    rng = random.Random(seed)
    async with standing(tmp_path) as stand:
        viewers = [await stand.watch() for _ in range(4)]
        while stand.server.viewers < 4:
            await asyncio.sleep(0.001)
        got: list[list[int]] = [[] for _ in viewers]

        async def read(number: int) -> None:
            async for one in viewers[number].items():
                if isinstance(one, Envelope):
                    got[number].append(one.seq)
                if rng.random() < number / 10:  # the first never stops
                    await asyncio.sleep(rng.uniform(0, 0.05))

        reading = [asyncio.create_task(read(number)) for number in range(4)]
        for _ in range(150):
            last = stand.fact("y" * rng.choice((1, 5_000, 60_000))).seq
            stand.word("z")
            await asyncio.sleep(rng.choice((0, 0, 0.002, 0.05)))
        while any(not seen or seen[-1] < last for seen in got):
            assert not any(task.done() for task in reading)
            await asyncio.sleep(0.01)
        assert got == [list(range(1, last + 1))] * 4
        for task in reading:
            task.cancel()


async def test_one_that_never_reads_does_not_hold_the_end_up(tmp_path: Path) -> None:
    """A dashboard that was stopped with Ctrl+Z, and more waits for it than the kernel takes."""
    async with standing(tmp_path) as stand:
        link = await asyncio.to_thread(connected, stand.path)
        link.sendall(ms.encode(ms.Hello(protocol=ms.PROTOCOL, version="1", watching=True)))
        while not stand.server.viewers:
            await asyncio.sleep(0.01)
        for _ in range(100):
            stand.fact("y" * 20_000)
        await asyncio.sleep(0.1)
    assert stand.server.viewers == 0
    link.close()


async def test_the_last_words_arrive_before_the_end(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        watching = await stand.watch()
        await asyncio.sleep(0.05)
        for _ in range(50):
            stand.fact()
    assert await seqs_until(watching, 50) == list(range(1, 51))
