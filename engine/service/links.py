"""The links that a user interface can have to a sprint of this repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.core.commands import Ack, AnyCommand, LandNow
from engine.core.events import Envelope
from engine.core.model import Struct
from engine.core.state import State
from engine.journal import Holder, Journal
from engine.link.attached import AttachedLink
from engine.link.protocol import Answered, AnyQuery
from engine.link.user_errors import as_user_error
from engine.link.waiting import WaitingLink
from engine.plans.sprints import SprintFolder
from engine.service.local import Desk
from engine.sign_of_life import Sign, last


class SprintSource(Struct, frozen=True, kw_only=True):
    """One sprint of a repository, as a link asks for it (`engine.link.source.Source`)."""

    desk: Desk
    folder: SprintFolder

    @property
    def sprint(self) -> str:
        return self.folder.id

    @property
    def socket(self) -> Path:
        return self.desk.project.state.socket

    def state(self) -> State:
        return self.desk.state(self.sprint)

    def events(self, after: int) -> Iterator[Envelope]:
        return self.desk.events(self.sprint, after)

    def viewer(self) -> Journal:
        return self.desk.viewer()

    def engine(self) -> Holder | None:
        return self.desk.engine()

    def last_sign(self, run: str) -> Sign:
        return last(self.desk.project.state.alive, run)

    def tell(self, command: AnyCommand) -> Ack:
        """By the desk. Landing needs no engine: with none running it is done here and now."""
        if not isinstance(command, LandNow) or self.engine() is not None:
            return self.desk.tell(command, self.sprint)
        from engine.service.landing import land_sprint

        try:
            ok, lines = land_sprint(self.desk, self.sprint, branch=False, patch=None, apply=True)
        except Exception as error:
            told = as_user_error(error)
            if told is None:
                raise
            return Ack(ok=False, detail=str(told))
        return Ack(ok=ok, detail="; ".join(line.strip() for line in lines[:4]))

    def answer(self, query: AnyQuery, state: State) -> Answered:
        from engine.service.queries import Answers

        return Answers(self.desk, self.folder, lambda: state).answer(query)


def attached_link(desk: Desk, folder: SprintFolder) -> AttachedLink:
    """To an engine in another process, or to a sprint that nobody runs."""
    return AttachedLink(SprintSource(desk=desk, folder=folder))


def waiting_link(desk: Desk | None) -> WaitingLink:
    """To the first sprint that will be made here; outside a repository there is none to come."""

    def made() -> AttachedLink | None:
        return attached_link(desk, desk.sprint()) if desk is not None and desk.any_sprint() else None

    return WaitingLink(made)
