"""The contract: a drill makes something go wrong in a scene and says of each guarantee whether it held."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.core.model import Struct
from engine.drills.scene import Scene


class Held(Struct, frozen=True, kw_only=True):
    """One guarantee, and what was seen of it."""

    guarantee: str
    held: bool
    seen: str = ""


class Drill(Struct, frozen=True, kw_only=True):
    """One drill."""

    name: str
    goes_wrong: str
    """In a few words, for the list."""
    play: Callable[[Scene], Awaitable[list[Held]]]


class Played(Struct, frozen=True, kw_only=True):
    """What came of a drill."""

    drill: str
    goes_wrong: str
    held: tuple[Held, ...]
    happened: tuple[str, ...]
    seconds: float
    skipped: float
    """Seconds of waiting that nobody had to wait."""

    @property
    def ok(self) -> bool:
        return bool(self.held) and all(one.held for one in self.held)


def held(guarantee: str, true: bool, seen: object = "") -> Held:
    words = ", ".join(map(str, seen)) if isinstance(seen, list | tuple) else str(seen)
    return Held(guarantee=guarantee, held=true, seen=words)
