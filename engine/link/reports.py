"""The seeds' reports for a user interface."""

from __future__ import annotations

from collections.abc import Iterator

from engine import report
from engine.core.state import State
from engine.link.local import Desk


def task_report(desk: Desk, state: State, task: str) -> Iterator[str]:
    """Every iteration of a task, the council's diagnosis if it sat, and how the task ended."""
    yield from report.iterations(desk.events(state.sprint), task)
    found = state.tasks[task]
    if found.seats or found.diagnosis is not None:
        yield report.council(found)
    if found.ended:
        yield report.completion(state, found)


def sprint_report(state: State) -> Iterator[str]:
    """The banner, each ended task, the closing summary."""
    yield report.banner(state)
    for task in state.tasks.values():
        if task.ended and task.iteration:
            yield report.completion(state, task)
    yield report.summary(state)
