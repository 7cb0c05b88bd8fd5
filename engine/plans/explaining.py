"""What was made of a plan in one of our own formats: understood, guessed, and what could not be used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from engine.core.clean import clean_line
from engine.core.model import Plan
from engine.core.wording import plural
from engine.plans.foreign import Explained
from engine.plans.json_plan import FLAGS, JSON, LISTS
from engine.plans.plan_format import PlanFormat

MOST = 12
TASK_KEYS = frozenset(
    {"id", "title", "name", "description", "status", "scope", "files", "verify", "allow", "proof", "priority", "agent"}
    | {"acceptanceCriteria", "acceptance_criteria", "accept", "steps", "complexity"}
    | {"dependsOn", "depends_on", "dependencies", "depends", *FLAGS, *LISTS}
)
"""Members of a story or task that are read."""


def explain(form: PlanFormat, plan: Plan, text: str) -> Explained:
    """A plan that needs no guess says only how much of it there is."""
    tasks = plan.tasks()
    what = "stories" if form.name == JSON.name else "checklist"
    phases = f" in {plural(len(plan.phases), 'phase')}" if len(plan.phases) > 1 else ""
    done = sum(task.done for task in tasks)
    understood = f"{what}: {plural(len(tasks), 'task')}{phases}" + (f", {done} done already" if done else "")
    return Explained(understood=(understood,), guessed=tuple(_guessed(plan, text)), unused=tuple(_unused(form, text)))


def _guessed(plan: Plan, text: str) -> Iterator[str]:
    tasks = plan.tasks()
    if placed := [task.id for task in tasks if not re.search(rf"(?<![\d.]){re.escape(task.id)}(?!\.?\d)", text)]:
        yield f"ids by their place: {_listed(placed)} (write them down before you reorder the file)"
    open_tasks = [task for task in tasks if not task.done and not task.skipped]
    if bare := [task.id for task in open_tasks if not task.accept and not task.verify]:
        yield f"no criteria, so the checks alone decide: {_listed(bare)}"
    if wide := [task.id for task in open_tasks if not task.scope]:
        yield f"no scope, so any file may be changed: {_listed(wide)}"


def _unused(form: PlanFormat, text: str) -> Iterator[str]:
    """Members of a JSON plan that nobody reads; of a checklist every line is description."""
    if form.name != JSON.name:
        return
    lost: dict[str, None] = {}
    for task in _items(json.loads(text)):
        lost.update(dict.fromkeys(key for key in task if key not in TASK_KEYS))
    if lost:
        yield f"members of tasks: {_listed([clean_line(key) for key in lost])}"


def _items(data: Any) -> Iterator[dict[str, Any]]:
    """The tasks of such a file, in phases or not."""
    rows = data if isinstance(data, list) else next((data[key] for key in LISTS if key in data), ())
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            inner = next((row[key] for key in LISTS if isinstance(row.get(key), list)), None)
            yield from _items(inner) if inner is not None else iter((row,))


def _listed(words: list[str]) -> str:
    return ", ".join(words[:MOST]) + (f" and {len(words) - MOST} more" if len(words) > MOST else "")
