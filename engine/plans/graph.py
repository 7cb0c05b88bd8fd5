"""What no single task can tell: ids that clash, dependencies that lead nowhere or in a circle."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from engine.core.model import TaskSpec
from engine.plans.plan_format import PlanError


class Placed:
    """A task and the lines an error about it should name."""

    __slots__ = ("depends_line", "line", "task")

    def __init__(self, task: TaskSpec, line: int, depends_line: int = 0) -> None:
        self.task = task
        self.line = line
        self.depends_line = depends_line or line


def graph_errors(placed: Sequence[Placed], source: str) -> list[PlanError]:
    """Every clash, unknown dependency and circle, in the order of the file."""
    if not placed:
        return [
            PlanError(
                source=source, line=0, what="the plan has no tasks", expected="at least one", fix="- [ ] 1.1 What to do"
            )
        ]
    errors = [*_clashes(placed, source), *_unknown(placed, source)]
    if not errors:
        errors = _circles(placed, source)
    return sorted(errors, key=lambda error: error.line)


def _clashes(placed: Sequence[Placed], source: str) -> list[PlanError]:
    first: dict[str, Placed] = {}
    taken = {item.task.id for item in placed}
    errors = []
    for item in placed:
        earlier = first.setdefault(item.task.id, item)
        if earlier is item:
            continue
        free = _free_id(item.task.id, taken)
        taken.add(free)
        errors.append(
            PlanError(
                source=source,
                line=item.line,
                what=f"task id {item.task.id} is taken: line {earlier.line} has it",
                expected="an id of its own",
                fix=f"- [ ] {free} {item.task.title}",
            )
        )
    return errors


def _free_id(task_id: str, taken: set[str]) -> str:
    head = task_id.rsplit(".", 1)[0] if "." in task_id else task_id
    number = 1
    while f"{head}.{number}" in taken:
        number += 1
    return f"{head}.{number}"


def _unknown(placed: Sequence[Placed], source: str) -> list[PlanError]:
    ids = list(dict.fromkeys(item.task.id for item in placed))
    errors = []
    for item in placed:
        for named in item.task.depends_on:
            if named in ids:
                continue
            near = difflib.get_close_matches(named, ids, 1, 0.0)
            close = difflib.get_close_matches(named, ids, 1, 0.5) or near
            errors.append(
                PlanError(
                    source=source,
                    line=item.depends_line,
                    what=f"task {item.task.id} depends on {named}, which is not in the plan",
                    expected=f"one of {_some(ids)}",
                    fix=f"depends: {close[0]}",
                )
            )
    return errors


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:8]) + (f" … ({len(ids)} tasks)" if len(ids) > 8 else "")


def _circles(placed: Sequence[Placed], source: str) -> list[PlanError]:
    """Take away what can be done; what is left has a circle: name it, take it out, look again."""
    by_id = {item.task.id: item for item in placed}
    left = {item.task.id: set(item.task.depends_on) for item in placed}
    errors: list[PlanError] = []
    while True:
        while ready := [task for task, needs in left.items() if not needs & left.keys()]:
            for task in ready:
                del left[task]
        if not left:
            return errors
        circle = _walk(left)
        names = " → ".join((*circle, circle[0]))
        last = by_id[circle[0]]
        rest = ", ".join(need for need in last.task.depends_on if need != circle[1 % len(circle)])
        errors.append(
            PlanError(
                source=source,
                line=last.depends_line,
                what=f"these tasks wait for each other: {names}"
                if len(circle) > 1
                else f"task {circle[0]} waits for itself",
                expected="dependencies without a circle",
                fix=f"depends: {rest or 'none'}    (for task {circle[0]})",
            )
        )
        for task in circle:
            del left[task]


def _walk(left: dict[str, set[str]]) -> list[str]:
    path: list[str] = [next(iter(left))]
    while True:
        step = min(left[path[-1]] & left.keys())
        if step in path:
            circle = path[path.index(step) :]
            start = circle.index(min(circle, key=list(left).index))
            return circle[start:] + circle[:start]
        path.append(step)
