"""Tests that lie in a folder that the plan moves, and go with it: a package of Go, a component with its spec. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.grants import Grant, GrantKind
from engine.perform.checks.proof.owned import ORACLE, Owned, Owner
from engine.perform.checks.proof.rename_text import equal_but_for


def goes_along(one: Owned, changed: Sequence[Owned], grants: Sequence[Grant]) -> tuple[Grant, str] | None:
    """The move, and where the file of the base's tests stands after it, with the text it had but for the names.

    Where it stood nothing can be asked any more: what it tests has left the folder. What it asks is asked in its new
    place, where the whole run of the change finds it.
    """
    if one.owner not in ORACLE or one.before is None or one.after is not None:
        return None
    for grant in grants:
        if grant.kind is not GrantKind.MOVE or not _is_folder(grant, changed):
            continue
        old, new = (f"{place.strip('/')}/" for place in (grant.target, grant.to))
        if not one.path.startswith(old):
            continue
        place = new + one.path.removeprefix(old)
        there = next((other.after for other in changed if other.path == place and other.before is None), None)
        same = there is not None and (there == one.before or equal_but_for(one.path, one.before, there, grants))
        return (grant, place) if same else None
    return None


def _is_folder(grant: Grant, changed: Sequence[Owned]) -> bool:
    """A program of the folder left it for the other one."""
    old, new = (f"{place.strip('/')}/" for place in (grant.target, grant.to))
    left = {one.path.removeprefix(old) for one in changed if one.path.startswith(old) and one.after is None}
    came = {one.path.removeprefix(new) for one in changed if one.path.startswith(new) and one.before is None}
    subjects = {one.path.removeprefix(old) for one in changed if one.owner is Owner.SUBJECT}
    return bool(left & came & subjects)
