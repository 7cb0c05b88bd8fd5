"""How many gits a gated iteration starts: a count, which no loaded machine changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.state import State
from engine.perform.workspace.git import Git
from engine.session import Session
from engine.session_options import Options
from tests.benchmarks.bench_engine import sprint_of
from tests.engine import small

MOST = 16


async def test_an_iteration_starts_few_gits_and_the_last_as_many_as_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Implement, scope, check, review, commit, baseline, checkpoint; lasting gits count when they are started."""
    started: list[str] = []
    original = Git._started

    def counted(self: Git, arguments: tuple[str, ...], *more: object) -> object:
        started.append(arguments[0])
        return original(self, arguments, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "_started", counted)
    marks: list[int] = []

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        if any(isinstance(one.event, ev.Committed) for one in envelopes):
            marks.append(len(started))

    sprint = sprint_of(tmp_path / "repo", 4)
    project = small.project_of(tmp_path / "repo", tmp_path / "state")
    options = Options(trust="all", attended=False, speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options) as session:
        session.watch(watch)
        state = await session.run()
    assert state.outcome == "done"
    each = [later - before for before, later in pairwise(marks)]
    assert len(each) == 3
    assert max(each) <= MOST, [started[before:later] for before, later in pairwise(marks)]
