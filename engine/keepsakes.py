"""What a checkpoint keeps besides git: the place in the journal, the plan, the context."""

from __future__ import annotations

from pathlib import Path

from engine.clock import Clock
from engine.journal import Journal
from engine.plans.sprints import SprintFolder

BACKUP_SECONDS = 600.0
"""A backup copies and verifies the whole journal, so not every checkpoint makes one: each names its place in it."""


class Keepsakes:
    """Of one sprint, over a run."""

    def __init__(self, sprint: SprintFolder, journal: Journal, clock: Clock) -> None:
        self._sprint = sprint
        self._journal = journal
        self._clock = clock
        self._backed_up = float("-inf")

    def of_now(self) -> dict[str, Path | bytes]:
        now = self._clock.now()
        if not 0 <= now - self._backed_up < BACKUP_SECONDS:
            self._journal.backup()
            self._backed_up = now
        files: dict[str, Path | bytes] = {"journal.json": self._journal.place()}
        # Progress and features are views: the place in the journal is a copy of all they were made from.
        if self._sprint.context_path.is_file():
            files[self._sprint.context_path.name] = self._sprint.context_path
        if self._sprint.plan_path.is_file():  # without its ticks, which the journal has: the same text is kept once
            files[self._sprint.plan_path.name] = self._sprint.plan_path.read_bytes().replace(b"- [x] ", b"- [ ] ")
        return files
