"""Which learnings a call is told: those of the sprint's own tasks, and the ones of any sprint that bear on its task."""

from __future__ import annotations

from pathlib import Path

from engine import learnings, views
from engine.core.state import State
from engine.perform.calls import Lessons

__all__ = ["Lessons", "lessons_for"]


def lessons_for(root: Path, state: State, task: str) -> Lessons:
    """Bounded; each with what it has in common with the task."""
    own = views.lessons(state) if task else {}
    words, files = _about(state, task)
    found = [
        one
        for one in learnings.relevant(learnings.read_all(root), words, files)
        if not (one.learning.name.startswith(f"{state.sprint}/") and "-task-" in one.learning.name)
    ]
    named = {f"{one.learning.name.replace('/', '-')}.md": learnings.shown(one.learning) for one in found}
    return Lessons(files={**own, **named}, why=tuple(f"{one.learning.name} ({one.why})" for one in found))


def _about(state: State, name: str) -> tuple[str, list[str]]:
    task = state.tasks.get(name)
    if task is not None:
        spec = task.spec
        words = "\n".join((spec.title, spec.description, *spec.accept))
        return words, [*(change.path for change in task.changes), *spec.scope]
    planning = state.planning
    return (planning.request if planning is not None else ""), []
