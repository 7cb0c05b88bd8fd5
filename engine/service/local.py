"""The light door: what a command line asks of a repository without running an engine. Nothing heavy is imported."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine import VERSION
from engine.clock import SystemClock
from engine.core.commands import Ack, AnyCommand, Cancel, Pause, Resume, SetAttended, Stop
from engine.core.events import AnyEvent, CommandHandled, Envelope, RunEnded
from engine.core.model import Struct
from engine.core.orders import obey
from engine.core.other_clock import to_show
from engine.core.planning import comes_first
from engine.core.state import State
from engine.core.statistics import SprintStatistics
from engine.core.statistics import of_sprint as of_events
from engine.core.status_words import of_sprint
from engine.core.vocabulary import Outcome
from engine.engine_log import read as read_engine_log
from engine.journal import EngineLock, EngineRunning, Holder, Journal, JournalMissing
from engine.link.own_time import ahead_of
from engine.link.protocol import SprintLine
from engine.link.user_errors import UserError
from engine.plans.sprint_search import SprintNotFound
from engine.plans.sprints import SprintFolder, list_sprints
from engine.project import Project, engine_lock, load_state, open_project, stored_state

__all__ = ["Desk", "SprintFolder", "SprintNotFound", "open_desk"]

ACK_SECONDS = 5.0
AGAIN_SECONDS = 0.05


class Desk(Struct, frozen=True, kw_only=True):
    """A repository, as the command line sees it."""

    project: Project

    @property
    def root(self) -> Path:
        return self.project.root

    def sprint(self, hint: str = "") -> SprintFolder:
        try:
            return self.project.sprint(hint)
        except SprintNotFound as none:
            from engine.service.lost_folder import bring_back

            if not none.choices and (back := bring_back(self.project)) is not None:
                raise back from none
            raise

    def engine(self) -> Holder | None:
        """Who runs an engine here."""
        return EngineLock.holder(self.project.state.lock)

    def viewers(self) -> int | None:
        """How many look on at the engine that runs here; None when it does not say."""
        from engine.channel.client import Caller, ChannelClosed

        try:
            with Caller(self.project.state.socket, VERSION, timeout=AGAIN_SECONDS * 10) as engine:
                return engine.welcome.viewers
        except ChannelClosed:
            return None

    def state(self, hint: str = "") -> State:
        return stored_state(self.project, self.sprint(hint))

    def shown(self, hint: str = "") -> State:
        """Where the sprint stands, to be looked at: quick after an upgrade too, and nothing to decide by."""
        state = stored_state(self.project, self.sprint(hint), to_show=True)
        return to_show(state, ahead_of(state))

    def any_sprint(self) -> bool:
        """Whether there is a sprint, whatever the journal can tell of it."""
        return bool(list_sprints(self.project.root))

    def sprints(self) -> list[SprintLine]:
        lines = []
        for folder in list_sprints(self.project.root):
            if folder.problem:
                lines.append(SprintLine(id=folder.id, title=folder.problem, status="unreadable", done=0, total=0))
                continue
            state = stored_state(self.project, folder, to_show=True)
            done, total = state.progress()
            word = of_sprint(state) or folder.status
            lines.append(
                SprintLine(
                    id=folder.id,
                    title=folder.title,
                    status=word,
                    done=done,
                    total=total,
                    spent_usd=state.spent_usd,
                    at=state.now,
                )
            )
        return lines

    def statistics(self) -> list[SprintStatistics]:
        """What each sprint adds to the whole; those that have not begun add nothing."""
        found = (of_events(self.events(folder.id)) for folder in list_sprints(self.project.root))
        return [one for one in found if one.sprint]

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

    def engine_log(self) -> Iterator[dict[str, Any]]:
        """What the engine itself was at, as it wrote it; oldest first."""
        return read_engine_log(self.project.state.root)

    def tell(self, command: AnyCommand, hint: str = "") -> Ack:
        """Have a command carried out: by the engine that runs here, else at once, under the lock that it would hold.

        `hint`: only on this sprint; without it, on the one that runs, else on the latest."""
        from engine.channel.client import Caller, ChannelClosed, identified

        meant = self.sprint(hint) if hint else None
        command = identified(command)
        before, deadline = self._last_seq(), time.monotonic() + ACK_SECONDS
        while True:
            if self.engine() is None:
                with contextlib.suppress(EngineRunning):
                    return self._handled(command.id, before) or self._carry_out(command, meant or self.sprint())
            try:
                with Caller(self.project.state.socket, VERSION, timeout=ACK_SECONDS) as engine:
                    if meant is not None and engine.welcome.sprint != meant.id:
                        said = f"an engine is at work on {engine.welcome.sprint}: {meant.id} can be told when it ends"
                        return Ack(ok=False, detail=f"{said}, or after: devteam stop")
                    reply = engine.tell(command)
                if not reply.late:
                    return Ack(ok=reply.ok, detail=reply.detail)
            except ChannelClosed as closed:
                # One that is just starting listens soon; one that ended has left its answer in the journal, or none.
                if time.monotonic() > deadline:
                    return Ack(ok=False, detail=f"{closed}; devteam log --engine shows what it is at")
            time.sleep(AGAIN_SECONDS)

    def _last_seq(self) -> int:
        try:
            with self.viewer() as journal:
                return journal.last_seq()
        except JournalMissing:
            return 0

    def _handled(self, command: str, after: int) -> Ack | None:
        """What an engine that is gone did with a command it may have heard."""
        try:
            with self.viewer() as journal:
                for envelope in journal.tail(after):
                    event = envelope.event
                    if isinstance(event, CommandHandled) and event.command == command:
                        return Ack(ok=event.ok, detail=event.detail)
        except JournalMissing:
            pass
        return None

    def _carry_out(self, command: AnyCommand, sprint: SprintFolder) -> Ack:
        """No engine runs: the facts go to this sprint's history now, so that they can never reach another's."""
        if isinstance(command, Pause | Resume | Stop | SetAttended):
            return Ack(ok=False, detail="no engine is running: devteam run starts one")
        clock = SystemClock()
        with (
            engine_lock(self.project, clock.now),
            Journal.open(self.project.repo.db, clock=clock.now, backup_dir=self.project.backups) as journal,
        ):
            state = load_state(journal, sprint.id)
            outcome = obey(state, command)
            events: list[AnyEvent] = list(outcome.events)
            if isinstance(command, Cancel) and outcome.ok:
                events.append(RunEnded(run=state.run, outcome=Outcome.CANCELLED, reason=outcome.detail))
            if events:
                name = str(command.__struct_config__.tag)
                events.append(
                    CommandHandled(command=command.id or "by-hand", name=name, ok=True, detail=outcome.detail)
                )
                journal.append(sprint.id, events)
                state = load_state(journal, sprint.id)
                self._show(sprint, state)
        goes_on = "devteam plan" if comes_first(state) else "devteam run"
        over = isinstance(command, Cancel) or of_sprint(state) == "done"
        then = f"; {goes_on} goes on from there" if outcome.ok and not over else ""
        where = f" (in {sprint.id}; another one: --sprint)" if not outcome.ok and self._several() else ""
        return Ack(ok=outcome.ok, detail=f"{outcome.detail}{then}{where}")

    def _show(self, sprint: SprintFolder, state: State) -> None:
        """The files follow at once: a box that still says done would be read as the user's word at the next start."""
        if state.plan is None or (state.planning is not None and state.planning.under_way):
            return
        from engine.view_writer import Views

        Views(self.project, sprint).flush(state)

    def told(self, sprint: str) -> str:
        """What a command needs to reach this sprint: nothing for the one it would reach anyway."""
        return "" if self.sprint().id == sprint else f" --sprint {sprint}"

    def _several(self) -> bool:
        return len(list_sprints(self.project.root)) > 1

    def viewer(self) -> Journal:
        clock = SystemClock()
        return Journal.open(self.project.repo.db, clock=clock.now, backup_dir=self.project.backups, read_only=True)


def open_desk(start: Path, env: Mapping[str, str], home: Path) -> Desk:
    return Desk(project=open_project(start, env, home))


def need(desk: Desk | None) -> Desk:
    if desk is None:
        raise UserError("this is not a git repository", "cd into one, or try: devteam demo")
    return desk
