"""Keeps the views current: an observer of the journal, which writes when something worth reading changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import views
from engine.core import events as ev
from engine.core.model import Plan, TaskSpec
from engine.core.state import State, Status
from engine.plans.contract import PlanRefused
from engine.plans.registry import mark_plan, mark_tasks
from engine.plans.sprints import SprintFolder
from engine.project import Project

_WORTH_READING = (
    ev.SprintCreated,
    ev.RunStarted,
    ev.RunEnded,
    ev.TaskStarted,
    ev.TaskEnded,
    ev.Decided,
    ev.PlanChanged,
    ev.AutoChanged,
    ev.GateOpened,
    ev.GateAnswered,
)
_MARKS = {
    Status.PENDING: "open",
    Status.RUNNING: "in_progress",
    Status.COMPLETE: "done",
    Status.SKIPPED: "skipped",
    Status.BLOCKED: "blocked",
    Status.HALTED: "blocked",
    Status.BUDGET_EXHAUSTED: "blocked",
}
_INIT = """#!/bin/sh
# Once you put a command here and trust it (devteam trust), devteam runs this at the start of every session, in the
# sandbox and in a clone of its own. Ignored folders it makes are shown read-only to agents and checks.
# It has to end: what it leaves running ends with it.
exit 0
"""


class Views:
    """The sprint's files for people. One that cannot be written is tried again; the engine never stops for it."""

    def __init__(self, project: Project, sprint: SprintFolder) -> None:
        self._project = project
        self._sprint = sprint
        self._marked: dict[str, str] = {}
        self._written: dict[Path, str] = {}
        self.problem = ""

    def __call__(self, envelopes: Sequence[ev.Envelope], state: State) -> None:
        if any(isinstance(envelope.event, _WORTH_READING) for envelope in envelopes):
            self.flush(state)
        for envelope in envelopes:
            if isinstance(envelope.event, ev.TaskEnded):
                self._learn(state, envelope.event.task)

    def flush(self, state: State) -> None:
        repo, sprint = self._project.repo, self._sprint
        pages = {
            repo.progress: views.progress(state),
            repo.features: views.features(state),
            sprint.loop_state_path: views.loop_state(state),
            sprint.tracking_path: views.tracking(state),
            sprint.context_path: views.context(state),
        }
        if state.outcome:
            pages[sprint.report_path] = views.closing_report(state)
        try:
            for path, text in pages.items():
                if self._written.get(path) != text or not path.is_file():
                    views.write_atomically(path, text)
                    self._written[path] = text
            if not repo.init_script.exists():
                views.write_atomically(repo.init_script, _INIT)
            self._mark_plan(state)
            self.problem = ""
        except (OSError, PlanRefused) as error:
            self.problem = str(error)

    def _mark_plan(self, state: State) -> None:
        path = self._sprint.plan_path
        marks = {task.id: _MARKS[task.status] for task in state.tasks.values()}
        if changed := {task: mark for task, mark in marks.items() if self._marked.get(task) != mark}:
            mark_tasks(path, changed)
            self._marked.update(changed)
        done, total = state.progress()
        word = "COMPLETE" if total and done == total else "IN_PROGRESS"
        if self._marked.get("") != word:
            mark_plan(path, word)
            self._marked[""] = word

    def _learn(self, state: State, name: str) -> None:
        """A task that did not go straight leaves what it taught."""
        task = state.tasks.get(name)
        if task is None or not views.teaches(task):
            return
        folder = self._sprint.learnings
        number = len([path for path in folder.glob("[0-9]*.md") if name not in path.name]) + 1
        existing = next(iter(folder.glob(f"*-task-{name}.md")), None)
        path = existing or folder / f"{number:03d}-task-{name}.md"
        try:
            views.write_atomically(path, views.learning(task))
        except OSError as error:
            self.problem = str(error)


def as_marked(plan: Plan, state: State) -> Plan:
    """The plan with the marks the engine itself makes in plan.md: they are no edit of the user's."""

    def marked(task: TaskSpec) -> TaskSpec:
        status = state.tasks[task.id].status if task.id in state.tasks else Status.PENDING
        return replace(task, done=status is Status.COMPLETE, skipped=status is Status.SKIPPED)

    phases = (replace(phase, tasks=tuple(marked(task) for task in phase.tasks)) for phase in plan.phases)
    return replace(plan, phases=tuple(phases))
