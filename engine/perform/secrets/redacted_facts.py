"""The one way from the performers to the journal and the screen: what passes holds no known secret.

Rooms redact what they write to files themselves; facts and live messages all come by here, so that one forgotten field
of one event is not a leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from engine.core import events as ev
from engine.core.activity import AnyActivity
from engine.core.effects import AnyEffect
from engine.core.state import State
from engine.perform.process.spawning import PerformError
from engine.perform.secrets.redact import Redactor

Message = TypeVar("Message", bound=msgspec.Struct)


class Performs(Protocol):
    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]: ...


class Redacted:
    """A performer whose facts and errors are redacted."""

    def __init__(self, performer: Performs, redactor: Redactor) -> None:
        self._performer = performer
        self._redactor = redactor

    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        try:
            facts = await self._performer.perform(effect, state)
        except PerformError as error:
            said, hint = self._redactor.text(str(error)), self._redactor.text(error.hint)
            raise PerformError(said, kind=error.kind, hint=hint, fault=error.fault) from error
        except Exception as error:  # boundary: the runner stores the words of any error
            said = f"{type(error).__name__}: {error}"
            raise PerformError(self._redactor.text(said), hint="please report this") from error
        return [clear(fact, self._redactor) for fact in facts]


def redacting(publish: Callable[[AnyActivity], None], redactor: Redactor) -> Callable[[AnyActivity], None]:
    """`publish` for messages that are redacted on their way."""
    return lambda message: publish(clear(message, redactor))


def clear(message: Message, redactor: Redactor) -> Message:
    """The same message without secrets; the very same when it holds none. Raises when it cannot be made."""
    encoded = msgspec.json.encode(message)
    redacted = redactor.bytes(encoded)
    return message if redacted == encoded else msgspec.json.decode(redacted, type=type(message))
