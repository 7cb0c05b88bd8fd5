"""What a child says: whole lines, cut lines, floods, slow listeners; what it is told on stdin."""

import asyncio
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.sandboxes import SandboxName
from engine.perform.process.pump import CUT, Lines, Tail
from tests.patience import patience, slowed
from tests.process.conftest import MODES, Grounds, here, survivors


@given(st.lists(st.binary(max_size=40)), st.integers(1, 12))
def test_lines_do_not_depend_on_the_chunks(chunks: list[bytes], longest: int) -> None:
    got: list[bytes] = []
    lines = Lines(got.append, longest, 0, lambda: 0.0)
    for chunk in chunks:
        lines.feed(chunk)
    lines.close()
    whole = b"".join(chunks)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert got == [line if len(line) <= longest else line[:longest] + CUT % longest for line in expected]


def test_more_lines_than_the_rate_are_counted_not_passed() -> None:
    now = [0.0]
    got: list[bytes] = []
    lines = Lines(got.append, 100, 3, lambda: now[0])
    lines.feed(b"a\n" * 10)
    assert (len(got), lines.dropped) == (3, 7)
    now[0] = 1.0
    lines.feed(b"b\n" * 4)
    assert (len(got), lines.dropped) == (6, 8)


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_the_tail_is_the_end(chunks: list[bytes], cap: int) -> None:
    tail = Tail(cap)
    for chunk in chunks:
        tail.add(chunk)
    assert tail.value() == b"".join(chunks)[-cap:]


@pytest.mark.parametrize("mode", MODES)
async def test_both_streams_are_read_and_the_exit_code_is_told(grounds: Grounds, mode: SandboxName) -> None:
    out: list[bytes] = []
    err: list[bytes] = []
    script = "printf 'one\\ntwo\\n\\nlast'; printf 'oops\\n' >&2; exit 3"
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", script), out.append, err.append)
    assert (finished.reason, finished.exit_code, finished.error) == ("exited", 3, "")
    assert out == [b"one", b"two", b"", b"last"]
    assert err == [b"oops"]
    assert finished.stdout == b"one\ntwo\n\nlast"
    assert finished.stderr == b"oops\n"
    assert 0 < finished.seconds < 10


@pytest.mark.parametrize("mode", MODES)
async def test_a_program_that_is_not_there(grounds: Grounds, mode: SandboxName) -> None:
    finished = await grounds.spawner(mode).run(grounds.spec("no-such-program-anywhere"))
    assert (finished.reason, finished.exit_code) == ("not_started", None)
    assert "no-such-program-anywhere" in finished.error


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param({"argv": ()}, "empty command", id="no command"),
        pytest.param({"argv": ("a\0b",)}, "", id="NUL in the command"),
        pytest.param({"argv": ("true", "x" * 200_000)}, "too long", id="argument too long"),
        pytest.param({"cwd": Path("/no/such/folder"), "confine": None}, "/no/such/folder", id="no such folder"),
    ],
)
async def test_what_cannot_start_is_said(grounds: Grounds, more: dict, words: str) -> None:
    given_ = {"argv": ("true",), **more}
    spec = grounds.spec(*given_.pop("argv"), **given_)
    finished = await grounds.spawner("none").run(spec)
    assert finished.reason == "not_started"
    assert words in finished.error.lower() and finished.error


@pytest.mark.parametrize("mode", MODES)
async def test_stdin_is_written_beside_the_reading(grounds: Grounds, mode: SandboxName) -> None:
    """More than any pipe holds, in both directions at once."""
    data = os.urandom(3_000_000)
    source = "import sys, zlib\nd = sys.stdin.buffer.read()\nsys.stdout.write('y' * 2_000_000)\nprint(zlib.crc32(d))"
    finished = await grounds.spawner(mode).run(grounds.python(source, stdin=data))
    assert finished.stdout.endswith(f"y{zlib.crc32(data)}\n".encode())


async def test_a_child_that_never_reads_its_stdin(grounds: Grounds, marker: str) -> None:
    spawner = grounds.spawner("none")
    deaf = await spawner.run(grounds.spec("sh", "-c", "echo hi", stdin=b"z" * 5_000_000))
    assert (deaf.reason, deaf.exit_code, deaf.stdout) == ("exited", 0, b"hi\n")
    asleep = await spawner.run(
        grounds.python("import time; time.sleep(60)", marker, stdin=b"z" * 5_000_000, timeout=slowed(0.3))
    )
    assert asleep.reason == "timeout"
    assert not survivors(marker)


async def test_no_stdin_is_an_empty_one(grounds: Grounds) -> None:
    assert (await grounds.spawner("none").run(grounds.spec("cat"))).exit_code == 0


@pytest.mark.parametrize("mode", MODES)
async def test_a_grandchild_that_holds_the_pipe_delays_nothing(
    grounds: Grounds, mode: SandboxName, marker: str
) -> None:
    finished = await grounds.spawner(mode).run(grounds.naughty("holds_pipe", marker, leaving=True))
    assert (finished.reason, finished.exit_code) == ("exited", 0), "the grandchild holds it longer than we would wait"


async def test_the_last_words_of_a_child_are_heard(grounds: Grounds) -> None:
    source = "import os; os.write(1, b'w' * 60_000 + b'\\nthe end')"
    lines: list[bytes] = []
    for _ in range(10):
        finished = await grounds.spawner("none").run(grounds.python(source), lines.append)
        assert finished.stdout.endswith(b"the end") and lines.pop() == b"the end"


async def test_a_flood_ends_the_child(grounds: Grounds, marker: str) -> None:
    finished = await grounds.spawner("none").run(grounds.naughty("floods", marker, max_total=1_000_000))
    assert finished.reason == "flood"
    assert len(finished.stdout) <= 262_144
    assert not survivors(marker)


async def test_standard_error_floods_too(grounds: Grounds) -> None:
    finished = await grounds.spawner("none").run(grounds.spec("sh", "-c", "yes oops >&2", max_total=500_000))
    assert finished.reason == "flood"


async def test_long_lines_are_cut_and_marked(grounds: Grounds) -> None:
    lines: list[bytes] = []
    source = "import os\nfor _ in range(20): os.write(1, b'x' * 50_000)\nos.write(1, b'\\nshort\\n')"
    await grounds.spawner("none").run(grounds.python(source, max_line=1000), lines.append)
    assert lines == [b"x" * 1000 + CUT % 1000, b"short"]


async def test_a_listener_that_fails_ends_the_child(grounds: Grounds, marker: str) -> None:
    def bad(line: bytes) -> None:
        raise LookupError("listener")

    with pytest.raises(LookupError, match="listener"):
        await grounds.spawner("none").run(grounds.naughty("setsid", marker), bad)
    assert not survivors(marker)


async def test_limits_are_set_before_the_program_runs(grounds: Grounds) -> None:
    source = (
        "import resource as r\n"
        "print(r.getrlimit(r.RLIMIT_CORE)[1], r.getrlimit(r.RLIMIT_AS)[1], r.getrlimit(r.RLIMIT_NOFILE)[1] <= 65536)"
    )
    for mode in here():
        spec = grounds.spec(sys.executable, "-I", "-c", source, memory_bytes=3_000_000_000)
        finished = await grounds.spawner(mode).run(spec)
        words = finished.stdout.split()
        assert words[0] == b"0" and words[2] == b"True", (mode, finished)
        assert abs(int(words[1]) - 3_000_000_000) < 4096, mode
        eater = await grounds.spawner(mode).run(grounds.python("x = bytearray(900_000_000)", memory_bytes=400_000_000))
        assert eater.exit_code not in (0, None) and b"MemoryError" in eater.stderr, mode


async def test_the_child_knows_its_run_and_nothing_else(grounds: Grounds) -> None:
    spec = grounds.spec("env", env={"PATH": os.environ["PATH"], "HOME": str(grounds.home), "MINE": "1"})
    finished = await grounds.spawner("none").run(spec)
    names = {line.partition(b"=")[0] for line in finished.stdout.splitlines()}
    own = {b"PATH", b"HOME", b"MINE", b"TMPDIR", b"CLAUDE_CODE_TMPDIR", b"PWD", b"OLDPWD", b"_"}
    assert names - own == {b"DEVTEAM_RUN_ID", b"DEVTEAM_PROCESS"}
    assert b"DEVTEAM_RUN_ID=" + grounds.run_id.encode() in finished.stdout


MEASURE = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.process.conftest import MODES, Grounds
async def main():
    grounds = Grounds(base=Path(sys.argv[2]))
    spawner = grounds.spawner("none")
    await spawner.run(grounds.python("print(1)"), lambda line: None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total = 0
    def count(line):
        nonlocal total
        total += len(line)
    finished = await spawner.run(grounds.python(sys.argv[3], timeout=600.0, max_total=200_000_000), count)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(finished.reason, total, after - before)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("source", "heard"),
    [
        pytest.param(
            "import os\nfor _ in range(2000): os.write(1, (b'y' * 499 + b'\\n') * 100)", 99_800_000, id="flood"
        ),
        pytest.param("import os\nfor _ in range(2000): os.write(1, b'y' * 50_000)", 1_000_000, id="one line"),
    ],
)
def test_a_hundred_megabytes_cost_little_memory(tmp_path: Path, source: str, heard: int) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", MEASURE, str(root), str(tmp_path / "g"), source]
    reason, total, kilobytes = subprocess.run(
        command, capture_output=True, check=True, timeout=patience(60)
    ).stdout.split()
    assert reason == b"exited"
    assert heard <= int(total) <= heard + 100
    assert int(kilobytes) < 30_000


@pytest.mark.parametrize("mode", MODES)
async def test_a_conversation(grounds: Grounds, mode: SandboxName) -> None:
    async with grounds.spawner(mode).converse(grounds.spec("cat")) as talk:
        for word in (b"hello\n", b"again\n"):
            await talk.write(word)
            assert await asyncio.wait_for(talk.read(), patience(5)) == word
        assert talk.finished is None
        finished = await talk.stop()
    assert finished.reason == "cancelled"
    assert talk.finished == finished
    assert await talk.read() == b""


async def test_a_conversation_that_the_child_ends(grounds: Grounds) -> None:
    async with grounds.spawner("none").converse(grounds.spec("sh", "-c", "read x; echo got $x; exit 4")) as talk:
        await talk.write(b"word\n")
        said = b""
        while chunk := await asyncio.wait_for(talk.read(), patience(5)):
            said += chunk
    assert said == b"got word\n"
    assert talk.finished and (talk.finished.reason, talk.finished.exit_code) == ("exited", 4)
    await talk.write(b"to nobody")


@pytest.mark.parametrize("mode", MODES)
async def test_limits_hold_in_a_conversation(grounds: Grounds, mode: SandboxName, marker: str) -> None:
    spec = grounds.naughty("setsid", marker, timeout=slowed(0.5))
    async with grounds.spawner(mode).converse(spec) as talk:
        assert await asyncio.wait_for(talk.read(), patience(5)) == b"ready\n"
        assert await asyncio.wait_for(talk.read(), patience(5)) == b""
        await asyncio.wait_for(talk.stop(), patience(5))
    assert talk.finished and talk.finished.reason == "timeout"
    assert not survivors(marker)


async def test_leaving_a_conversation_ends_it(grounds: Grounds, marker: str) -> None:
    spawner = grounds.spawner("none")
    with pytest.raises(LookupError):
        async with spawner.converse(grounds.naughty("double_fork", marker)) as talk:
            await talk.read()
            raise LookupError
    assert not survivors(marker)

    async def forever() -> None:
        async with spawner.converse(grounds.naughty("ignores_sigterm", marker)) as talk:
            while True:
                await talk.read()

    task = asyncio.ensure_future(forever())
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not survivors(marker)


async def test_a_conversation_nobody_reads_waits_and_costs_no_memory(grounds: Grounds, marker: str) -> None:
    async with grounds.spawner("none").converse(grounds.naughty("floods", marker, max_total=10**9)) as talk:
        await asyncio.sleep(0.4)
        assert sum(map(len, talk._heard)) < 2_000_000  # type: ignore[attr-defined]
        size = 0
        while size < 5_000_000:
            size += len(await asyncio.wait_for(talk.read(), patience(5)))
    assert not survivors(marker)


async def test_a_conversation_that_cannot_start(grounds: Grounds) -> None:
    async with grounds.spawner("none").converse(grounds.spec("no-such-program")) as talk:
        assert await talk.read() == b""
        await talk.write(b"x")
        assert (await talk.stop()).reason == "not_started"
