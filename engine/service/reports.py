"""The seeds' reports for a user interface."""

from __future__ import annotations

from collections.abc import Iterator

from engine import html_report, pull_request, report
from engine.closing_summary import summary
from engine.core import statistics
from engine.core.state import State
from engine.core.statistics import Statistics
from engine.link.protocol import GetDiff
from engine.service.local import Desk
from engine.service.queries import Answers


def task_report(desk: Desk, state: State, task: str) -> Iterator[str]:
    """Every iteration of a task, the council's diagnosis if it sat, and how the task ended."""
    yield from report.iterations(desk.events(state.sprint), task)
    found = state.tasks[task]
    if found.seats or found.diagnosis is not None:
        yield report.council(found)
    if found.ended:
        yield report.completion(state, found)


def html_page(desk: Desk, hint: str) -> str:
    """The sprint as one self-contained page, with the change of each task."""
    folder, state = desk.sprint(hint), desk.state(hint)
    answers = Answers(desk, folder, lambda: state)
    worked = [name for name, task in state.tasks.items() if task.base and task.tree]
    diffs = {name: answers.answer(GetDiff(task=name)).text for name in worked}
    return html_report.page(state, diffs)


def pull_request_text(desk: Desk, hint: str) -> str:
    return pull_request.description(desk.state(hint))


def statistics_of(desk: Desk) -> Statistics:
    """Every sprint of the repository together."""
    return statistics.together(one.figures for one in desk.statistics())


def sprint_report(state: State, desk: Desk | None = None) -> Iterator[str]:
    """The banner, each ended task, the closing summary."""
    sprints = desk.sprints() if desk is not None else []
    yield report.banner(state, (sum(line.total > 0 and line.done == line.total for line in sprints), len(sprints)))
    for task in state.tasks.values():
        if task.ended and task.iteration:
            yield report.completion(state, task)
    yield summary(state)
