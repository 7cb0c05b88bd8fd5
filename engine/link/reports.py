"""The seeds' reports for a user interface."""

from __future__ import annotations

from collections.abc import Iterator

from engine import report
from engine.core.state import State
from engine.link.local import Desk
from engine.summary import summary


def task_report(desk: Desk, state: State, task: str) -> Iterator[str]:
    """Every iteration of a task, the council's diagnosis if it sat, and how the task ended."""
    yield from report.iterations(desk.events(state.sprint), task)
    found = state.tasks[task]
    if found.seats or found.diagnosis is not None:
        yield report.council(found)
    if found.ended:
        yield report.completion(state, found)


def sprint_report(state: State, desk: Desk | None = None) -> Iterator[str]:
    """The banner, each ended task, the closing summary."""
    sprints = desk.sprints() if desk is not None else []
    yield report.banner(state, (sum(line.total > 0 and line.done == line.total for line in sprints), len(sprints)))
    for task in state.tasks.values():
        if task.ended and task.iteration:
            yield report.completion(state, task)
    yield summary(state)
