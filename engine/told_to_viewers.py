"""What a viewer in another process is told first: whose engine this is, and the facts there are."""

from __future__ import annotations

import itertools
import os

from engine import VERSION
from engine.channel.messages import PROTOCOL, Welcome
from engine.clock import Clock
from engine.core import events as ev
from engine.core.state import State
from engine.core.waiting import waits_for
from engine.journal import Journal
from engine.plans.sprints import SprintFolder
from engine.project import Project


class Recorded:
    """Facts from the journal by a connection of its own, for a viewer that begins or was behind."""

    def __init__(self, project: Project, sprint: SprintFolder, clock: Clock) -> None:
        self._project = project
        self._sprint = sprint
        self._clock = clock

    def __call__(self, after: int, limit: int) -> list[ev.Envelope]:
        project = self._project
        reading = Journal.open(project.repo.db, clock=self._clock.now, backup_dir=project.backups, read_only=True)
        with reading as journal:
            return list(itertools.islice(journal.read(self._sprint.id, after=after), limit))


def welcome(project: Project, sprint: SprintFolder, state: State, viewers: int) -> Welcome:
    done, total = state.progress()
    return Welcome(
        protocol=PROTOCOL,
        version=VERSION,
        pid=os.getpid(),
        root=str(project.root),
        sprint=sprint.id,
        title=sprint.title,
        viewers=viewers,
        health=state.health.value,
        spent_usd=state.spent_usd,
        done=done,
        total=total,
        waiting=waits_for(state),
        attended=state.attended,
        since=state.run_started_at,
    )
