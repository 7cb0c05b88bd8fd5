"""Who attends is known: the viewers connected now. What follows when the last one leaves, or the first one comes."""

from __future__ import annotations

from typing import assert_never

from engine.core.commands import AnyCommand, Pause, Resume, SetAttended
from engine.core.state import State, Status
from engine.core.vocabulary import Detached

BY = "attendance"


def lease(state: State) -> float:
    """Seconds that the run may go on with nobody watching; 0: no bound."""
    return state.policy.gates.lease_seconds


def unwatched(state: State) -> tuple[str, ...]:
    """The tasks that were completed while nobody attended."""
    return tuple(task.id for task in state.tasks.values() if task.status is Status.COMPLETE and task.unwatched)


def commands(state: State, viewers: int, *, paused_by_us: bool, asked_for: bool = True) -> tuple[AnyCommand, ...]:
    """What is to be told the run, now that so many look on.

    Not `asked_for` is a run that was started to ask nobody. Who looks on sees it and stops nothing, unless they say
    that they want to be asked (SetAttended); when they are gone it goes on, whatever gates.detached says.
    """
    if viewers and not asked_for:
        return ()
    if viewers:
        back: tuple[AnyCommand, ...] = () if state.attended else (SetAttended(attended=True, by=BY),)
        return (*back, Resume(by=BY)) if paused_by_us and state.paused else back
    detached = state.policy.gates.detached if asked_for else Detached.CONTINUE
    match detached:
        case Detached.CONTINUE:
            return (SetAttended(attended=False, by=BY),) if state.attended else ()
        case Detached.WAIT:
            return ()
        case Detached.PAUSE:
            return () if state.paused else (Pause(by=BY),)
        case _:
            assert_never(detached)


def words(detached: Detached) -> str:
    """What is said on leaving."""
    match detached:
        case Detached.CONTINUE:
            return "nobody is asked while you are away: the ladder decides, what needs you is parked"
        case Detached.WAIT:
            return "it works until it needs you, and waits there"
        case Detached.PAUSE:
            return "it pauses after the running steps, until you are back"
        case _:
            assert_never(detached)
