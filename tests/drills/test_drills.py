"""Every drill holds on an ordinary repository and leaves it alone; each is shown able to fail by a planted bug.

Three of them belong to every `make test`; `make torture` plays all, and plants a bug for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.attendance import Attendance
from engine.core import events as ev
from engine.core import fold
from engine.core.effects import AnyEffect
from engine.core.model import AgentResult, ProofVerdict, ResultKind, Verdict
from engine.core.state import State
from engine.drills.drill import Played
from engine.drills.registry import DRILLS
from engine.drills.scene import Scene
from engine.link.user_errors import UserError
from engine.perform import calls, machine
from engine.perform.agents import scripted
from engine.perform.process.reaper import Family, end_orphans
from engine.perform.shell import Shell
from engine.runner import Runner
from engine.service import drilling
from engine.service.local import Desk
from tests.engine import small

QUICK = ("limit", "liar", "corrupt-journal")
"""Of every `make test`."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    small.make(tmp_path / "repo")
    return Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))


@pytest.fixture
def run_ids(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a planted bug lets live is ended."""
    known: list[str] = []
    real = Scene.left_alive

    def left(self: Scene) -> int:
        known.extend(self.run_ids)
        return real(self)

    monkeypatch.setattr(Scene, "left_alive", left)
    yield known
    for run in known:
        end_orphans(run)


def one(desk: Desk, name: str, *, no_sandbox: bool = False) -> Played:
    (played,) = drilling.drill(desk, name, no_sandbox=no_sandbox)
    return played


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.torture) for n in DRILLS])
def test_it_holds_and_nothing_of_the_users_is_touched(name: str, desk: Desk) -> None:
    before = small.user_side(desk.root), sorted(desk.root.rglob("*")), sorted(desk.project.home.rglob("*"))
    played = one(desk, name)
    assert played.ok, [held for held in played.held if not held.held]
    assert played.happened, "it says what happened"
    assert (small.user_side(desk.root), sorted(desk.root.rglob("*")), sorted(desk.project.home.rglob("*"))) == before
    assert not desk.project.state.root.exists() or not any(desk.project.state.root.iterdir())


@pytest.mark.torture
def test_a_repository_that_ignores_everything_has_drills_too(desk: Desk) -> None:
    (desk.root / ".gitignore").write_text("*\n!word.txt\n!user.txt\n!.gitignore\n")
    small.git(desk.root, "add", ".gitignore")
    small.git(desk.root, "commit", "-q", "-m", "ignore the rest")
    played = one(desk, "crash")
    assert played.ok, [held for held in played.held if not held.held]


def test_an_unknown_one_is_refused_with_the_names(desk: Desk) -> None:
    with pytest.raises(UserError, match="no drill") as caught:
        one(desk, "earthquake")
    assert all(name in caught.value.hint for name in DRILLS)


# ── each is able to fail ───────────────────────────────────────────────────────────────────────────────────────────


def _charges_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "charge", lambda _result, reserve: reserve)


def _ends_seen_as(other: ResultKind, *kinds: ResultKind) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        real = scripted._Stream.result

        def result(self: Any, *given: Any) -> AgentResult:
            found: AgentResult = real(self, *given)
            return replace(found, kind=other) if found.kind in kinds else found

        monkeypatch.setattr(scripted._Stream, "result", result)

    return plant


def _does_not_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "clean", lambda text: text)
    monkeypatch.setattr(scripted, "shown", lambda text: text)


def _knows_no_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Family, "members", lambda _self: [])


def _knows_no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "fault_of", lambda _error: None)


def _keeps_warnings_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Runner.append

    def append(self: Runner, *events: ev.AnyEvent) -> None:
        real(self, *(event for event in events if not isinstance(event, ev.Noted)))

    monkeypatch.setattr(Runner, "append", append)


def _keeps_old_times(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fold._run_started
    monkeypatch.setattr(fold, "_run_started", lambda state, *given: replace(real(state, *given), limits=state.limits))


def _believes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Shell.perform

    async def perform(self: Shell, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        return [_all_well(fact) for fact in await real(self, effect, state)]

    monkeypatch.setattr(Shell, "perform", perform)


def _all_well(fact: ev.AnyEvent) -> ev.AnyEvent:
    if isinstance(fact, ev.ScopeChecked):
        return replace(fact, verdict=Verdict.PASS, findings=(), reverted=(), reason="")
    if not isinstance(fact, ev.ChecksFinished):
        return fact
    passed = tuple(replace(result, verdict=Verdict.PASS, failing=(), errors=0) for result in fact.results)
    proof = ProofVerdict.PROVEN if fact.proof is not None else None
    return replace(fact, results=passed, findings=(), questions=(), proof=proof)


def _does_not_see_them_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attendance, "viewers", lambda _self, _count: None)
    monkeypatch.setattr(Attendance, "attend", lambda _self, _first: asyncio.Event().wait())
    monkeypatch.setattr(drilling, "LONGEST", 25.0)


PLANTED = {
    "limit": _charges_always,
    "hang": _ends_seen_as(ResultKind.CRASH, ResultKind.TIMEOUT),
    "garbage": _does_not_clean,
    "crash": _ends_seen_as(ResultKind.OK, ResultKind.CRASH),
    "orphan": _knows_no_family,
    "flood": _ends_seen_as(ResultKind.OK, ResultKind.TIMEOUT, ResultKind.CRASH),  # its time, or what may be read
    "disk-full": _knows_no_faults,
    "corrupt-journal": _keeps_warnings_to_itself,
    "clock-jump": _keeps_old_times,
    "liar": _believes,
    "cheat": _believes,
    "lost-viewer": _does_not_see_them_leave,
}


def test_a_bug_is_planted_for_every_drill() -> None:
    assert set(PLANTED) == set(DRILLS)


@pytest.mark.torture
@pytest.mark.parametrize("name", DRILLS)
def test_it_is_able_to_fail(name: str, desk: Desk, monkeypatch: pytest.MonkeyPatch, run_ids: list[str]) -> None:
    PLANTED[name](monkeypatch)
    played = one(desk, name, no_sandbox=name == "orphan")
    assert not played.ok, (played.happened, played.held)
