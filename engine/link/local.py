"""The light door: what a command line asks of a repository without running an engine. Nothing heavy is imported."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.clock import SystemClock
from engine.core.commands import AnyCommand
from engine.core.events import CommandHandled, Envelope
from engine.core.model import Struct
from engine.core.state import State
from engine.inbox import send
from engine.journal import EngineLock, Holder, Journal, JournalMissing
from engine.link.contract import Ack, SprintLine
from engine.link.errors import UserError
from engine.plans.sprints import SprintFolder, list_sprints
from engine.project import Project, open_project, stored_state

__all__ = ["Desk", "SprintFolder", "open_desk"]

ACK_SECONDS = 5.0


class Desk(Struct, frozen=True, kw_only=True):
    """A repository, as the command line sees it."""

    project: Project

    @property
    def root(self) -> Path:
        return self.project.root

    def sprint(self, hint: str = "") -> SprintFolder:
        return self.project.sprint(hint)

    def engine(self) -> Holder | None:
        """Who runs an engine here."""
        return EngineLock.holder(self.project.state.lock)

    def state(self, hint: str = "") -> State:
        return stored_state(self.project, self.sprint(hint))

    def any_sprint(self) -> bool:
        """Whether there is a sprint, whatever the journal can tell of it."""
        return bool(list_sprints(self.project.root))

    def sprints(self) -> list[SprintLine]:
        lines = []
        for folder in list_sprints(self.project.root):
            if folder.problem:
                lines.append(SprintLine(id=folder.id, title=folder.problem, status="unreadable", done=0, total=0))
                continue
            state = stored_state(self.project, folder)
            done, total = state.progress()
            word = "running" if state.running else state.outcome or folder.status
            lines.append(
                SprintLine(
                    id=folder.id, title=folder.title, status=word, done=done, total=total, spent_usd=state.spent_usd
                )
            )
        return lines

    def events(self, hint: str = "", after: int = 0) -> Iterator[Envelope]:
        """A sprint's events as recorded."""
        sprint = self.sprint(hint)
        try:
            with self.viewer() as journal:
                yield from journal.read(sprint.id, after=after)
        except JournalMissing:
            return

    def follow(self, hint: str = "", after: int = 0, every: float = 0.2) -> Iterator[Envelope]:
        """A sprint's events, then what comes."""
        sprint = self.sprint(hint)
        seen = after
        while True:
            try:
                with self.viewer() as journal:
                    while True:
                        for envelope in journal.tail(seen):
                            seen = envelope.seq
                            if envelope.stream == sprint.id:
                                yield envelope
                        time.sleep(every)
            except JournalMissing:
                time.sleep(every)

    def tell(self, command: AnyCommand) -> Ack:
        """Send a command; with an engine running, its answer is waited for, else the next start takes it up."""
        before = 0
        try:
            with self.viewer() as journal:
                before = journal.last_seq()
        except JournalMissing:
            pass
        name = send(self.project.state.inbox, command)
        if self.engine() is None:
            return Ack(ok=True, detail="no engine is running: it will be taken up at the next start (devteam run)")
        deadline = time.monotonic() + ACK_SECONDS
        with self.viewer() as journal:
            while time.monotonic() < deadline:
                for envelope in journal.tail(before):
                    before = envelope.seq
                    event = envelope.event
                    if isinstance(event, CommandHandled) and event.command == name:
                        return Ack(ok=event.ok, detail=event.detail)
                time.sleep(0.02)
        return Ack(ok=True, detail="sent; the engine has not answered yet (devteam log shows when it does)")

    def viewer(self) -> Journal:
        clock = SystemClock()
        return Journal.open(self.project.repo.db, clock=clock.now, backup_dir=self.project.backups, read_only=True)


def open_desk(start: Path, env: Mapping[str, str], home: Path) -> Desk:
    return Desk(project=open_project(start, env, home))


def need(desk: Desk | None) -> Desk:
    if desk is None:
        raise UserError("this is not a git repository", "cd into one, or try: devteam demo")
    return desk
