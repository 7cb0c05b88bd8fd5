"""Leaving a run in the background and coming back: the run knows, and does what its configuration says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine import VERSION
from engine import attendance as attendance_module
from engine import session as session_module
from engine.channel.client import Watching
from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.attendance import unwatched
from engine.core.commands import SetAttended
from engine.core.state import State, Status
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

GATED = small.CONFIG.replace('task = "auto"', 'task = "gated"')


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second's grace would only make the tests slow."""
    monkeypatch.setattr(attendance_module, "GRACE_SECONDS", 0.05)


BACKGROUND = Options(attended=True, trust="all", speed=1e9, follows_viewers=True)
ASKS_NOBODY = Options(attended=False, trust="all", speed=1e9, follows_viewers=True, asks_nobody=True)


async def lived(
    place: Path,
    config: str,
    *,
    look: bool,
    first: float = 60.0,
    options: Options = BACKGROUND,
    asks: bool = False,
    stays: bool = False,
) -> tuple[State, list[ev.AnyEvent]]:
    """A run in the background, its terminal lost at the first gate (`look`), never (`stays`), or never there."""
    session_module.FIRST_VIEWER_SECONDS = first
    sprint = small.make(place / "repo", config=config)
    project = small.project_of(place / "repo", place / "state")
    said: list[ev.AnyEvent] = []
    opened = asyncio.Event()

    def hear(envelopes: object, _state: State) -> None:
        for envelope in envelopes:  # type: ignore[attr-defined]
            said.append(envelope.event)
            if isinstance(envelope.event, ev.GateOpened):
                opened.set()

    async with asyncio.timeout(patience(60)), Session.open(project, sprint, SystemClock(), options) as session:
        session.watch(hear)
        running = asyncio.create_task(session.run())
        if look:
            while not project.state.socket.exists():
                await asyncio.sleep(0.01)
            watching = await Watching.open(project.state.socket, VERSION, 0)
            reading = asyncio.create_task(_drain(watching))
            if asks:
                assert (await watching.tell(SetAttended(id="u", attended=True, by="you"))).ok
            gate = asyncio.create_task(opened.wait())
            await asyncio.wait((running, gate) if stays else (gate,), return_when=asyncio.FIRST_COMPLETED)
            assert not (stays and opened.is_set()), "it was held up"
            gate.cancel()
            watching.close()
            await reading
        return await running, said


async def _drain(watching: Watching) -> None:
    async for _ in watching.items():
        pass


async def test_a_closed_terminal_leaves_a_run_that_goes_on_to_its_end(tmp_path: Path) -> None:
    state, said = await lived(tmp_path, GATED, look=True)
    assert state.outcome == "done"
    assert [task.status for task in state.tasks.values()] == [Status.COMPLETE, Status.COMPLETE]
    changed = [event.attended for event in said if isinstance(event, ev.AttendanceChanged)]
    assert changed == [False]
    assert any(isinstance(event, ev.GateAnswered) and event.by == "unattended" for event in said)
    assert unwatched(state) == tuple(state.tasks), "who comes back is told which ones nobody saw"


async def test_nobody_came_at_all(tmp_path: Path) -> None:
    state, _ = await lived(tmp_path, GATED, look=False, first=0.05)
    assert state.outcome == "done"


async def test_a_lease_bounds_a_run_that_nobody_watches(tmp_path: Path) -> None:
    """It waits at its first gate, as asked, but not for ever: it stops, and goes on another day."""
    config = GATED.replace("[gates]", '[gates]\ndetached = "wait"\nlease_hours = 0.00003')
    state, said = await lived(tmp_path, config, look=True)
    assert state.outcome == "stopped"
    assert [gate.kind for gate in state.open_gates()] == ["task"]
    assert any(isinstance(event, ev.Noted) and "lease_hours" in event.text for event in said)


async def test_who_looks_on_at_a_run_that_asks_nobody_holds_nothing_up(tmp_path: Path) -> None:
    """`devteam run --unattended` with a dashboard attached from before its first gate to its end."""
    state, said = await lived(tmp_path, GATED, look=True, options=ASKS_NOBODY, stays=True)
    assert state.outcome == "done"
    assert not any(isinstance(event, ev.AttendanceChanged | ev.GateOpened) for event in said)
    assert unwatched(state) == tuple(state.tasks)


@pytest.mark.parametrize("detached", ["continue", "wait", "pause"])
async def test_who_wants_to_be_asked_is_asked_until_they_leave(tmp_path: Path, detached: str) -> None:
    """The same with `U` pressed, and closed again at its first gate."""
    config = GATED.replace("[gates]", f'[gates]\ndetached = "{detached}"')
    state, said = await lived(tmp_path, config, look=True, options=ASKS_NOBODY, asks=True)
    assert state.outcome == "done"
    assert [event.attended for event in said if isinstance(event, ev.AttendanceChanged)] == [True, False]


async def test_a_run_that_asks_nobody_is_not_paused_because_nobody_is_there(tmp_path: Path) -> None:
    config = GATED.replace("[gates]", '[gates]\ndetached = "pause"')
    state, said = await lived(tmp_path, config, look=False, first=0.01, options=ASKS_NOBODY)
    assert state.outcome == "done"
    assert not any(isinstance(event, ev.Paused | ev.AttendanceChanged) for event in said)
