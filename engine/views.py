"""The files people and agents read, written from state: the journal is the truth, these can always be made again."""

from __future__ import annotations

import datetime
import textwrap
from collections.abc import Callable
from functools import lru_cache
from operator import is_
from pathlib import Path

import msgspec

from engine import files, report
from engine.closing_summary import summary
from engine.core.clean import clean, clean_line
from engine.core.selection import ready
from engine.core.state import State, Status, TaskState
from engine.core.status_words import of_phase, of_sprint, of_status
from engine.core.vocabulary import GateKind

_title = lru_cache(maxsize=4096)(clean_line)
"""Titles are written again with every step of the loop."""
LESSONS = 5
"""Learnings an agent is pointed at."""
NAMED = 60
"""Files and commits of a long sprint that an agent is told by name."""


class Rows:
    """A line for each task, made anew only for a task that changed: a plan may have a thousand of them, and the views
    are written several times in each iteration."""

    def __init__(self, render: Callable[[TaskState], str]) -> None:
        self._render = render
        self._seen: list[TaskState] = []
        self._lines: list[str] = []

    def of(self, state: State) -> list[str]:
        tasks = list(state.tasks.values())
        if len(tasks) != len(self._seen):
            lines = list(map(self._render, tasks))
        else:
            lines = self._lines.copy()
            for index, same in enumerate(map(is_, tasks, self._seen)):
                if not same:
                    lines[index] = self._render(tasks[index])
        self._seen, self._lines = tasks, lines
        return lines


def _progress_row(task: TaskState) -> str:
    detail = f" — iteration {task.iteration}" if task.status is Status.RUNNING else ""
    detail = f" — {clean_line(task.reason)}" if task.ended and task.status is not Status.COMPLETE else detail
    return f"[{of_status(task.status).mark}] {task.id} {_title(task.spec.title)}{detail}"


def _feature_row(task: TaskState) -> str:
    row = {
        "id": task.id,
        "title": task.spec.title,
        "phase": task.phase + 1,
        "status": task.status.value,
        "passes": task.status is Status.COMPLETE,
        "iterations": task.iteration,
        "commit": task.commit,
        "evidence": task.evidence,
    }
    return textwrap.indent(msgspec.json.format(msgspec.json.encode(row), indent=2).decode(), "    ")


_progress_rows, _feature_rows = Rows(_progress_row), Rows(_feature_row)
_task_rows = Rows(lambda task: f"- [{of_status(task.status).mark}] {task.id} {_title(task.spec.title)}")
_commit_rows = Rows(lambda task: f"- {task.commit[:10]} T{task.id} {_title(task.spec.title)}" if task.commit else "")


def write_atomically(path: Path, text: str) -> None:
    """Whole or not at all; unchanged files are left alone. Its folder has to be there: one made anew would stand in
    the way of a repository, or a `.devteam`, that was moved away and is to come back."""
    data = text.encode("utf-8", "replace")
    if path.is_file() and path.read_bytes() == data:
        return
    files.write(path, data, mode=files.SHARED, durable=False)  # made again from the journal


def progress(state: State) -> str:
    """progress.txt: where the sprint stands, for a person or an agent that starts now."""
    done, total = state.progress()
    lines = [
        f"sprint: {state.sprint}",
        f"branch: {state.branch}",
        f"status: {of_sprint(state) or 'not started'}",
        f"tasks: {done}/{total}",
        f"iterations: {state.iterations}",
        f"health: {state.health.value} ({clean_line(state.health_reason)})",
        f"spent: ${state.spent_usd:.2f} of ${state.policy.budget.session_usd:.2f}",
        "",
    ]
    return "\n".join([*lines, *_progress_rows.of(state)]) + "\n"


def features(state: State) -> str:
    """features.json: every task with `passes`, which is true only on evidence."""
    rows = ",\n".join(_feature_rows.of(state))
    listed = f"[\n{rows}\n  ]" if rows else "[]"
    return f'{{\n  "sprint": {msgspec.json.encode(state.sprint).decode()},\n  "features": {listed}\n}}\n'


def loop_state(state: State) -> str:
    current = [task.id for task in state.tasks.values() if task.status is Status.RUNNING]
    lines = [
        "# Loop State",
        f"**Iteration**: {state.iterations}",
        f"**Status**: {'IN_PROGRESS' if state.running else (of_sprint(state) or 'INITIALIZING').upper()}",
        f"**Health**: {state.health.value}: {clean_line(state.health_reason)}",
        f"**Current**: {', '.join(current) or '~'}",
    ]
    return "\n".join(lines) + "\n"


def tracking(state: State) -> str:
    """tracking.md: a derived view with the gate modes."""
    done = [task.id for task in state.tasks.values() if task.status is Status.COMPLETE]
    running = [task for task in state.tasks.values() if task.status is Status.RUNNING]
    current = next(iter(running or ready(state)), None)
    words = [of_phase(state, index) for index in range(len(state.plan.phases) if state.plan is not None else 0)]
    over = [str(index) for index, word in enumerate(words, 1) if word == "complete"]
    lines = [
        "---",
        f"topic: {state.topic}",
        f"sprint: {state.sprint}",
        f"status: {'in-progress' if state.running else of_sprint(state) or 'not-started'}",
        f"fix_gate_mode: {'auto' if state.auto_mode(GateKind.FIX) else 'gated'}",
        f"task_gate_mode: {'auto' if state.auto_mode(GateKind.TASK) else 'gated'}",
        f"fix_attempts: {current.fix_attempts if current else 0}",
        f"current_phase: {current.phase + 1 if current else '~'}",
        f"current_task: {current.id if current else '~'}",
        f"completed_phases: [{', '.join(over)}]",
        f"phases: [{', '.join(f'{index} {word}' for index, word in enumerate(words, 1))}]",
        f"completed_tasks: [{', '.join(done)}]",
        f"started: {_date(state.created_at)}",
        f"updated: {_date(state.now)}",
        "---",
    ]
    return "\n".join(lines) + "\n"


def _date(at: float) -> str:
    """The UTC day of a moment of the journal."""
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(at // 86400))).isoformat() if at > 0 else "~"


def context(state: State) -> str:
    """context.md: what every agent of the sprint may read instead of being told."""
    lines = [f"# {clean_line(state.plan.title) if state.plan else state.sprint}", ""]
    if state.plan is not None and state.plan.summary:
        lines += [clean(state.plan.summary), ""]
    lines += _planned(state)
    commands = [result for result in state.baseline if result.command]
    if commands:
        lines += ["## How it is checked", ""]
        lines += [f"- {result.name}: `{clean_line(result.command)}`" for result in commands]
        lines.append("")
    touched = sorted({change.path for task in state.tasks.values() if task.commit for change in task.changes})
    if touched:
        lines += ["## Files this sprint has changed", ""]
        lines += [*(f"- {clean_line(path)}" for path in touched[:NAMED]), *_and_more(len(touched)), ""]
    made = [row for row in _commit_rows.of(state) if row]
    if made:
        lines += ["## Commits of this sprint", "", *_and_more(len(made)), *made[-NAMED:], ""]
    lines += ["## Tasks", "", *_task_rows.of(state)]
    if state.learnings:
        lines += ["", "## Learnings", "", *(f"- {clean_line(text)}" for text in state.learnings)]
    return "\n".join(lines) + "\n"


def _and_more(count: int) -> list[str]:
    return [f"- … and {count - NAMED} more"] if count > NAMED else []


def _planned(state: State) -> list[str]:
    """What planning found and was told."""
    planning = state.planning
    if planning is None:
        return []
    lines = ["## Request", "", clean(planning.request), ""]
    if planning.answers:
        lines += ["## Answers", ""]
        for one in planning.answers:
            lines.append(f"- {clean_line(one.question)} → {clean_line(one.answer) or '(none)'} ({clean_line(one.by)})")
        lines.append("")
    if planning.context:
        lines += ["## Gathered", "", clean(planning.context), ""]
    return [*lines, "## The repository, as the engine found it", "", planning.facts, ""] if planning.facts else lines


def closing_report(state: State) -> str:
    """report.md: the summary, then every task's completion report."""
    parts = [f"# Report: {state.sprint}", "", "```", summary(state), "```", ""]
    for task in state.tasks.values():
        if task.started_at or task.ended:
            parts += ["```", report.completion(state, task), "```", ""]
            if task.seats:
                parts += ["```", report.council(task), "```", ""]
    return "\n".join(parts)


def lessons(state: State) -> dict[str, str]:
    """The latest learnings of the sprint, by file name, for an agent to read."""
    taught = sorted((task for task in state.tasks.values() if teaches(task) and task.ended), key=lambda t: t.ended_at)
    return {f"learning-{task.id.replace('/', '-')}.md": learning(task) for task in taught[-LESSONS:]}


def teaches(task: TaskState) -> bool:
    """A task that did not go straight has something to teach."""
    return task.iteration >= 2


def learning(task: TaskState) -> str:
    """What a task's way taught, for learnings/."""
    lines = [
        f"# {task.id} {_title(task.spec.title)}",
        "",
        *([] if task.status is Status.COMPLETE else ["- kind: avoid"]),
        *([f"- files: {', '.join(clean_line(one.path) for one in task.changes[:20])}"] if task.changes else []),
        f"Ended {task.status.value} after {task.iteration} iterations.",
        "",
    ]
    for record in task.history:
        word = record.decision.value if record.decision else ""
        lines.append(f"- iteration {record.iteration}: {word}: {clean_line(record.reason)}")
    if task.diagnosis is not None:
        lines += [
            "",
            "## Root cause",
            "",
            clean(task.diagnosis.root_cause),
            "",
            "## Fix",
            "",
            clean(task.diagnosis.recommended_fix),
        ]
    if task.comments:
        lines += ["", "## Said by the human", "", *(f"- {clean_line(text)}" for text in task.comments)]
    return "\n".join(lines) + "\n"
