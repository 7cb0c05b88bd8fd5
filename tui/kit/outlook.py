"""What is still to come: money and time left of a sprint, from its own finished tasks and those before it. Pure."""

from __future__ import annotations

from engine.core.forecast import Forecast, PastTask, forecast
from engine.core.model import Struct
from engine.core.state import State, Status, TaskState
from engine.core.wording import plural

LEAST = 0.1
"""Share of its forecast, or of what it has taken where that is more, that a running task still has: one that is far
beyond its forecast is not almost done."""


class Outlook(Struct, frozen=True, kw_only=True):
    usd: float = 0.0
    """Still to be spent."""
    seconds: float = 0.0
    """Until the last task ends, with the lanes there are."""
    tasks: int = 0
    basis: str = ""
    """What it rests on, in words."""


class _Guesses(Struct, frozen=True, kw_only=True):
    """What does not change until something happens: asked for several times a second, worked out once."""

    of: State
    tasks: tuple[tuple[TaskState, Forecast], ...]
    here: int
    past: int


_last = _Guesses(of=State(), tasks=(), here=0, past=0)


def _guesses(state: State) -> _Guesses:
    global _last
    if _last.of is not state:
        here = tuple(_past(task) for task in state.tasks.values() if task.status is Status.COMPLETE and task.ended_at)
        past, rungs = (*here, *state.past), state.policy.ladder.rungs
        left = (task for task in state.tasks.values() if not task.ended)
        found = tuple((task, forecast((task.spec,), past, rungs)) for task in left)
        _last = _Guesses(of=state, tasks=found, here=len(here), past=len(past))
    return _last


def outlook(state: State, now: float) -> Outlook:
    """Of the tasks that have not ended."""
    known = _guesses(state)
    left = known.tasks
    if not left:
        return Outlook()
    usd, work = 0.0, []
    for task, guess in left:
        took = max(0.0, now - task.started_at) if task.started_at else 0.0
        usd += _left(guess.usd, task.spent_usd)
        work.append(_left(guess.seconds, took))
    lanes = max(1, min(state.policy.lanes, len(left)))
    seconds = max(sum(work) / lanes, max(work))
    if known.here:
        basis = f"from {plural(known.here, 'task')} done in this sprint"
    elif known.past:
        basis = f"from {plural(known.past, 'task')} of earlier sprints"
    else:
        basis = "is a guess: no task is done yet"
    return Outlook(usd=usd, seconds=seconds, tasks=len(left), basis=basis)


def _left(expected: float, taken: float) -> float:
    return max(LEAST * max(expected, taken), expected - taken)


def cost_of(state: State, tasks: tuple[str, ...]) -> float:
    """What these tasks will probably cost."""
    here = tuple(_past(task) for task in state.tasks.values() if task.status is Status.COMPLETE and task.ended_at)
    specs = tuple(state.tasks[name].spec for name in tasks if name in state.tasks)
    return forecast(specs, (*here, *state.past), state.policy.ladder.rungs).usd


def _past(task: TaskState) -> PastTask:
    return PastTask(
        complexity=task.complexity,
        usd=task.spent_usd,
        seconds=max(1.0, task.ended_at - task.started_at),
        iterations=max(1, task.iteration),
    )
