"""Where the code of a change comes from: what only moved from one file to another is not new. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner

FEW = 2
"""Lines that have to have moved: one alone stands in many files."""
SHORT = 6
"""Characters of a line that says nothing of where it comes from."""


def origins(owned: Iterable[Owned]) -> Mapping[str, bytes]:
    """For a source file that took lines from others: what it had, and what they had. Rules that look for what is new
    compare with this."""
    source = [one for one in owned if one.owner is Owner.SUBJECT and language_of(one.path)]
    lost = {one.path: _lines(one.before) - _lines(one.after) for one in source if one.before}
    found: dict[str, bytes] = {}
    for one in source:
        came = _lines(one.after) - _lines(one.before)
        givers = [
            other.before
            for other in source
            if other.before
            and other is not one
            and language_of(other.path) == language_of(one.path)
            and len(came & lost[other.path]) >= FEW
        ]
        if givers:
            found[one.path] = b"\n".join((one.before or b"", *givers))
    return found


def _lines(data: bytes | None) -> set[bytes]:
    return {line.strip() for line in (data or b"").splitlines() if len(line.strip()) >= SHORT}
