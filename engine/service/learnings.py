"""`devteam learnings`: what the repository's sprints decided, to look at and to drop."""

from __future__ import annotations

from engine import learnings
from engine.learnings import Learning
from engine.link.user_errors import UserError
from engine.perform.workspace.destroy import unlink_in_checkout
from engine.service.local import Desk

__all__ = ["Learning", "all_of", "doubtful", "drop", "one_of"]

doubtful = learnings.doubtful


def all_of(desk: Desk) -> tuple[Learning, ...]:
    return learnings.read_all(desk.root)


def one_of(desk: Desk, name: str) -> Learning:
    """By its name, or by a part of it that no other has."""
    every = all_of(desk)
    exact = [one for one in every if one.name == name]
    found = exact or [one for one in every if name.lower() in one.name.lower() or name.lower() in one.title.lower()]
    if len(found) == 1:
        return found[0]
    listed = "\n".join(f"  {one.name}  {one.title}" for one in found[:20])
    if found:
        raise UserError(f"“{name}” could be one of these:\n{listed}", "type its whole name")
    raise UserError(f"no learning is called “{name}”", "devteam learnings list")


def drop(desk: Desk, name: str) -> Learning:
    """Take a learning away: no later prompt is given it. git has it still, where it was committed."""
    one = one_of(desk, name)
    unlink_in_checkout(desk.root, str(one.path.relative_to(desk.root)).encode())
    return one
