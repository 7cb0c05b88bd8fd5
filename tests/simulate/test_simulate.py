"""Seeds of the whole-engine simulation; failing ones are kept here by number. `make simulate SEEDS=10000` runs more."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import apsw
import pytest

from engine import runner as runner_module
from engine.clock import VirtualClock
from engine.core import effects as ef
from engine.core import events as ev
from engine.core.fold import apply
from engine.journal import Journal, schema
from engine.journal.journal_errors import JournalFull
from engine.runner import Runner
from tests.simulate import simulation
from tests.simulate.simulation import Repository, Simulation, simulate

KEPT: tuple[int, ...] = (895, 929)
"""Seeds beyond those of every run that once failed."""
SEEDS = int(os.environ.get("SEEDS", "200"))
BATCH = 10
ORDINARY = 40
"""Seeds of every `make test`; `make torture` runs the others."""


@pytest.mark.parametrize(
    "first",
    [pytest.param(first, marks=() if first < ORDINARY else pytest.mark.torture) for first in range(0, SEEDS, BATCH)],
)
def test_the_engine_holds_its_word_whatever_happens(first: int, tmp_path: Path) -> None:
    for seed in range(first, min(first + BATCH, SEEDS)):
        _one(seed, tmp_path)


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_once_failed(seed: int, tmp_path: Path) -> None:
    _one(seed, tmp_path)


def _one(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / str(seed)
    folder.mkdir(exist_ok=True)
    try:
        simulate(seed, folder)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


# ── the simulation is able to fail: planted bugs are found ─────────────────────────────────────────────────────────


def _found(tmp_path: Path, seeds: int = 60) -> bool:
    for seed in range(seeds):
        try:
            _one(seed, tmp_path)
        except AssertionError:
            return True
    return False


def test_an_event_that_is_folded_and_not_recorded_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = Runner.append, itertools.count(1)

    def leaky(self: Runner, *events: ev.AnyEvent) -> None:
        lost = next((event for event in events if isinstance(event, ev.Decided) and next(calls) % 5 == 0), None)
        real(self, *(event for event in events if event is not lost))
        if lost is not None:
            self.state = apply(self.state, ev.Envelope(seq=self.state.seq, stream="s", at=self.state.now, event=lost))

    monkeypatch.setattr(Runner, "append", leaky)
    assert _found(tmp_path)


def test_a_timer_that_is_believed_too_early_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def early(self: VirtualClock, moment: float) -> None:
        await self.sleep((moment - self.now()) / 2)

    monkeypatch.setattr(VirtualClock, "sleep_until", early)
    assert _found(tmp_path)


def test_a_journal_that_does_not_wait_for_the_disk_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = schema.settle

    def hasty(connection: apsw.Connection) -> None:
        real(connection)
        connection.pragma("synchronous", "normal")

    monkeypatch.setattr(schema, "settle", hasty)
    assert _found(tmp_path)


def test_a_snapshot_that_fails_the_append_it_follows_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded, and then said not to be: the same events are recorded once more. A snapshot is a cache: it may fail."""

    def full(*_: object) -> None:
        raise JournalFull("the disk is full", "free some space")

    monkeypatch.setattr(runner_module, "SNAPSHOT_EVERY", 1)
    monkeypatch.setattr(Journal, "save_snapshot", full)
    _one(0, tmp_path)

    def loud(self: Runner) -> None:
        self._snapshot_at = self.state.seq
        self._journal.save_snapshot(self._stream, self.state.seq, b"", self._fingerprint)

    monkeypatch.setattr(Runner, "_save_snapshot", loud)
    monkeypatch.setattr(simulation, "MANY_STEPS", 2_000)  # it repeats itself for ever
    assert _found(tmp_path, 8)


def test_a_commit_that_does_not_find_itself_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(self: Repository, effect: ef.Commit, branch: str) -> ev.AnyEvent:
        self.branch.append(f"c{len(self.commits) + 1}")
        self.commits.append((self.head, effect.task, effect.id, effect.tree))
        return self._fact(effect, self.head, effect.tree, branch)

    monkeypatch.setattr(Repository, "commit", twice)
    assert _found(tmp_path)


def test_an_edit_that_is_read_too_late_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_commits_to_the_plan", lambda _decisions: False)
    monkeypatch.setattr(Simulation, "_user_between_lives", lambda _self, _state: None)
    monkeypatch.setattr(Simulation, "edits", property(lambda _self: [], lambda _self, _value: None), raising=False)
    assert _found(tmp_path)
