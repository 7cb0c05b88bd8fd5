"""What a run must know of the repository's other sprints: the day's money, the hour's calls, how good each rung is."""

from __future__ import annotations

from engine.core.forecast import KEPT, PastTask
from engine.core.index_ladder import RungStats, added
from engine.core.ladder import measured
from engine.core.model import Struct
from engine.core.state import State, Status
from engine.journal import Journal
from engine.project import load_state


class OtherSprints(Struct, frozen=True, kw_only=True):
    """What the repository's other sprints tell a run."""

    spent_usd: float = 0.0
    """Today."""
    calls: tuple[float, ...] = ()
    """Agent calls within the hour."""
    measured: dict[str, RungStats] = {}
    tasks: tuple[PastTask, ...] = ()
    """Their finished tasks, the latest."""


def of_other_sprints(journal: Journal, stream: str, now: float, utc_offset: float) -> OtherSprints:
    """Of the repository's other sprints: spent today, agent calls within the hour, rungs measured, tasks finished."""
    day = int((now + utc_offset) // 86400)
    spent, calls = 0.0, []
    stats: dict[str, RungStats] = {}
    done: list[tuple[float, PastTask]] = []
    for other in journal.streams():
        if other == stream:
            continue
        state = load_state(journal, other)
        spent += state.usage_by_day.get(str(day), 0.0)
        calls += [call for call in state.recent_calls if now - 3600 < call <= now]
        for name, one in measured(state).items():
            stats[name] = added(stats[name], one) if name in stats else one
        done += past_tasks(state)
    done.sort(key=lambda one: one[0])
    tasks = tuple(task for _at, task in done[-KEPT:])
    return OtherSprints(spent_usd=spent, calls=tuple(sorted(calls)), measured=stats, tasks=tasks)


def past_tasks(state: State) -> list[tuple[float, PastTask]]:
    """When each worked-on task ended, and what a forecast learns from it."""
    return [
        (
            task.ended_at,
            PastTask(
                complexity=task.complexity,
                usd=task.spent_usd,
                seconds=task.worked_seconds,
                iterations=task.iteration,
                check_seconds=sum(result.seconds for result in task.checks),
                flaky=sum(result.counts.flaky for result in task.checks if result.counts is not None),
            ),
        )
        for task in state.tasks.values()
        if task.status is Status.COMPLETE and task.iteration and task.started_at
    ]
