"""JSON plans: a list of stories, tasks or features with a `passes` flag, as other loops write them (prd.json)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from engine.core.clean import clean, clean_line
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.paths import kebab
from engine.plans import fields
from engine.plans.graph import Placed, graph_errors
from engine.plans.json_spans import Value, elements, line_of, members, value_at
from engine.plans.plan_format import PLAN_STATUSES, PlanError, PlanRefused, places_to_mark

LISTS = ("phases", "userStories", "user_stories", "stories", "tasks", "features", "items")
FLAGS = ("passes", "done", "completed", "complete")
STATUS_WORDS = {
    "open": "pending",
    "in_progress": "in_progress",
    "done": "done",
    "skipped": "skipped",
    "blocked": "blocked",
}
DONE_WORDS = frozenset({"done", "complete", "completed", "passed", "passes", "closed"})
SKIPPED_WORDS = frozenset({"skipped", "cancelled", "canceled", "wontfix"})


class JsonFormat:
    """prd.json and its kin. A number as priority counts from 1, the first to do, as those files mean it."""

    name = "json"

    def matches(self, path: PurePath, text: str) -> bool:
        return path.suffix.lower() == ".json"

    def read(self, text: str, source: str) -> Plan:
        reader = _Reader(text, source)
        return reader.plan()

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        found = ((own, item.start, item.end) for _, item, own in _Reader(text, "plan.json").named())
        for start, _, status in places_to_mark(marks, found, "plan.json"):
            text = _edited(text, start, status)
        return text

    def mark_plan(self, text: str, status: str) -> str:
        if status not in PLAN_STATUSES:
            raise ValueError(f"unknown plan status {status!r}; one of {', '.join(PLAN_STATUSES)}")
        stated = _Reader(text, "plan.json").head.get("status")
        if stated is None or not isinstance(stated.value, str):
            return text
        return text[: stated.start] + json.dumps(status) + text[stated.end :]


def _edited(text: str, start: int, status: str) -> str:
    """Change the flags the task has; where none of them can say it, one `status` member is put in."""
    inside = members(text, start)
    edits = [(inside[key], "true" if status == "done" else "false") for key in FLAGS if key in inside]
    said = bool(edits) and status != "skipped"
    if "status" in inside:
        edits.append((inside["status"], json.dumps(STATUS_WORDS[status])))
        said = True
    for value, new in sorted(edits, key=lambda edit: -edit[0].start):
        text = text[: value.start] + new + text[value.end :]
    if said:
        return text
    comma = ", " if inside else ""
    return f'{text[: start + 1]}"status": {json.dumps(STATUS_WORDS[status])}{comma}{text[start + 1 :]}'


class _Reader:
    """The text, its tasks with their places, and the errors found on the way."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.errors: list[PlanError] = []
        start = 1 if text.startswith("\ufeff") else 0
        try:
            json.loads(text[start:])
            self.root = value_at(text, start)
        except json.JSONDecodeError as broken:
            raise PlanRefused(
                [self.error(broken.lineno, f"not JSON: {broken.msg} (column {broken.colno})")]
            ) from broken
        except (RecursionError, ValueError) as broken:
            raise PlanRefused(
                [self.error(0, "JSON nested too deeply, or with numbers too long, for a plan")]
            ) from broken
        self.head = members(text, self.root.start) if isinstance(self.root.value, dict) else {}

    def error(self, line: int, what: str, expected: str = "", fix: str = "") -> PlanError:
        return PlanError(source=self.source, line=line, what=what, expected=expected, fix=fix)

    def refuse(self, at: Value, what: str, expected: str = "", fix: str = "") -> None:
        self.errors.append(self.error(line_of(self.text, at.start), what, expected, fix))

    def phases(self) -> Iterator[tuple[Value | None, list[Value]]]:
        """Groups of tasks: the `phases` of the file, or one for all."""
        if isinstance(self.root.value, list):
            yield None, self._objects(self.root)
            return
        key = next((key for key in LISTS if key in self.head and isinstance(self.head[key].value, list)), "")
        if key == "phases":
            for phase in self._objects(self.head[key]):
                inside = members(self.text, phase.start)
                tasks = next((inside[name] for name in LISTS[1:] if name in inside), None)
                yield phase, self._objects(tasks) if tasks else []
        elif key:
            yield None, self._objects(self.head[key])

    def _objects(self, holder: Value) -> list[Value]:
        if not isinstance(holder.value, list):
            self.refuse(holder, "not a list", "a list of tasks")
            return []
        found = []
        for item in elements(self.text, holder.start):
            if isinstance(item.value, dict):
                found.append(item)
            else:
                self.refuse(item, "not a task", 'an object such as {"title": "…", "passes": false}')
        return found

    def named(self) -> Iterator[tuple[int, Value, str]]:
        """Phase, task, id. Ids that plan.md can write are kept, others become phase.place."""
        groups = list(self.phases())
        taken = {_own_id(item.value) for _, tasks in groups for item in tasks}
        for number, (_, tasks) in enumerate(groups, 1):
            place = 0
            for item in tasks:
                own = _own_id(item.value)
                if not own:
                    place += 1
                    while f"{number}.{place}" in taken:
                        place += 1
                    own = f"{number}.{place}"
                yield number, item, own

    def plan(self) -> Plan:
        named = list(self.named())
        aliases = {str(item.value.get("id")): own for _, item, own in named if item.value.get("id") is not None}
        placed = [
            (number, Placed(self._task(item, own, aliases), line_of(self.text, item.start)))
            for number, item, own in named
        ]
        self.errors += graph_errors([item for _, item in placed], self.source)
        phases = []
        for number, (holder, _) in enumerate(self.phases(), 1):
            tasks = tuple(item.task for owner, item in placed if owner == number)
            title = (
                fields.tidy_heading(str(holder.value.get("title") or holder.value.get("name") or "")) if holder else ""
            )
            scaffold = bool(holder and holder.value.get("scaffold") is True)
            if tasks:
                phases.append(PhaseSpec(id=str(number), title=title or "Tasks", tasks=tasks, scaffold=scaffold))
        plan = Plan(
            title=fields.tidy_heading(self._word("title", "project", "projectName", "name"))
            or fields.title_of(self.source),
            phases=tuple(phases),
            status=self._status(),
            topic=kebab(self._word("topic")),
            summary=fields.tidy_description("", self._word("description", "summary").splitlines()),
        )
        if self.errors:
            raise PlanRefused(sorted(dict.fromkeys(self.errors), key=lambda error: error.line))
        return plan

    def _word(self, *keys: str) -> str:
        found = (self.head[key].value for key in keys if key in self.head)
        return next((value for value in found if isinstance(value, str) and value.strip()), "")

    def _status(self) -> str:
        word = self._word("status").upper().replace(" ", "_").replace("-", "_")
        if word and word not in PLAN_STATUSES:
            self.refuse(
                self.head["status"], f"unknown status {clean_line(word)}", ", ".join(PLAN_STATUSES), '"status": "DRAFT"'
            )
        return word or "APPROVED"

    def _task(self, item: Value, own: str, aliases: dict[str, str]) -> TaskSpec:
        data: dict[str, Any] = item.value

        def refuse(what: str, expected: str, fix: str) -> None:
            self.refuse(item, f"task {own}: {what}", expected, fix)

        def texts(*keys: str) -> list[str]:
            value: Any = next((data[key] for key in keys if data.get(key) is not None), [])
            listed = value if isinstance(value, list) else [value]
            if any(not isinstance(one, str | int) or isinstance(one, bool) for one in listed):
                refuse(f"{keys[0]} is not a list of text", "a list of text", f'"{keys[0]}": ["…"]')
                return []
            return [str(one) for one in listed]

        described = data.get("description")
        description = fields.tidy_description("", described.splitlines()) if isinstance(described, str) else ""
        named = data.get("title") or data.get("name")
        title = fields.tidy_title(named) if isinstance(named, str) else ""
        if not title and description:
            title, description = (
                fields.tidy_title(description.splitlines()[0]),
                description if "\n" in description else "",
            )
        if not title:
            refuse("has no title", "a few words", '"title": "What to do"')
        status = str(data.get("status", "")).lower()
        scope = [fields.glob(word, refuse) for one in texts("scope", "files") for word in fields.split_globs(one)]
        wants = [
            fields.tidy_criterion(one) for one in texts("acceptanceCriteria", "acceptance_criteria", "accept", "steps")
        ]
        needs = texts("dependsOn", "depends_on", "dependencies", "depends")
        return TaskSpec(
            id=own,
            title=title,
            description=description,
            accept=_each(wants),
            scope=_each(scope),
            depends_on=_each([aliases.get(one, fields.known_id(one) or clean_line(one)) for one in needs]),
            verify=_each([fields.command(line) for one in texts("verify") for line in one.splitlines()]),
            allow=_each([word for one in texts("allow") for word in fields.entries(one, refuse)]),
            proof=fields.proof(_said(data.get("proof")), refuse),
            priority=_priority(data.get("priority"), refuse),
            complexity=None if data.get("complexity") is None else fields.complexity(str(data["complexity"]), refuse),
            agent=fields.tidy_word(str(data.get("agent") or "")),
            done=any(data.get(flag) is True for flag in FLAGS) or status in DONE_WORDS,
            skipped=status in SKIPPED_WORDS,
        )


def _each(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _said(value: object) -> str:
    """`"proof": null` and `false` are how JSON says none."""
    return "none" if value is False else "" if value is None else str(value)


def _own_id(data: dict[str, Any]) -> str:
    raw = data.get("id")
    return fields.known_id(clean(str(raw))) if isinstance(raw, str | int) and not isinstance(raw, bool) else ""


def _priority(raw: object, refuse: fields.Refuse) -> int:
    if raw is None:
        return 0
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= fields.PRIORITY_BOUND:
        return -raw
    return fields.priority(str(raw), refuse)


JSON = JsonFormat()
