"""One clock for everything on screen, which never runs back: also where an engine is lost and the next one begins."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.clock import SystemClock
from engine.core.state import State
from engine.link.protocol import LinkStatus
from engine.service.links import attached_link
from engine.service.local import Desk
from tests.engine import small
from tests.patience import Deadline, patience
from tests.tui.driving import app_on
from tests.tui.reading import text_of
from tui.kit.one_clock import OneClock
from tui.kit.view import View

ROOT = Path(__file__).parents[2]
SLOW_AGENT = small.SCENARIO.replace('output = ["trying"]', 'output = ["trying"]\ndelay = 6.0', 1)

LIFE = st.tuples(
    st.lists(st.floats(0.1, 400.0), min_size=1, max_size=6),  # between two frames
    st.integers(0, 6),  # the last frame with a fact
    st.booleans(),  # whether it gave signs of life
    st.lists(st.floats(0.1, 4000.0), max_size=3),  # looked at while there is none
    st.floats(0.1, 3.0),  # from the next one's lock to its first fact
)


@given(st.lists(LIFE, min_size=1, max_size=4))
def test_neither_the_time_nor_the_sprints_duration_ever_runs_back(
    lives: list[tuple[list[float], int, bool, list[float], float]],
) -> None:
    clock, wall, worked = OneClock(), 1_000_000.0, 0.0
    times: list[float] = []
    durations: list[float] = []

    def frame(state: State, link: LinkStatus) -> View:
        view = View(state=state, link=link, now=clock.now(state, link, wall), least=clock.least(state))
        clock.shown(view)
        times.append(view.now)
        durations.append(view.elapsed())
        return view

    def run(number: int, begun: float, now: float) -> State:
        return State(sprint="s", run=f"r{number}", running=True, run_started_at=begun, active_seconds=worked, now=now)

    for number, (frames, fact, signs, dead, starting) in enumerate(lives):
        begun = wall
        state = run(number, begun, begun)
        seen = frame(state, LinkStatus(status="connected"))
        for at, step in enumerate(frames):
            wall += step
            if at <= fact:
                state = run(number, begun, wall)
            seen = frame(state, LinkStatus(status="connected"))
        last = max(state.now, wall - 0.9) if signs else state.now
        sign = last if signs else 0.0
        for step in dead:
            wall += step
            stands = frame(state, LinkStatus(status="lost", last_sign=sign))
            assert stands.now == seen.now, "it stands where the engine was last seen"
        wall += starting
        frame(state, LinkStatus(status="connecting", last_sign=sign))
        worked += last - begun
        frame(run(number + 1, wall, wall), LinkStatus(status="connecting", last_sign=sign))  # the link says it later
    assert times == sorted(times)
    assert durations == sorted(durations)


def test_who_looks_only_after_the_loss_sees_when_the_engine_was_last_alive() -> None:
    state = State(sprint="s", run="r", running=True, run_started_at=100.0, now=109.0)
    clock = OneClock()
    assert clock.now(state, LinkStatus(status="connecting"), 9000.0) == 109.0
    assert clock.now(state, LinkStatus(status="lost", last_sign=139.0), 9000.0) == 139.0
    assert clock.now(state, LinkStatus(status="lost"), 9000.0) == 109.0, "without a sign the last fact tells"


async def test_a_real_engine_is_killed_and_the_next_one_goes_on_where_it_was(tmp_path: Path) -> None:
    """The agent says nothing for seconds when its engine is killed: the last fact is long ago."""
    folder, state = tmp_path / "repo", tmp_path / "state"
    sprint = small.make(folder, scenario=SLOW_AGENT)
    desk = Desk(project=small.project_of(folder, state))
    argv = [sys.executable, "-m", "tui.cli.main", "run", "--trust", "all", "--unattended"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8"}

    def engine() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=folder,
            env={**env, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    app = app_on(attached_link(desk, sprint), clock=SystemClock().now)  # type: ignore[arg-type]
    shown: list[tuple[str, float, float]] = []

    async def until(status: str, seconds: float = 0.0) -> None:
        deadline = Deadline(60)
        while app.view.link.status != status or app.view.elapsed() < seconds:
            assert not deadline.over(), f"{status} never came:\n" + "\n".join(text_of(app))
            shown.append((app.view.link.status, app.view.now, app.view.elapsed()))
            await asyncio.sleep(0.02)

    first = engine()
    second = None
    try:
        async with asyncio.timeout(patience(120)), app.run_test(size=(120, 40)):
            await until("connected", 4.0)
            before = app.view
            assert before.state.running and before.now - before.state.now > 1.0, "no fact since the call began"
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
            await until("lost")
            lost = app.view
            assert lost.elapsed() >= before.elapsed(), "shown less than before it was lost"
            assert lost.now >= before.now
            await asyncio.sleep(1.5)
            shown.append((app.view.link.status, app.view.now, app.view.elapsed()))
            assert app.view.elapsed() == lost.elapsed(), "nothing runs"
            known = await attached_link(desk, sprint).snapshot()
            late = app_on(attached_link(desk, sprint), clock=SystemClock().now)  # type: ignore[arg-type]
            async with late.run_test(size=(120, 40)):
                deadline = Deadline(60)
                while late.view.link.status != "lost":
                    assert not deadline.over()
                    await asyncio.sleep(0.02)
                assert lost.elapsed() - 2.0 < late.view.elapsed() <= lost.elapsed(), "who comes later sees the same"
            second = engine()
            deadline = Deadline(60)
            while app.view.state.run in ("", known.run):
                assert not deadline.over(), "no other run"
                shown.append((app.view.link.status, app.view.now, app.view.elapsed()))
                await asyncio.sleep(0.02)
            for _ in range(50):
                shown.append((app.view.link.status, app.view.now, app.view.elapsed()))
                await asyncio.sleep(0.02)
            counted = app.view.state.active_seconds
            assert lost.elapsed() - 2.0 < counted <= lost.elapsed(), "the engine counts what was shown"
    finally:
        for one in (first, second):
            if one is not None:
                one.kill()
                one.wait()
    assert [now for _, now, _ in shown] == sorted(now for _, now, _ in shown)
    assert [seconds for *_, seconds in shown] == sorted(seconds for *_, seconds in shown)
