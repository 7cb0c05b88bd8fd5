"""What the sections of the configuration are made of."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
MoreThanZero = Annotated[float, Meta(gt=0)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
_HOURS = r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?\Z"
Hours = Annotated[str, Meta(pattern=_HOURS)]
IN_WORDS = {_HOURS: 'hours as "22:00-07:00"'}
"""What each pattern expects, for who wrote something else."""
Words = tuple[str, ...]
Command = str | tuple[str, ...]
"""A shell line, or a list of arguments."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of sections; written out in full, so that the hash of a configuration says what was in force."""


def argv(command: Command) -> tuple[str, ...]:
    """What is run: a line goes to the shell, a list as it is."""
    return ("sh", "-c", command) if isinstance(command, str) else command
