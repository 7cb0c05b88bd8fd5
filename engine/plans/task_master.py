"""task-master's tasks.json: tags, tasks, subtasks. A task with subtasks is their heading, not work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.foreign import Explained, Foreign, edited, finished
from engine.plans.json_foreign import decoded, with_members, word
from engine.plans.json_spans import Value, elements, line_of, members
from engine.plans.plan_format import PlanRefused, places_to_mark

STATUS = {"open": "pending", "in_progress": "in-progress", "done": "done", "skipped": "cancelled", "blocked": "blocked"}
DONE = frozenset({"done", "completed"})
SKIPPED = frozenset({"cancelled", "canceled", "deferred"})


class Item(Struct):
    id: str
    tag: str
    raw: str
    """Its own id: `3` or `3.2`."""
    at: Value
    parent: Value | None = None


class TaskMasterFormat(Foreign):
    """Ids are tag number, task, subtask: they stay the same whatever else is in the file."""

    name = "task-master"
    what = "task-master `tasks.json` (tags, subtasks)"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() != ".json":
            return False
        try:
            return bool(_tags(text, str(path)))
        except PlanRefused:
            return False

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        items = list(_items(text, source))
        guessed: list[str] = []
        phases: dict[str, list[tuple[TaskSpec, int]]] = {}
        ids = {(item.tag, item.raw): item.id for item in items}
        for item in items:
            phases.setdefault(item.tag, []).append((_task(item, ids, items), line_of(text, item.at.start)))
        plan = finished(source, fields.title_of(source), phases.items())
        tags = ", ".join(phases)
        if any(item.parent for item in items):
            guessed.append("tasks with subtasks are headings: their subtasks are the work")
        understood = (f"{len(items)} tasks in tags {tags}",)
        return plan, Explained(understood=understood, guessed=tuple(guessed))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        items = list(_items(text, "tasks.json"))
        places = places_to_mark(marks, ((item.id, item.at.start, item.at.end) for item in items), "tasks.json")
        edits = []
        for start, _end, status in places:
            edits += with_members(text, start, {"status": STATUS[status]})
        text = edited(text, edits)
        # A heading whose subtasks are all done is done: task-master itself keeps it so.
        heads: dict[int, list[Item]] = {}
        for item in _items(text, "tasks.json"):
            if item.parent is not None:
                heads.setdefault(item.parent.start, []).append(item)
        touched = {item.parent.start for item in items if item.parent is not None and item.id in marks}
        more = []
        for start, children in heads.items():
            moved = any(child.id in marks for child in children)
            if moved and touched and all(_status(child.at.value) in DONE for child in children):
                more += with_members(text, start, {"status": "done"})
        return edited(text, more)


def _tags(text: str, source: str) -> dict[str, Value]:
    """Lists of tasks by tag; empty where this is another kind of file."""
    root = decoded(text, source)
    if not isinstance(root.value, dict):
        return {}
    head = members(text, root.start)
    found: dict[str, Value] = {}
    for name, value in head.items():
        if name == "tasks" and isinstance(value.value, list) and _typical(value.value):
            found["master"] = value
        elif isinstance(value.value, dict) and isinstance(value.value.get("tasks"), list):
            inside = members(text, value.start)["tasks"]
            if _typical(inside.value) or "metadata" in value.value:
                found[name] = inside
    return found


def _typical(tasks: list[Any]) -> bool:
    """Every task has a status of its own and dependencies or subtasks, as only task-master writes them."""
    return bool(tasks) and all(
        isinstance(one, dict)
        and isinstance(one.get("id"), int | str)
        and "status" in one
        and ("dependencies" in one or "subtasks" in one or "testStrategy" in one)
        for one in tasks
    )


def _items(text: str, source: str) -> Iterator[Item]:
    for number, (tag, holder) in enumerate(_tags(text, source).items(), 1):
        for task in elements(text, holder.start):
            if not isinstance(task.value, dict):
                continue
            own = str(task.value.get("id", ""))
            subtasks = members(text, task.start).get("subtasks")
            children = elements(text, subtasks.start) if subtasks and isinstance(subtasks.value, list) else []
            good = [child for child in children if isinstance(child.value, dict)]
            if not good:
                yield Item(f"{number}.{own}", tag, own, task)
            for child in good:
                sub = str(child.value.get("id", "")).rsplit(".", 1)[-1]
                yield Item(f"{number}.{own}.{sub}", tag, f"{own}.{sub}", child, task)


def _task(item: Item, ids: dict[tuple[str, str], str], items: list[Item]) -> TaskSpec:
    data: dict[str, Any] = item.at.value
    parent: dict[str, Any] = item.parent.value if item.parent is not None else {}
    own = item.raw.rsplit(".", 1)[0] if item.parent is not None else ""
    needs = [_named(item, one, own, ids, items) for one in data.get("dependencies") or ()]
    needs += [_named(item, one, "", ids, items) for one in parent.get("dependencies") or ()]
    details = [word(data, "description"), word(data, "details")]
    if parent:
        details += [f"Part of: {word(parent, 'title')}", word(parent, "description")]
    strategy = word(data, "testStrategy") or word(parent, "testStrategy")
    status = _status(data)
    return TaskSpec(
        id=item.id,
        title=fields.tidy_title(word(data, "title", "description")) or f"Task {item.raw}",
        description=fields.tidy_description("", "\n\n".join(one for one in details if one).splitlines()),
        accept=tuple(one for one in (fields.tidy_criterion(strategy),) if one),
        depends_on=tuple(dict.fromkeys(one for group in needs for one in group if one != item.id)),
        priority=fields.PRIORITIES.get(str(data.get("priority") or parent.get("priority") or "").lower(), 0),
        done=status in DONE,
        skipped=status in SKIPPED,
    )


def _named(item: Item, raw: object, own: str, ids: dict[tuple[str, str], str], items: list[Item]) -> list[str]:
    """What a dependency names: a task, a sibling subtask, or a heading, which means all its subtasks."""
    name = str(raw)
    for candidate in (f"{own}.{name}" if own and "." not in name else "", name):
        if candidate and (found := ids.get((item.tag, candidate))):
            return [found]
    below = [one.id for one in items if one.tag == item.tag and one.raw.startswith(f"{name}.")]
    return below or [name]


def _status(data: dict[str, Any]) -> str:
    return str(data.get("status", "")).lower()


TASK_MASTER = TaskMasterFormat()
