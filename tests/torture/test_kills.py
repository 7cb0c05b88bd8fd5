"""kill -9 at any moment costs nothing: same end, no acknowledged event lost, no commit twice, no process left."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine import demo
from engine.core import events as ev
from engine.core.model import ResultKind
from engine.core.state import State, Status
from engine.journal import Journal
from engine.perform.process.probe import run_id_of
from engine.perform.process.reaper import find_orphans
from engine.plans.sprints import list_sprints
from engine.project import load_state
from tests.engine import small
from tests.patience import patience
from tests.torture import four_lanes
from tests.torture.life import made
from tests.torture.life_server import LifeServer, Lived


@functools.cache
def server() -> LifeServer:
    return LifeServer()


@dataclass
class Life:
    """A repository in which engines live and die."""

    kind: str
    folder: Path
    state: Path
    acks: Path = field(init=False)
    seen: Path = field(init=False)

    def __post_init__(self) -> None:
        self.state.mkdir(parents=True)
        self.acks = self.state / "acks"
        self.seen = self.state / "seen"
        if self.kind == "demo":
            demo.prepare(self.folder, "2026-11-16")
            # Each death in a call costs its reservation and a permit: neither may end a hundred deaths early.
            config = self.folder / ".devteam" / "config.toml"
            more = "\n[budget]\nsession_usd = 100000\nday_usd = 100000\n\n[limits]\ncalls_per_hour = 100000\n"
            config.write_text(config.read_text() + more)
        else:
            made(self.kind, self.folder)

    def start(self, *, dying: bool, every: int = 1) -> Lived:
        argv = [self.kind, self.folder, self.state, self.acks]
        argv += [self.seen, every] if dying else []
        return server().start(argv, self.state)

    def live(self, *, dying: bool = False, every: int = 1) -> tuple[int, str]:
        lived = self.start(dying=dying, every=every)
        code = lived.ended(patience(100))
        if code is None:
            lived.kill()
        assert code in (0, -9), f"{code}: {lived.err.read_text()}"
        return code, lived.out.read_text().strip()

    def journal(self) -> tuple[State, list[ev.Envelope]]:
        project = small.project_of(self.folder, self.state)
        with Journal.open(project.repo.db, clock=time.time, backup_dir=project.backups) as journal:
            assert journal.recovery is None
            stream = list_sprints(self.folder)[-1].id
            return load_state(journal, stream), list(journal.read(stream))


def ending(life: Life) -> dict[str, object]:
    """What must not depend on how often the engine died."""
    state, log = life.journal()
    decided = {
        (one.event.task, one.event.iteration): (one.event.decision.value, one.event.rung)
        for one in log
        if isinstance(one.event, ev.Decided)
    }
    return {
        "outcome": (state.outcome, state.outcome_reason),
        "tasks": {task.id: (task.status, task.iteration, task.rung, task.tree) for task in state.tasks.values()},
        "decided": decided,
        "escalations": state.escalations,
        "councils": state.councils,
        "final": state.final,
        "branch": small.branch(life.folder, state.branch),
    }


def of_lanes(found: dict[str, object]) -> dict[str, object]:
    """Of a sprint on several lanes: who finished first is anybody's guess, what came of it is not."""
    subjects, trees = zip(*found["branch"], strict=True)  # type: ignore[call-overload]
    tasks = {name: facts[:3] for name, facts in found["tasks"].items()}  # type: ignore[attr-defined]
    return {"outcome": found["outcome"], "tasks": tasks, "subjects": sorted(subjects), "tree": trees[-1]}


def check_nothing_lost(life: Life, before: dict[str, object]) -> None:
    state, log = life.journal()
    recorded = {(one.seq, ev.type_of(one.event)) for one in log}
    acknowledged = {(int(seq), kind) for seq, kind in (line.split() for line in life.acks.read_text().splitlines())}
    assert acknowledged <= recorded
    assert [one.seq for one in log] == list(range(log[0].seq, log[0].seq + len(log)))
    subjects = [subject for subject, _tree in small.branch(life.folder, state.branch) if subject.startswith("impl(")]
    assert len(subjects) == len(set(subjects)), "a commit was made twice"
    commits = [one.event.commit for one in log if isinstance(one.event, ev.Committed)]
    assert len(commits) == len(subjects)
    runs = [one.event.run for one in log if isinstance(one.event, ev.RunStarted)]
    probes = [run_id_of(path) for path in life.state.rglob("scratch")]
    assert probes
    assert not left_behind((*runs, *probes))
    assert small.user_side(life.folder) == before


def left_behind(runs: Iterable[str]) -> list[str]:
    """What lives on of these runs; a helper whose input was just closed ends at its next turn."""
    known = list(dict.fromkeys(runs))
    deadline = time.monotonic() + patience(10)
    while left := [pid for run in known for pid in find_orphans(run)]:
        if time.monotonic() > deadline:
            return [f"{pid}: {Path(f'/proc/{pid}/cmdline').read_bytes()!r}" for pid in left]
        time.sleep(0.05)
    return []


def undisturbed(kind: str, folder: Path) -> dict[str, object]:
    life = Life(kind, folder / "repo", folder / "state")
    code, _outcome = life.live()
    assert code == 0
    return ending(life)


def kill_everywhere(
    kind: str,
    folder: Path,
    every: int = 1,
    seen_as: Callable[[dict[str, object]], dict[str, object]] = lambda found: found,
) -> int:
    """Die at every boundary once (or at one in so many), one after another. Gives the number of deaths."""
    wanted = undisturbed(kind, folder / "still")
    life = Life(kind, folder / "killed" / "repo", folder / "killed" / "state")
    before = small.user_side(life.folder)
    deaths = 0
    while life.live(dying=True, every=every)[0] != 0:
        deaths += 1
    assert seen_as(ending(life)) == seen_as(wanted)
    check_nothing_lost(life, before)
    return deaths


def kill_at_random(kind: str, folder: Path, times: int, seed: int, longest: float) -> None:
    """Exactly `times` kills. A sprint that came to its end between two of them is checked, and a new one begun."""
    wanted = undisturbed(kind, folder / "still")
    rng = random.Random(seed)
    kills = sprints = 0
    while kills < times:
        place = folder / f"killed-{sprints}"
        life = Life(kind, place / "repo", place / "state")
        before = small.user_side(life.folder)
        sprints += 1
        while kills < times and not ended_before(life, rng.uniform(0.05, longest)):
            kills += 1
        assert life.live()[0] == 0
        assert ending(life) == wanted
        check_nothing_lost(life, before)
    assert kills == times


def ended_before(life: Life, seconds: float) -> bool:
    """Whether the engine came to its end by itself; else it was killed."""
    lived = life.start(dying=False)
    code = lived.ended(seconds)
    if code is None:
        lived.kill()
        return False
    assert code == 0, lived.err.read_text()
    return True


def test_killed_at_some_boundaries_of_a_small_sprint(tmp_path: Path) -> None:
    assert kill_everywhere("small", tmp_path, every=12) > 2


def test_killed_at_random_in_a_small_sprint(tmp_path: Path) -> None:
    kill_at_random("small", tmp_path, times=3, seed=1, longest=2.0)


@pytest.mark.torture
def test_killed_at_every_boundary_of_a_small_sprint(tmp_path: Path) -> None:
    assert kill_everywhere("small", tmp_path) > 40


@pytest.mark.torture
def test_killed_at_every_boundary_of_the_demo(tmp_path: Path) -> None:
    deaths = kill_everywhere("demo", tmp_path)
    print(f"{deaths} deaths")
    assert deaths > 150


def kill_four_lanes(folder: Path, times: int, seed: int, longest: float) -> None:
    """Four lanes with conflicts, council, limit and commands: the order may differ, what it comes to may not."""
    rng = random.Random(seed)
    kills = sprints = 0
    while kills < times:
        place = folder / f"lanes-{sprints}"
        life = Life("crowd", place / "repo", place / "state")
        before = small.user_side(life.folder)
        sprints += 1
        while kills < times and not ended_before(life, rng.uniform(0.3, longest)):
            kills += 1
        assert life.live()[0] == 0
        check_nothing_lost(life, before)
        state, log = life.journal()
        assert state.outcome == "done", state.outcome_reason
        assert {task.status for task in state.tasks.values()} == {Status.COMPLETE}
        facts = [one.event for one in log]
        assert any(isinstance(fact, ev.CouncilFinished) for fact in facts)
        assert any(isinstance(fact, ev.AgentFinished) and fact.result.kind is ResultKind.LIMIT for fact in facts)
        found = four_lanes.contents(life.folder, state.branch)
        assert found.pop("shared.txt") in ("one\n", "two\n")
        wanted = {"hard.txt": "good\n", "late.txt": "late\n", "plain.txt": "plain\n", "last.txt": "last\n"}
        assert found == wanted
        spent = [fact.charged_usd for fact in facts if isinstance(fact, ev.AgentFinished)]
        assert state.spent_usd >= sum(spent) - 1e-6


@pytest.mark.torture
def test_killed_on_four_lanes_with_conflicts_council_limit_and_commands(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    kill_four_lanes(tmp_path, times=60, seed=seed, longest=6.0)


@pytest.mark.torture
def test_killed_at_two_hundred_random_instants_of_the_demo(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    kill_at_random("demo", tmp_path, times=200, seed=seed, longest=4.0)


@pytest.mark.torture
def test_four_lanes_die_at_every_boundary(tmp_path: Path) -> None:
    assert kill_everywhere("lanes", tmp_path, seen_as=of_lanes) >= 60
