"""What a link needs to know of one sprint on disk. The service gives it: a link carries, it does not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope
from engine.core.state import State
from engine.journal import Holder, Journal
from engine.link.protocol import Answered, AnyQuery
from engine.sign_of_life import Sign


class Source(Protocol):
    """One sprint of one repository."""

    @property
    def sprint(self) -> str: ...

    @property
    def socket(self) -> Path:
        """Where its engine listens, when one runs."""
        ...

    def state(self) -> State: ...

    def events(self, after: int) -> Iterator[Envelope]: ...

    def viewer(self) -> Journal:
        """The journal, to be read only."""
        ...

    def engine(self) -> Holder | None:
        """Who runs an engine on it."""
        ...

    def last_sign(self, run: str) -> Sign:
        """When the engine of a run was last alive, and which process it was."""
        ...

    def tell(self, command: AnyCommand) -> Ack:
        """Have a command carried out, with or without an engine."""
        ...

    def answer(self, query: AnyQuery, state: State) -> Answered:
        """Answer a question about the sprint as it is in `state`."""
        ...
