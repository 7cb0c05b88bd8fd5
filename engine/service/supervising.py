"""Taking lost sprints up again: those that were running when their engine, or the machine, went down.

A sprint that somebody stopped has its end in the journal and is left alone; so is one whose engine always ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engine import state_folder
from engine.core.model import Struct
from engine.core.state import State
from engine.journal import EngineLock
from engine.link.user_errors import as_user_error
from engine.paths import StatePaths, state_home
from engine.plans.sprints import SprintFolder, list_sprints
from engine.project import stored_state
from engine.service.local import Desk, open_desk

EVERY_SECONDS = 20.0
STARTS = 3
"""So often within `WITHIN` a sprint is taken up; one that is lost again needs somebody who looks."""
WITHIN = 3600.0

Start = Callable[[Desk, SprintFolder, State], None]


class Lost(Struct, frozen=True, kw_only=True):
    """A sprint that runs by its journal, and has no engine."""

    desk: Desk
    folder: SprintFolder
    state: State


def lost(env: Mapping[str, str], home: Path) -> Iterator[Lost]:
    """Over all repositories of this user. Nothing is written; what cannot be read is passed over."""
    for folder in sorted((state_home(env, home) / "devteam").glob("*/")):
        owner = state_folder.owner_of(folder)
        if owner is None or EngineLock.holder(StatePaths(root=folder).lock) is not None:
            continue
        try:
            desk = open_desk(owner.checkout, env, home)
            if desk.project.state.root != folder or desk.project.repo.marker.exists():
                continue  # moved or copied since; or a session of the user's own agent is at it
            running = [(one, stored_state(desk.project, one)) for one in list_sprints(desk.root) if not one.problem]
        except Exception as error:  # boundary: a repository that is gone or broken keeps no other one waiting
            if as_user_error(error) is None and not isinstance(error, OSError):
                raise
            continue
        newest = [(one, state) for one, state in running if state.running][-1:]
        yield from (Lost(desk=desk, folder=one, state=state) for one, state in newest)


class Supervisor:
    """Looks for lost sprints again and again."""

    def __init__(self, env: Mapping[str, str], home: Path, start: Start, say: Callable[[str], None]) -> None:
        self._env = env
        self._home = home
        self._start = start
        self._say = say
        self._started: dict[tuple[Path, str], list[float]] = {}
        self._given_up: set[tuple[Path, str]] = set()

    def look(self, now: float) -> int:
        """Take up what is lost now; how many were."""
        taken = 0
        for one in lost(self._env, self._home):
            name = (one.desk.root, one.folder.id)
            before = [at for at in self._started.get(name, []) if now - at < WITHIN]
            if len(before) >= STARTS:
                if name not in self._given_up:
                    self._given_up.add(name)
                    self._say(
                        f"{one.desk.root}: {one.folder.id} was taken up {STARTS} times and is lost again: left alone"
                    )
                continue
            self._given_up.discard(name)
            self._started[name] = [*before, now]
            try:
                self._start(one.desk, one.folder, one.state)
                taken += 1
                self._say(f"{one.desk.root}: {one.folder.id} goes on")
            except Exception as error:  # boundary: one that cannot start keeps no other one waiting
                told = as_user_error(error)
                if told is None:
                    raise
                self._say(f"{one.desk.root}: {one.folder.id}: {told}")
        return taken

    def run(self) -> None:
        while True:
            self.look(time.monotonic())
            time.sleep(EVERY_SECONDS)
