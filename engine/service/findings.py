"""What init and doctor have to say: a line each, with the one line that mends it."""

from __future__ import annotations

from typing import Literal

from engine.core.model import Struct

Mark = Literal["ok", "note", "bad"]


class Finding(Struct, frozen=True, kw_only=True):
    """One line of devteam doctor."""

    mark: Mark
    what: str
    found: str
    hint: str = ""
