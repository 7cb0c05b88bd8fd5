"""However a process misbehaves and however it ends: nothing of it is alive afterwards, and the end comes in time."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.perform import proctable
from engine.perform.contract import Finished, ProcessSpec
from engine.perform.process import start_detached
from engine.perform.reaper import end_orphans, find_orphans
from tests.process.conftest import Grounds, need, survivors

MODES = ("none", "landlock", "bwrap")
TALKERS = ("floods", "endless_line", "drips")
KINDS = (
    *("setsid", "double_fork", "ignores_sigterm", "stopped", "holds_pipe", "leaves_daemon", "zombie"),
    *("waits_on_stdin", "closes_stdout", "silent", *TALKERS),
)
LIMIT = 0.6
SLACK = 5.0
REASONS = {"timeout": {"timeout", "flood"}, "idle": {"idle", "flood"}, "cancel": {"cancelled"}, "exit": {"exited"}}


def limits(ending: str) -> dict[str, float]:
    return {"timeout": {"timeout": LIMIT}, "idle": {"idle_timeout": LIMIT}}.get(ending, {})


async def stopped(grounds: Grounds, spawner, kind: str, ending: str, marker: str) -> str:
    """One case; returns what is wrong with it."""
    spec = grounds.naughty(
        kind,
        marker,
        leaving=ending == "exit",
        max_total=3_000_000,
        keep_stdin=kind == "waits_on_stdin",
        **limits(ending),
    )
    heard = asyncio.Event()
    began = time.monotonic()
    task = asyncio.ensure_future(spawner.run(spec, lambda line: heard.set()))
    if ending == "cancel":
        if kind in ("silent", "endless_line"):
            await asyncio.sleep(0.3)
        else:
            await asyncio.wait_for(heard.wait(), 10)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        task.cancel()
        try:
            reason = (await task).reason
        except asyncio.CancelledError:
            reason = "cancelled"
        # A flood ends by its own size before we come to cancel it.
        expected = REASONS["cancel"] | ({"flood"} if kind in TALKERS else set())
    else:
        reason = (await task).reason
        expected = REASONS[ending]
    took = time.monotonic() - began
    alive = survivors(marker)
    wrong = []
    if reason not in expected:
        wrong.append(f"reason {reason}")
    if alive:
        wrong.append(f"alive {alive}")
    if took > LIMIT + SLACK:
        wrong.append(f"took {took:.1f} s")
    return ", ".join(wrong)


@pytest.mark.parametrize("ending", ["timeout", "idle", "cancel", "exit"])
@pytest.mark.parametrize("mode", MODES)
async def test_nothing_survives(grounds: Grounds, marker: str, mode: str, ending: str) -> None:
    spawner = grounds.spawner(mode)
    # A dripping child is never idle: only the absolute timer ends it.
    kinds = [kind for kind in KINDS if not (ending == "idle" and kind == "drips")]
    results = await asyncio.gather(*(stopped(grounds, spawner, kind, ending, f"{marker}-{kind}.") for kind in kinds))
    wrong = {kind: result for kind, result in zip(kinds, results, strict=True) if result}
    assert not wrong
    assert not survivors(marker)


@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", MODES)
async def test_two_hundred_stops(grounds: Grounds, marker: str, mode: str) -> None:
    spawner = grounds.spawner(mode)
    seed = int(os.environ.get("DEVTEAM_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}")
    chance = random.Random(seed)
    cases = [(KINDS[n % len(KINDS)], chance.choice(["timeout", "idle", "cancel", "exit"])) for n in range(200)]
    cases = [(kind, "timeout" if kind == "drips" and ending == "idle" else ending) for kind, ending in cases]
    turn = asyncio.Semaphore(8)

    async def one(number: int, kind: str, ending: str) -> str:
        async with turn:
            return await stopped(grounds, spawner, kind, ending, f"{marker}-{number}.")

    results = await asyncio.gather(*(one(n, *case) for n, case in enumerate(cases)))
    assert not {case: result for case, result in zip(cases, results, strict=True) if result}
    assert not survivors(marker)


@pytest.mark.parametrize("ending", ["timeout", "cancel", "exit"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_child_that_clears_its_environment_and_detaches(
    grounds: Grounds, marker: str, mode: str, ending: str
) -> None:
    assert await stopped(grounds, grounds.spawner(mode), "clears_environment", ending, marker) == ""


@pytest.mark.parametrize("mode", MODES)
async def test_one_ending_leaves_other_children_alone(grounds: Grounds, marker: str, mode: str) -> None:
    """Orphans of a family that is older, and of one that is younger, than the family that ends."""
    spawner = grounds.spawner(mode)

    async def started(name: str, **more: float) -> asyncio.Future[Finished]:
        heard = asyncio.Event()
        spec = grounds.naughty("double_fork", f"{marker}-{name}.", **more)
        task = asyncio.ensure_future(spawner.run(spec, lambda line: heard.set()))
        await asyncio.wait_for(heard.wait(), 10)
        await asyncio.sleep(0.15)
        return task

    older = await started("older")
    short = await started("short", timeout=1.0)
    younger = await started("younger")
    before = {name: set(survivors(f"{marker}-{name}.")) for name in ("older", "younger")}
    assert min(map(len, before.values())) >= 2
    assert (await short).reason == "timeout"
    assert not survivors(f"{marker}-short.")
    assert {name: set(survivors(f"{marker}-{name}.")) for name in before} == before
    for other in (older, younger):
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
    assert not survivors(marker)


@pytest.mark.parametrize("mode", MODES)
async def test_cancelled_twice_and_at_once(grounds: Grounds, marker: str, mode: str) -> None:
    spawner = grounds.spawner(mode)
    for pause in (0.0, 0.005, 0.02, 0.08):
        task = asyncio.ensure_future(spawner.run(grounds.naughty("ignores_sigterm", marker)))
        await asyncio.sleep(pause)
        task.cancel()
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not survivors(marker)


DRIVER = """
import asyncio, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.process.conftest import Grounds
async def main():
    mode, base, run_id, marker = sys.argv[2:6]
    grounds = Grounds(base=Path(base), run_id=run_id)
    spawner = grounds.spawner(mode)
    for kind in sys.argv[6:]:
        heard = asyncio.Event()
        asyncio.ensure_future(spawner.run(grounds.naughty(kind, marker, timeout=60.0), lambda line: heard.set()))
        if kind != "silent":
            await asyncio.wait_for(heard.wait(), 20)
    await asyncio.sleep(0.2)
    print("running", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_engine_leaves_nothing_after_the_next_start(tmp_path: Path, marker: str, mode: str) -> None:
    need(mode)
    root = Path(__file__).parents[2]
    run_id = f"run-{marker}"
    kinds = [kind for kind in KINDS if kind not in ("floods", "endless_line")]
    base = Path(os.path.realpath(tmp_path)) / "g"
    command = [sys.executable, "-c", DRIVER, str(root), mode, str(base), run_id, f"m{marker}", *kinds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as engine:
        try:
            assert engine.stdout and engine.stdout.readline() == b"running\n"
            assert len(find_orphans(run_id)) >= len(kinds)
        finally:
            engine.kill()
        engine.wait()
    if mode == "bwrap":
        # Everything dies with the engine; nobody needs to come and look.
        deadline = time.monotonic() + 3
        while survivors(f"m{marker}") and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not survivors(f"m{marker}")
    began = time.monotonic()
    ended = end_orphans(run_id)
    assert time.monotonic() - began < 5
    assert ended.left == ()
    assert mode == "bwrap" or ended.ended > 0
    assert not survivors(f"m{marker}")
    assert find_orphans(run_id) == ()


def test_orphans_never_name_this_process_or_one_above(monkeypatch: pytest.MonkeyPatch) -> None:
    own = proctable.environment(os.getpid())
    for name, value in own.items():
        if name == "PATH":
            monkeypatch.setattr("engine.perform.reaper.RUN_ID", "PATH")
            assert not set(find_orphans(value)) & proctable.ancestors(os.getpid())


async def test_wait_statuses_of_others_are_not_stolen(grounds: Grounds, marker: str) -> None:
    """Children of other code, dead but not yet waited for, keep their exit codes."""
    spawner = grounds.spawner("none")
    plain = subprocess.Popen(["sh", "-c", "exit 7"])
    own_session = subprocess.Popen(["sh", "-c", "exit 8"], start_new_session=True)
    theirs = await asyncio.create_subprocess_exec("sh", "-c", "exit 9")
    await asyncio.sleep(0.2)
    for _ in range(3):
        assert (await spawner.run(grounds.naughty("double_fork", marker, leaving=True))).reason == "exited"
    assert plain.wait() == 7
    assert own_session.wait() == 8
    assert await theirs.wait() == 9


@pytest.mark.parametrize("mode", MODES)
async def test_no_zombies_pile_up(grounds: Grounds, marker: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.perform.reaper.STRAY_SECONDS", 0.0)
    spawner = grounds.spawner(mode)

    def zombies() -> int:
        return sum(1 for pid in proctable.children(os.getpid()) if (e := proctable.entry(pid)) and not e.alive)

    for kind in ("setsid", "double_fork", "leaves_daemon", "zombie"):
        await spawner.run(grounds.naughty(kind, marker, leaving=True))
    for _ in range(2):
        await spawner.run(grounds.spec("true"))
    assert zombies() == 0


async def test_a_stray_zombie_is_collected_later(grounds: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """A detached grandchild that ended by itself, long before its family did."""
    now = [0.0]
    spawner = grounds.spawner("none")
    spawner._clock = lambda: now[0]
    # The inner one loses its parent, comes to us, and ends while the family still runs.
    script = "setsid sh -c 'setsid sh -c \"sleep 0.1\" & exit 0' & sleep 0.4"

    def dead() -> set[int]:
        return {pid for pid in proctable.children(os.getpid()) if (e := proctable.entry(pid)) and not e.alive}

    before = dead()
    await spawner.run(grounds.spec("sh", "-c", script))
    assert dead() > before
    now[0] += 10
    await spawner.run(grounds.spec("true"))
    now[0] += 10
    await spawner.run(grounds.spec("true"))
    assert not dead() - before


async def test_a_forking_child_cannot_outrun_the_end(grounds: Grounds, marker: str) -> None:
    source = "import os, time\nfor _ in range(60):\n  if os.fork() == 0:\n    os.setsid()\n    break\ntime.sleep(99)"
    finished = await grounds.spawner("none").run(grounds.python(source, marker, timeout=0.5))
    assert finished.reason == "timeout"
    assert not survivors(marker)


async def test_the_end_is_asked_for_before_it_is_forced(grounds: Grounds, marker: str) -> None:
    """A program that tidies up on SIGTERM gets its time; one that must not be asked is killed at once."""
    source = (
        "import os, signal, sys, time\n"
        "def tidy(*_):\n    time.sleep(0.1); os.write(1, b'tidied'); os._exit(5)\n"
        "signal.signal(signal.SIGTERM, tidy)\nos.write(1, b'ready ')\ntime.sleep(99)"
    )
    for mode in MODES:
        spawner = grounds.spawner(mode, grace=3.0)
        polite = await spawner.run(grounds.python(source, marker, timeout=0.6))
        assert (polite.reason, polite.stdout) == ("timeout", b"ready tidied"), mode
        harsh = await spawner.run(grounds.python(source, marker, timeout=0.6, graceful=False))
        assert (harsh.reason, harsh.stdout, harsh.exit_code) == ("timeout", b"ready ", -signal.SIGKILL), mode


async def test_a_child_that_says_something_is_not_idle(grounds: Grounds, marker: str) -> None:
    finished = await grounds.spawner("none").run(grounds.naughty("drips", marker, timeout=1.0, idle_timeout=0.4))
    assert finished.reason == "timeout"


async def test_no_confinement_is_still_ended(grounds: Grounds, marker: str) -> None:
    for mode in MODES:
        spec: ProcessSpec = grounds.naughty("double_fork", marker, timeout=0.4, confine=None)
        assert (await grounds.spawner(mode).run(spec)).reason == "timeout"
        assert not survivors(marker)


async def test_a_detached_process_is_left_alone_and_writes_its_log(grounds: Grounds, marker: str) -> None:
    spawner = grounds.spawner("none")
    log = grounds.base / "engine.log"
    running = asyncio.ensure_future(spawner.run(grounds.naughty("setsid", f"{marker}-family", timeout=0.6)))
    await asyncio.sleep(0.2)
    argv = [sys.executable, "-u", "-c", "import time; print('here'); time.sleep(60)", f"{marker}-detached"]
    pid = start_detached(argv, cwd=grounds.base, env=grounds.env(), log=log)
    try:
        assert (await running).reason == "timeout"
        assert not survivors(f"{marker}-family")
        assert survivors(f"{marker}-detached") == [pid]
        assert os.getsid(pid) == pid
        assert log.read_bytes() == b"here\n" and log.stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(pid, signal.SIGKILL)
