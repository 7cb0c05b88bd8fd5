"""A whole session on a small repository: what the user edits meanwhile, and what a checkpoint keeps."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from engine import files, users_edits
from engine.clock import SystemClock
from engine.config import to_policy
from engine.core import events as ev
from engine.core.commands import Answer, Stop
from engine.core.state import State, Status
from engine.journal import Journal
from engine.perform.process.probe import run_id_of
from engine.perform.process.reaper import RUN_ID
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder, new_sprint
from engine.project import Project
from engine.session import Session
from engine.session_options import Options
from engine.view_writer import Views
from tests.engine import small
from tests.patience import patience

THIRD = """
- [ ] 1.3 Write a third file
      scope: third.txt
      proof: none
      depends: 1.2
      complexity: 1
"""
MORE = '\n[[call]]\ntask = "1.3"\nedit = [{ path = "third.txt", content = "third\\n" }]\n'
GATED = small.CONFIG.replace('task = "auto"', 'task = "gated"')


class Bench:
    def __init__(self, place: Path, config: str = small.CONFIG) -> None:
        self.folder = place / "repo"
        self.sprint: SprintFolder = small.make(self.folder, scenario=small.SCENARIO + MORE, config=config)
        self.project: Project = small.project_of(self.folder, place / "state")
        self.said: list[ev.AnyEvent] = []

    async def run(self, react: Callable[[Session, ev.AnyEvent], object], attended: bool = False) -> State:
        """A run to its end; `react` hears every fact and may give a coroutine."""
        options = Options(attended=attended, trust="all", speed=1e9)
        async with Session.open(self.project, self.sprint, SystemClock(), options) as session:
            tasks: set[asyncio.Task[None]] = set()

            def hear(envelopes: object, _state: State) -> None:
                for envelope in envelopes:  # type: ignore[attr-defined]
                    self.said.append(envelope.event)
                    given = react(session, envelope.event)
                    if asyncio.iscoroutine(given):
                        tasks.add(asyncio.get_running_loop().create_task(given))

            session.watch(hear)
            async with asyncio.timeout(patience(60)):
                state = await session.run()
            await asyncio.gather(*tasks)
            return state

    def add_third(self) -> None:
        path = self.sprint.plan_path
        path.write_text(path.read_text() + THIRD)

    def of(self, kind: type) -> list[ev.AnyEvent]:
        return [one for one in self.said if isinstance(one, kind)]


async def test_an_edit_before_the_files_are_watched_is_not_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path, GATED)

    def react(session: Session, event: ev.AnyEvent) -> object:
        if isinstance(event, ev.RunStarted):
            bench.add_third()
        if isinstance(event, ev.GateOpened):
            return _answer_once(bench, session, event.gate)
        return None

    state = await bench.run(react, attended=True)
    assert state.tasks["1.3"].status is Status.COMPLETE
    assert len(bench.of(ev.PlanChanged)) == 1


async def _answer_once(bench: Bench, session: Session, gate: str) -> None:
    """Answer a gate as soon as the edit was heard of."""
    async with asyncio.timeout(patience(40)):
        while not bench.of(ev.PlanChanged):
            await asyncio.sleep(0.02)
    await session.send(Answer(gate=gate, choice="y", by="test"))


@pytest.mark.parametrize("lost", ["gone", "empty"])
async def test_a_config_that_is_gone_while_a_gate_waits_loosens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """A folder that is cleaned up, a branch that was switched, a save that met a full disk: the defaults are not what
    the user wants to spend."""
    monkeypatch.setattr(users_edits, "EVERY", 0.1)
    bench = Bench(tmp_path, GATED)

    async def remove(session: Session, gate: str) -> None:
        config = bench.project.repo.config
        text = config.read_text()
        config.unlink() if lost == "gone" else config.write_text("")
        async with asyncio.timeout(patience(40)):
            while not any(f"is {lost}" in note.text for note in bench.of(ev.Noted)):
                await asyncio.sleep(0.02)
        config.write_text(text)
        await session.send(Answer(gate=gate, choice="y", by="test"))

    def react(session: Session, event: ev.AnyEvent) -> object:
        return remove(session, event.gate) if isinstance(event, ev.GateOpened) else None

    state = await bench.run(react, attended=True)
    assert bench.of(ev.PolicyChanged) == []
    assert state.tasks["1.1"].status is Status.COMPLETE


async def test_plan_and_config_edited_while_a_gate_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users_edits, "EVERY", 0.1)
    bench = Bench(tmp_path, GATED)

    async def edit(session: Session, gate: str) -> None:
        async with asyncio.timeout(patience(40)):
            while not bench.of(ev.PolicyChanged):
                await asyncio.sleep(0.02)  # it is written on and on: it never stands still
                config = bench.project.repo.config
                config.write_text(config.read_text() + "\n# looked at again\n")
                if "session_usd" not in config.read_text():
                    config.write_text(config.read_text() + "\n[budget]\nsession_usd = 7.0\n")
                    bench.add_third()
        await session.send(Answer(gate=gate, choice="y", by="test"))

    def react(session: Session, event: ev.AnyEvent) -> object:
        return edit(session, event.gate) if isinstance(event, ev.GateOpened) else None

    state = await bench.run(react, attended=True)
    assert state.tasks["1.3"].status is Status.COMPLETE
    assert state.policy.budget.session_usd == 7.0
    changed = bench.of(ev.PlanChanged)
    assert len(changed) == 1 and "1.3" in changed[0].summary  # type: ignore[attr-defined]


async def test_a_broken_config_does_not_hide_an_edit_of_the_plan(tmp_path: Path) -> None:
    bench = Bench(tmp_path, GATED)

    def react(session: Session, event: ev.AnyEvent) -> object:
        if isinstance(event, ev.RunStarted):
            bench.add_third()
            config = bench.project.repo.config
            config.write_text(config.read_text() + "\n[budget\n")
            session.reread()
        return session.send(Answer(gate=event.gate, choice="y", by="t")) if isinstance(event, ev.GateOpened) else None

    state = await bench.run(react, attended=True)
    assert state.tasks["1.3"].status is Status.COMPLETE
    assert any("not taken up" in one.text for one in bench.of(ev.Noted))  # type: ignore[attr-defined]


async def test_files_that_cannot_be_read_for_a_while_are_taken_up_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No right, no descriptor, a pipe of that name: said once, waited for by nobody, and read as soon as it can be."""
    monkeypatch.setattr(users_edits, "EVERY", 0.05)
    bench = Bench(tmp_path, GATED)

    async def meddle(session: Session, gate: str) -> None:
        plan, config = bench.sprint.plan_path, bench.project.repo.config
        texts = plan.read_text() + THIRD, config.read_text() + "\n[budget]\nsession_usd = 7.0\n"
        plan.unlink()
        plan.symlink_to(plan.name)
        config.unlink()
        os.mkfifo(config)
        async with asyncio.timeout(patience(40)):
            while len([note for note in bench.of(ev.Noted) if "not taken up" in note.text]) < 2:  # type: ignore[attr-defined]
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.3)
            for path, text in zip((plan, config), texts, strict=True):
                path.unlink()
                path.write_text(text)
            while not (bench.of(ev.PlanChanged) and bench.of(ev.PolicyChanged)):
                await asyncio.sleep(0.02)
        await session.send(Answer(gate=gate, choice="y", by="test"))

    def react(session: Session, event: ev.AnyEvent) -> object:
        if not isinstance(event, ev.GateOpened):
            return None
        if bench.of(ev.PlanChanged):
            return session.send(Answer(gate=event.gate, choice="y", by="test"))
        return meddle(session, event.gate)

    state = await bench.run(react, attended=True)
    assert state.tasks["1.3"].status is Status.COMPLETE and state.policy.budget.session_usd == 7.0
    assert len([note for note in bench.of(ev.Noted) if "not taken up" in note.text]) == 2  # type: ignore[attr-defined]


def test_a_plan_that_could_not_be_read_is_read_when_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit came while there was no descriptor: the file did not change since, and is looked at all the same."""
    bench = Bench(tmp_path, GATED)
    read, broken = files.ordinary, [True]

    def short_of_descriptors(path: Path) -> bytes:
        if broken and path == bench.sprint.plan_path:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))
        return read(path)

    plan = read_plan(bench.sprint.plan_path)
    edits = users_edits.UsersEdits(
        bench.project,
        bench.sprint,
        views=Views(bench.project, bench.sprint),
        state=lambda: replace(State(), plan=plan),
        policy_of=to_policy,
        config=bench.project.config(),
    )
    assert edits.look() == []
    bench.add_third()
    monkeypatch.setattr(files, "ordinary", short_of_descriptors)
    assert [type(one) for one in edits.look()] == [ev.Noted] and edits.look() == []
    broken.clear()
    assert [type(one) for one in edits.look()] == [ev.PlanChanged] and edits.look() == []


async def test_every_checkpoint_names_its_place_in_the_journal_and_few_copy_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.run(lambda _session, _event: None)
    places = bench.project.state.root / "checkpoints" / bench.sprint.id
    points = [msgspec.json.decode(path.read_bytes()) for path in sorted(places.glob("*.json"))]
    assert len(points) >= 2
    assert not list((bench.project.state.root / "checkpoints").rglob("*.db"))
    with Journal.open(bench.project.repo.db, clock=lambda: 0.0, backup_dir=tmp_path / "b", read_only=True) as journal:
        known = {envelope.seq for envelope in journal.tail(0)}
    for point in points:
        kept = (places / "contents" / point["contents"]["journal.json"]).read_bytes()
        place = msgspec.json.decode(zlib.decompress(kept))
        assert place["seq"] in known and len(place["chain"]) == 64
    # One with the first checkpoint, one with the run's end.
    assert len(list(bench.project.backups.glob("journal-*.db"))) == 2


async def test_a_sprint_knows_what_the_others_spent_called_and_measured(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = await bench.run(lambda _session, _event: None)
    assert first.spent_usd > 0
    bench.sprint = new_sprint(bench.folder, small.PLAN, "plan.md", "2026-11-17")
    await bench.run(lambda session, event: session.send(Stop()) if isinstance(event, ev.RunStarted) else None)
    told = bench.of(ev.RunStarted)[-1]
    assert isinstance(told, ev.RunStarted)
    assert told.day_spent_usd == pytest.approx(first.spent_usd)
    assert len(told.recent_calls) == first.calls
    assert (told.measured["haiku"].fresh, told.measured["haiku"].retry) == ((1, 1), (1, 0))
    assert not bench.of(ev.RunStarted)[0].measured  # type: ignore[attr-defined]


async def test_what_a_killed_probe_left_is_ended_at_the_next_start(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    scratch = bench.project.state.root / "scratch"
    scratch.mkdir(parents=True)
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, RUN_ID: run_id_of(scratch)})
    try:
        await bench.run(lambda session, event: session.send(Stop()) if isinstance(event, ev.RunStarted) else None)
        assert left.wait(timeout=patience(5)) == -signal.SIGKILL
    finally:
        left.kill()
        left.wait()
