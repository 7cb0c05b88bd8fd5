"""What the user changed in a plan, in words."""

from __future__ import annotations

from collections.abc import Iterator

from engine.core.model import Plan, TaskSpec

NAMES = {
    "title": "title",
    "description": "description",
    "accept": "acceptance criteria",
    "scope": "scope",
    "depends_on": "dependencies",
    "verify": "verify commands",
    "priority": "priority",
    "complexity": "complexity",
    "agent": "agent",
    "allow": "allow",
    "proof": "proof",
}


def describe_change(old: Plan, new: Plan) -> str:
    """One sentence a change, joined by `; `. Empty where nothing that matters changed."""
    return "; ".join((*_head(old, new), *_tasks(old, new)))


def _head(old: Plan, new: Plan) -> Iterator[str]:
    if old.title != new.title:
        yield f"title is now “{new.title}”"
    if old.status != new.status:
        yield f"status {old.status} → {new.status}"
    if old.topic != new.topic:
        yield f"topic is now {new.topic or 'the sprint’s name'}"
    if old.summary != new.summary:
        yield "introduction edited"
    before = {phase.id: phase for phase in old.phases}
    for phase in new.phases:
        was = before.get(phase.id)
        if was is None:
            continue
        if was.title != phase.title:
            yield f"phase {phase.id} is now “{phase.title}”"
        if was.scaffold != phase.scaffold:
            yield f"phase {phase.id} is {'now' if phase.scaffold else 'no longer'} scaffold"


def _tasks(old: Plan, new: Plan) -> Iterator[str]:
    before = {task.id: (task, phase.id) for phase in old.phases for task in phase.tasks}
    after = {task.id: (task, phase.id) for phase in new.phases for task in phase.tasks}
    for task_id, (task, _) in after.items():
        if task_id not in before:
            yield f"task {task_id} “{task.title}” added"
    for task_id, (task, _) in before.items():
        if task_id not in after:
            yield f"task {task_id} “{task.title}” removed"
    for task_id, (task, phase_id) in after.items():
        if task_id in before:
            was, was_in = before[task_id]
            yield from _one(was, task)
            if was_in != phase_id:
                yield f"task {task_id} moved to phase {phase_id}"
    kept_before = [task_id for task_id in before if task_id in after]
    kept_after = [task_id for task_id in after if task_id in before]
    if kept_before != kept_after:
        yield "order of tasks changed"


def _one(was: TaskSpec, now: TaskSpec) -> Iterator[str]:
    if was.title != now.title:
        yield f"task {now.id} is now “{now.title}” (was “{was.title}”)"
    edited = [words for name, words in NAMES.items() if name != "title" and getattr(was, name) != getattr(now, name)]
    if edited:
        yield f"task {now.id}: {', '.join(edited)} edited"
    if _state(was) != _state(now):
        yield f"task {now.id} marked {_state(now)}"


def _state(task: TaskSpec) -> str:
    return "done" if task.done else "skipped" if task.skipped else "open"
