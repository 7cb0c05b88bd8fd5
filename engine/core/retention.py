"""Which sprints' traces stay on disk. Nothing of a sprint that runs, is unfinished or has not landed ever goes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from engine.core.model import Struct
from engine.core.state import State
from engine.core.vocabulary import Outcome


class Use(StrEnum):
    """What a sprint's traces are still good for."""

    RUNNING = "running"
    UNFINISHED = "not finished"
    UNLANDED = "not landed"
    CHECKED_OUT = "its branch is checked out"
    ENDED = "ended"


class Trace(Struct, frozen=True):
    """A sprint that has left something behind."""

    sprint: str
    use: Use


def use_of(state: State, *, current: bool, landed: bool, checked_out: bool) -> Use:
    """`landed`: every commit of it is in the user's own history, or it made none."""
    if current or state.running:
        return Use.RUNNING
    if not state.sprint or state.outcome not in (Outcome.DONE, Outcome.CANCELLED):
        return Use.UNFINISHED
    if not landed:
        return Use.UNLANDED
    return Use.CHECKED_OUT if checked_out else Use.ENDED


def leaving(traces: Sequence[Trace], keep: int) -> tuple[str, ...]:
    """The ended sprints beyond the newest `keep` of them; `traces` are oldest first."""
    ended = [trace.sprint for trace in traces if trace.use is Use.ENDED]
    return tuple(ended[: max(0, len(ended) - max(0, keep))])
