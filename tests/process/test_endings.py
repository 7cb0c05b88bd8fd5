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

from engine.core.sandboxes import SandboxName
from engine.perform.process import proctable
from engine.perform.process.reaper import end_orphans, find_orphans
from engine.perform.process.spawner import start_detached
from engine.perform.process.spawning import Finished, ProcessSpec
from tests.patience import Deadline, eventually, longer, patience, slowed, until
from tests.process.conftest import MODES, Grounds, here, need, survivors

UNKNOWN = ("clears_environment", "runs_from_memory")
"""In a session of their own, without a parent, without any variable of ours; the second without a file either."""
TALKERS = ("floods", "endless_line", "drips")
KINDS = (
    *("setsid", "double_fork", "ignores_sigterm", "stopped", "holds_pipe", "leaves_daemon", "zombie"),
    *("waits_on_stdin", "closes_stdout", "silent", *TALKERS),
)
LIMIT = 0.6
SLACK = 5.0
REASONS = {"timeout": {"timeout", "flood"}, "idle": {"idle", "flood"}, "cancel": {"cancelled"}, "exit": {"exited"}}


def limits(ending: str) -> dict[str, float]:
    return {"timeout": {"timeout": slowed(LIMIT)}, "idle": {"idle_timeout": slowed(LIMIT)}}.get(ending, {})


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
            await asyncio.wait_for(heard.wait(), patience(10))
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
    if took > patience(LIMIT + SLACK):
        wrong.append(f"took {took:.1f} s")
    return ", ".join(wrong)


@pytest.mark.parametrize("ending", ["timeout", "idle", "cancel", "exit"])
@pytest.mark.parametrize("mode", MODES)
async def test_nothing_survives(grounds: Grounds, marker: str, mode: SandboxName, ending: str) -> None:
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
async def test_two_hundred_stops(grounds: Grounds, marker: str, mode: SandboxName) -> None:
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


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        *((kind, ending) for kind in UNKNOWN for ending in ("cancel", "exit")),
        ("clears_environment", "timeout"),
        ("runs_from_memory", "idle"),
        # Timers are waited for, and then end a family as the others do.
        pytest.param("clears_environment", "idle", marks=pytest.mark.torture),
        pytest.param("runs_from_memory", "timeout", marks=pytest.mark.torture),
    ],
)
@pytest.mark.parametrize("mode", MODES)
async def test_a_child_that_clears_its_environment_and_detaches(
    grounds: Grounds, marker: str, mode: SandboxName, kind: str, ending: str
) -> None:
    """With another family alive, whose own such child is left alone."""
    spawner = grounds.spawner(mode)
    heard = asyncio.Event()
    other = grounds.naughty(kind, f"{marker}-other.", timeout=patience(20))
    beside = asyncio.ensure_future(spawner.run(other, lambda line: heard.set()))
    await asyncio.wait_for(heard.wait(), patience(30))
    while len(survivors(f"{marker}-other.")) < 2:
        await asyncio.sleep(0.02)
    assert await stopped(grounds, spawner, kind, ending, f"{marker}-one.") == ""
    assert len(survivors(f"{marker}-other.")) >= 2
    beside.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beside
    assert not survivors(f"{marker}-other.")


@pytest.mark.parametrize("mode", MODES)
async def test_one_ending_leaves_other_children_alone(grounds: Grounds, marker: str, mode: SandboxName) -> None:
    """Orphans of a family that is older, and of one that is younger, than the family that ends."""
    spawner = grounds.spawner(mode)

    async def started(name: str, **more: float) -> asyncio.Future[Finished]:
        heard = asyncio.Event()
        spec = grounds.naughty("double_fork", f"{marker}-{name}.", **more)
        task = asyncio.ensure_future(spawner.run(spec, lambda line: heard.set()))
        await asyncio.wait_for(heard.wait(), patience(10))
        await eventually(lambda: len(survivors(f"{marker}-{name}.")) >= 2)
        return task

    older = await started("older")
    short = await started("short")
    younger = await started("younger")
    before = {name: set(survivors(f"{marker}-{name}.")) for name in ("older", "younger")}
    assert min(map(len, before.values())) >= 2
    short.cancel()
    with pytest.raises(asyncio.CancelledError):
        await short
    assert not survivors(f"{marker}-short.")
    for name, there in before.items():  # one may still have been starting when they were counted
        assert there <= set(survivors(f"{marker}-{name}."))
    for other in (older, younger):
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
    assert not survivors(marker)


@pytest.mark.parametrize("mode", MODES)
async def test_cancelled_twice_and_at_once(grounds: Grounds, marker: str, mode: SandboxName) -> None:
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
        asyncio.ensure_future(spawner.run(grounds.naughty(kind, marker, timeout=600.0), lambda line: heard.set()))
        if kind != "silent":
            await heard.wait()
    await asyncio.sleep(0.2)
    print("running", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_engine_leaves_nothing_after_the_next_start(tmp_path: Path, marker: str, mode: SandboxName) -> None:
    need(mode)
    root = Path(__file__).parents[2]
    run_id = f"run-{marker}"
    kinds = [*UNKNOWN, *(kind for kind in KINDS if kind not in ("floods", "endless_line"))]
    base = Path(os.path.realpath(tmp_path)) / "g"
    command = [sys.executable, "-c", DRIVER, str(root), mode, str(base), run_id, f"m{marker}", *kinds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as engine:
        try:
            assert engine.stdout and engine.stdout.readline() == b"running\n"
            assert len(find_orphans(run_id)) >= len(kinds)
        finally:
            engine.kill()
        engine.wait()
    if mode.mounts:
        # Everything dies with the engine; nobody needs to come and look.
        until(lambda: not survivors(f"m{marker}"), 3, every=0.02)
    ended = end_orphans(run_id)
    assert ended.left == ()
    assert mode.mounts or ended.ended > 0
    assert not survivors(f"m{marker}")
    assert find_orphans(run_id) == ()


def test_orphans_never_name_this_process_or_one_above(monkeypatch: pytest.MonkeyPatch) -> None:
    own = proctable.environment(os.getpid())
    for name, value in own.items():
        if name == "PATH":
            monkeypatch.setattr("engine.perform.process.reaper.RUN_ID", "PATH")
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
async def test_no_zombies_pile_up(
    grounds: Grounds, marker: str, mode: SandboxName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.perform.process.reaper.STRAY_SECONDS", 0.0)
    spawner = grounds.spawner(mode)

    def dead() -> set[tuple[int, int]]:
        found = (proctable.entry(pid) for pid in proctable.children(os.getpid()))
        return {(one.pid, one.start) for one in found if one is not None and not one.alive}

    others = dead()  # children of other tests, whose own loop is gone

    for kind in ("setsid", "double_fork", "leaves_daemon", "zombie"):
        await spawner.run(grounds.naughty(kind, marker, leaving=True))
    # One that dies between two runs is collected at the end of a later one: so long as we run, none stays.
    left, deadline = dead() - others, Deadline(20)
    while dead() & left:
        assert not deadline.over(), "the dead stay"
        await spawner.run(grounds.spec("true"))


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
    finished = await grounds.spawner("none").run(grounds.python(source, marker, timeout=slowed(0.5)))
    assert finished.reason == "timeout"
    assert not survivors(marker)


async def test_the_end_is_asked_for_before_it_is_forced(grounds: Grounds, marker: str) -> None:
    """A program that tidies up on SIGTERM gets its time; one that must not be asked is killed at once."""
    source = (
        "import os, signal, sys, time\n"
        "def tidy(*_):\n    time.sleep(0.1); os.write(1, b'tidied'); os._exit(5)\n"
        "signal.signal(signal.SIGTERM, tidy)\nos.write(1, b'ready ')\ntime.sleep(99)"
    )
    for mode in here():
        spawner = grounds.spawner(mode, grace=slowed(3.0))
        polite = await longer(
            lambda given, spawner=spawner: spawner.run(grounds.python(source, marker, timeout=given)),
            0.6,
            lambda finished: b"ready" in finished.stdout,
        )
        assert (polite.reason, polite.stdout) == ("timeout", b"ready tidied"), mode
        harsh = await longer(
            lambda given, spawner=spawner: spawner.run(grounds.python(source, marker, timeout=given, graceful=False)),
            0.6,
            lambda finished: b"ready" in finished.stdout,
        )
        assert (harsh.reason, harsh.stdout, harsh.exit_code) == ("timeout", b"ready ", -signal.SIGKILL), mode


async def test_a_child_that_says_something_is_not_idle(grounds: Grounds, marker: str) -> None:
    spawner = grounds.spawner("none")
    finished = await longer(
        lambda given: spawner.run(grounds.naughty("drips", marker, timeout=given, idle_timeout=given * 0.4)),
        1.0,
        lambda finished: finished.reason == "timeout",  # not idle because it was not given a core
    )
    assert finished.reason == "timeout"


async def test_a_child_that_still_works_at_its_time_is_let_go_on_up_to_a_bound(grounds: Grounds, marker: str) -> None:
    short, long = slowed(0.5), slowed(2.0)
    worker = await grounds.spawner("none").run(grounds.naughty("drips", marker, timeout=short, longest=long))
    assert worker.reason == "timeout" and worker.seconds >= long * 0.9
    silent = await grounds.spawner("none").run(
        grounds.python("import time; time.sleep(60)", marker, timeout=short, longest=long * 20)
    )
    assert silent.reason == "timeout" and silent.seconds < long * 5


WRITES = "import time\nwhile 1:\n open('busy', 'a').write('x')\n time.sleep(0.05)"


@pytest.mark.parametrize("timer", ["timeout", "idle"])
async def test_a_silent_child_whose_files_change_is_at_work(grounds: Grounds, marker: str, timer: str) -> None:
    """Neither its time nor its silence ends it before the bound; one that only sleeps is ended soon."""
    short, long = slowed(0.5), slowed(4.0)
    given = {"timeout": short} if timer == "timeout" else {"timeout": long, "idle_timeout": short}
    worker = await grounds.spawner("none").run(grounds.python(WRITES, marker, longest=long, **given))
    assert worker.reason == "timeout" and worker.seconds >= long * 0.9
    sleeper = await grounds.spawner("none").run(
        grounds.python("import time; time.sleep(60)", marker, longest=long * 9, **given)
    )
    assert sleeper.reason == timer and sleeper.seconds < long * 5


async def test_no_confinement_is_still_ended(grounds: Grounds, marker: str) -> None:
    for mode in here():
        spec: ProcessSpec = grounds.naughty("double_fork", marker, timeout=slowed(0.4), confine=None)
        assert (await grounds.spawner(mode).run(spec)).reason == "timeout"
        assert not survivors(marker)


async def test_a_detached_process_is_left_alone_and_writes_its_log(grounds: Grounds, marker: str) -> None:
    spawner = grounds.spawner("none")
    log = grounds.base / "engine.log"
    heard = asyncio.Event()
    family = grounds.naughty("setsid", f"{marker}-family")
    running = asyncio.ensure_future(spawner.run(family, lambda line: heard.set()))
    await asyncio.wait_for(heard.wait(), patience(10))
    argv = [sys.executable, "-u", "-c", "import time; print('here'); time.sleep(60)", f"{marker}-detached"]
    pid = start_detached(argv, cwd=grounds.base, env=grounds.env(), log=log).pid
    try:
        await eventually(lambda: log.read_bytes() == b"here\n")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not survivors(f"{marker}-family")
        assert survivors(f"{marker}-detached") == [pid]
        assert os.getsid(pid) == pid
        assert log.read_bytes() == b"here\n" and log.stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(pid, signal.SIGKILL)


STOPPED = """
import asyncio, os, signal, sys, time
from pathlib import Path
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import ProcessSpec

async def main():
    base = Path(sys.argv[1])
    spawner = ProcessSpawner("none", "stood-still", time.monotonic, home=base, scratch=base, grace=0.3)
    code = f"import os, time; time.sleep(.3); os.kill({os.getpid()}, {signal.SIGSTOP:d}); time.sleep(1); print('done')"
    given = float(sys.argv[2])
    argv = (sys.executable, "-I", "-S", "-c", code)
    spec = ProcessSpec(argv=argv, cwd=base, env={}, timeout=given, idle_timeout=given * 0.8)
    done = await spawner.run(spec)
    print(done.reason, done.exit_code, done.stdout.decode().strip(), flush=True)

asyncio.run(main())
"""


def test_an_engine_that_stood_still_reads_before_it_believes_its_timers(tmp_path: Path) -> None:
    """Ctrl+Z longer than every timeout: the child ended well meanwhile, and that is what counts."""
    root, given = Path(__file__).parents[2], slowed(2.5)
    engine = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(tmp_path), str(given)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    try:
        _, status = os.waitpid(engine.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        time.sleep(given + 1.5)  # what is tested: longer than the timers, and the child has long ended
        os.kill(engine.pid, signal.SIGCONT)
        assert engine.communicate(timeout=patience(30))[0].strip() == "exited 0 done"
    finally:
        engine.kill()
        engine.wait()
