"""Seeds of the whole-engine simulation; failing ones are kept here by number. `make simulate SEEDS=10000` runs more."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from engine import runner as runner_module
from engine.clock import VirtualClock
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.fold import apply
from engine.core.state import State
from engine.journal import Journal, schema
from engine.journal.journal_errors import JournalFull
from engine.perform.workspace.facts import LogEntry
from engine.runner import Runner
from tests.simulate import simulation
from tests.simulate.disk import place
from tests.simulate.plan_file import PlanFile
from tests.simulate.simulation import simulate
from tests.simulate.store import Store

KEPT: tuple[int, ...] = (895, 929, 2714, 20591, 27042)
"""Seeds beyond those of every run that once failed."""
SEEDS = int(os.environ.get("SEEDS", "200"))
BATCH = 10


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_the_engine_holds_its_word_whatever_happens(first: int) -> None:
    for seed in range(first, min(first + BATCH, SEEDS)):
        _one(seed)


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_once_failed(seed: int) -> None:
    _one(seed)


def _one(seed: int) -> None:
    with tempfile.TemporaryDirectory(dir=place()) as folder:
        try:
            simulate(seed, Path(folder))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


# ── the simulation is able to fail: planted bugs are found ─────────────────────────────────────────────────────────


def _found(seeds: int = 60) -> bool:
    for seed in range(seeds):
        try:
            _one(seed)
        except AssertionError:
            return True
    return False


def test_an_event_that_is_folded_and_not_recorded_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = Runner.append, itertools.count(1)

    def leaky(self: Runner, *events: ev.AnyEvent) -> None:
        lost = next((event for event in events if isinstance(event, ev.Decided) and next(calls) % 5 == 0), None)
        real(self, *(event for event in events if event is not lost))
        if lost is not None:
            self.state = apply(self.state, ev.Envelope(seq=self.state.seq, stream="s", at=self.state.now, event=lost))

    monkeypatch.setattr(Runner, "append", leaky)
    assert _found()


def test_time_without_an_engine_that_is_charged_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Runner.append

    def forgetful(self: Runner, *events: ev.AnyEvent) -> None:
        real(self, *(replace(one, last_at=0.0) if isinstance(one, ev.RunStarted) else one for one in events))

    monkeypatch.setattr(Runner, "append", forgetful)
    assert _found()


def test_a_timer_that_is_believed_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def early(self: VirtualClock, moment: float) -> None:
        await self.sleep((moment - self.now()) / 2)

    monkeypatch.setattr(VirtualClock, "sleep_until", early)
    assert _found()


def test_a_journal_that_does_not_wait_for_the_disk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = schema.settle

    def hasty(connection: apsw.Connection) -> None:
        real(connection)
        connection.pragma("synchronous", "normal")

    monkeypatch.setattr(schema, "settle", hasty)
    assert _found()


def test_a_snapshot_that_fails_the_append_it_follows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded, and then said not to be: the same events are recorded once more. A snapshot is a cache: it may fail."""

    def full(*_: object) -> None:
        raise JournalFull("the disk is full", "free some space")

    monkeypatch.setattr(runner_module, "SNAPSHOT_EVERY", 1)
    monkeypatch.setattr(Journal, "save_snapshot", full)
    _one(0)

    def loud(self: Runner) -> None:
        self._snapshot_at = self.state.seq
        self._journal.save_snapshot(self._stream, self.state.seq, b"", self._fingerprint)

    monkeypatch.setattr(Runner, "_save_snapshot", loud)
    monkeypatch.setattr(simulation, "MANY_STEPS", 2_000)  # it repeats itself for ever
    assert _found(8)


def test_a_ref_that_is_updated_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that does not find itself when it is asked for once more."""

    def twice(self: Store, effect: ef.Commit, branch: str) -> ev.AnyEvent:
        entry = LogEntry(
            commit=f"c{len(self.made) + 1}", tree=effect.tree, parent=self.head(), at=0.0, subject=effect.message,
            task=effect.task, effect=effect.id,
        )  # fmt: skip
        self.made[entry.commit] = entry
        self.branch = self.tip = entry.commit
        return self._fact(effect, entry, branch)

    monkeypatch.setattr(Store, "commit", twice)
    assert _found()


def test_an_edit_that_is_read_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_commits_to_the_plan", lambda _decisions: False)
    assert _found()


def test_a_mark_that_writes_over_the_users_edit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file as it was read is ticked and put in place, whatever was typed meanwhile."""
    real, seen = PlanFile.mark, {}

    def stale(self: PlanFile, state: State) -> None:
        text = seen.setdefault(self, self.path.read_text())
        if sum(task.ended for task in state.tasks.values()):
            self.path.write_text(text)
        real(self, state)

    monkeypatch.setattr(PlanFile, "mark", stale)
    assert _found()


def test_commits_of_a_branch_that_the_user_moved_back_must_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "at_start", lambda *_: [])
    monkeypatch.setattr(simulation, "before_moving", lambda *_: None)
    assert _found()
