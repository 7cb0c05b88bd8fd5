"""A repository as devteam finds it: its places, its configuration, its sprints. Light: nothing heavy is imported."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine import state_folder
from engine.core.events import Envelope, PlanRequested, SprintCreated
from engine.core.fold import fold
from engine.core.model import Plan, Struct
from engine.core.state import State
from engine.journal import EngineLock, Journal, JournalMissing
from engine.paths import RepoPaths, StatePaths, find_repo, make_state, state_paths
from engine.plans.registry import read_plan
from engine.plans.sprint_search import find_sprint
from engine.plans.sprints import SprintFolder
from engine.unusable_path import unusable

if TYPE_CHECKING:
    from engine.config import Config


class NoRepository(Exception):  # noqa: N818  it is an answer, not a fault
    """There is no git repository here; the words say what to type."""

    def __init__(self, start: Path) -> None:
        bare = all((start / name).exists() for name in ("HEAD", "objects", "refs"))
        what = "is a bare repository: it has no files to work on" if bare else "is not inside a git repository"
        super().__init__(f"{start} {what}")
        start_one = "git init && git add -A && git commit -m start   (or: devteam demo)"
        self.hint = f"git clone {start} FOLDER && cd FOLDER" if bare else start_one


class UnusablePath(Exception):  # noqa: N818  it is an answer, not a fault
    """The name of a folder is one that cannot be worked in; the words say how to rename it."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


class Project(Struct, frozen=True, kw_only=True):
    """One repository and where devteam keeps its things."""

    root: Path
    repo: RepoPaths
    state: StatePaths
    home: Path
    env: Mapping[str, str]

    @property
    def backups(self) -> Path:
        return self.state.root / "backups"

    def config(self) -> Config:
        from engine.config import load  # the parser of TOML is a tenth of a status

        return load(self.repo.config)

    def sprint(self, hint: str = "") -> SprintFolder:
        return find_sprint(self.root, hint)


def open_project(start: Path, env: Mapping[str, str], home: Path) -> Project:
    """The repository around `start`. Raises NoRepository, UnusablePath."""
    root = find_repo(start)
    if root is None:
        raise NoRepository(start)
    state = state_paths(root, env, home)
    in_checkout, in_state = unusable(root, "the checkout"), unusable(state.root, "devteam's state", on_one_line=False)
    for problem, hint in (in_checkout, in_state):
        if problem:
            raise UnusablePath(problem, hint)
    return Project(root=root, repo=RepoPaths(root=root), state=state, home=home, env=env)


def engine_lock(project: Project, clock: Callable[[], float]) -> EngineLock:
    """For whoever writes: one at a time, whatever the environment. Raises EngineRunning."""
    return EngineLock.acquire(make_state(project.state).lock, clock, state_folder.sign_of(project.root))


def stored_state(project: Project, sprint: SprintFolder, *, to_show: bool = False) -> State:
    """The sprint's state as the journal has it; one that never ran is made from its plan. `to_show`: see
    `shown_state`."""
    try:
        with Journal.open(project.repo.db, clock=lambda: 0.0, backup_dir=project.backups, read_only=True) as journal:
            state = shown_state(journal, sprint.id) if to_show else load_state(journal, sprint.id)
    except JournalMissing:
        state = State()
    if state.sprint:
        return state
    if sprint.request():
        asked = PlanRequested(sprint=sprint.id, request=sprint.request(), branch=sprint.branch, topic=sprint.slug)
        return fold([Envelope(seq=0, stream=sprint.id, at=0.0, event=asked)])
    plan = read_plan(sprint.plan_path)
    created = SprintCreated(sprint=sprint.id, plan=plan, branch=sprint.branch, topic=topic_of(plan, sprint))
    return fold([Envelope(seq=0, stream=sprint.id, at=0.0, event=created)])


def load_state(journal: Journal, stream: str) -> State:
    """Fold a stream, from its last snapshot where that was made by the same code."""
    kept = journal.load_snapshot(stream, fingerprint())
    if kept is not None:
        seq, body = kept
        try:
            return fold(journal.read(stream, after=seq), msgspec.json.decode(body, type=State))
        except msgspec.DecodeError:
            pass
    return fold(journal.read(stream))


def shown_state(journal: Journal, stream: str) -> State:
    """A state for people to look at, and for nothing else: after an upgrade the whole history is not folded for it.

    The snapshot of another version is taken where this one reads all that it says, to the last value. A new engine
    never does: it folds anew, and its first snapshot takes the place of the old one.
    """
    kept = journal.load_snapshot(stream, fingerprint()) or journal.load_snapshot(stream, None)
    if kept is not None:
        seq, body = kept
        try:
            state = msgspec.json.decode(body, type=State)
            if msgspec.json.decode(msgspec.json.encode(state)) == msgspec.json.decode(body):
                return fold(journal.read(stream, after=seq), state)
        except msgspec.DecodeError:
            pass
    return fold(journal.read(stream))


@functools.cache
def fingerprint() -> str:
    """Names the code that folds: a snapshot made by any other is not believed."""
    folder = Path(__file__).parent / "core"
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def topic_of(plan: Plan, sprint: SprintFolder) -> str:
    """The word in `impl(topic): …`."""
    return plan.topic or sprint.slug
