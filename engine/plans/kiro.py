"""Kiro's tasks.md: numbered checkboxes with `_Requirements: 1.2_`, and requirements.md beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct, field
from msgspec.structs import replace

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.drafts import Line
from engine.plans.foreign import Explained, Foreign, finished, prose_lines, with_accept
from engine.plans.native import BOX
from engine.plans.outline import MARKS
from engine.plans.plan_format import places_to_mark

_TASK = re.compile(r"[-*][ \t]+\[([^\]]?)\](\*?)[ \t]+(\d+(?:\.\d+)*)\.?[ \t]+(.*)$")
_NEEDS = re.compile(r"_?Requirements?:[ \t]*([\d., ]+)_?", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_REQUIREMENT = re.compile(r"#{2,4}[ \t]+Requirement[ \t]+(\d+)", re.IGNORECASE)
_CRITERION = re.compile(r"(\d+)(?:\.(\d+))?[.)]?[ \t]+(.*)$")


class Item(Struct):
    id: str
    title: str
    line: int
    indent: int
    span: tuple[int, int]
    status: str
    optional: bool
    body: list[Line] = field(default_factory=list)
    parent: bool = False


class KiroFormat(Foreign):
    """A task with sub-tasks is their heading; the sub-tasks are the work."""

    name = "kiro"
    what = "Kiro `.kiro/specs/*/tasks.md`"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() not in (".md", ".markdown"):
            return False
        return ".kiro" in path.parts or (
            bool(re.search(r"^[ \t]*[-*][ \t]+\[.?\]\*?[ \t]+\d+\.?[ \t]", text, re.MULTILINE))
            and bool(_NEEDS.search(text))
        )

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        title, items = _items(text, source)
        leaves = [item for item in items if not item.parent]
        tasks: list[tuple[TaskSpec, int]] = []
        previous, unlinked, optional = "", [], []
        for item in leaves:
            refs = [ref.strip() for line in item.body for ref in _refs(line.body)]
            if not refs:
                unlinked.append(item.id)
            if item.optional:
                optional.append(item.id)
            group = next((one.title for one in items if one.parent and item.id.startswith(one.id + ".")), "")
            prose = [line.text for line in item.body if not _NEEDS.search(line.body)]
            details = [f"Part of: {group}"] if group else []
            details += [f"Requirements: {', '.join(refs)}"] if refs else []
            task = TaskSpec(
                id=item.id,
                title=item.title or f"Task {item.id}",
                description=fields.tidy_description("", [*details, *prose]),
                depends_on=(previous,) if previous else (),
                priority=-10 if item.optional else 0,
                done=item.status == "done",
                skipped=item.status == "skipped",
            )
            tasks.append((task, item.line))
            previous = item.id
        plan = finished(source, title, [(title or "Tasks", tasks)])
        guessed = ["the tasks are done in their order, one after another"]
        guessed += [f"optional (marked *): {', '.join(optional)} come with low priority"] if optional else []
        unused = tuple([f"tasks without requirements: {', '.join(unlinked)}"] if unlinked else [])
        heads = sum(item.parent for item in items)
        understood = (f"{len(leaves)} tasks" + (f" under {heads} headings" if heads else ""),)
        return plan, Explained(understood=understood, guessed=tuple(guessed), unused=unused)

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        items = _items(text, "tasks.md")[1]
        found = [(item.id, *item.span) for item in items if not item.parent]
        for start, end, status in places_to_mark(marks, found, "tasks.md"):
            text = text[:start] + BOX[status] + text[end:]
        return text

    def companions(self, path: PurePath) -> tuple[PurePath, ...]:
        return (path.with_name("requirements.md"), path.with_name("design.md"))

    def enrich(self, plan: Plan, texts: Mapping[str, str]) -> tuple[Plan, Explained]:
        """`_Requirements: 1.2_` becomes the criterion itself, word for word."""
        known = _criteria(texts.get("requirements.md", ""))
        missing: list[str] = []
        linked = 0

        def filled(task: TaskSpec) -> TaskSpec:
            nonlocal linked
            refs = re.search(r"^Requirements: (.*)$", task.description, re.MULTILINE)
            words = []
            for ref in refs.group(1).split(", ") if refs else ():
                hits = [text for name, text in known.items() if name == ref or name.startswith(f"{ref}.")]
                words += hits
                if not hits:
                    missing.append(f"task {task.id}: requirement {ref} is not in requirements.md")
            linked += len(words)
            return with_accept(task, words)

        phases = tuple(replace(one, tasks=tuple(filled(task) for task in one.tasks)) for one in plan.phases)
        understood = (f"{linked} criteria from requirements.md",) if linked else ()
        rest = tuple(f"{name}: read by the agents, not by the plan" for name in texts if name != "requirements.md")
        said = Explained(understood=understood, unused=(*missing, *rest) if known else rest)
        return replace(plan, phases=phases), said


def _items(text: str, source: str) -> tuple[str, list[Item]]:
    title = ""
    items: list[Item] = []
    for line in prose_lines(text, source):
        heading = _HEADING.match(line.body) if line.indent < 4 else None
        if heading and len(heading.group(1)) == 1:
            title = title or heading.group(2)
        found = _TASK.match(line.body)
        if found:
            start = line.start + line.lead + found.start(1)
            items.append(
                Item(
                    id=found.group(3),
                    title=fields.tidy_title(found.group(4)),
                    line=line.number,
                    indent=line.indent,
                    span=(start, start + len(found.group(1))),
                    status=MARKS.get(found.group(1), "open"),
                    optional=bool(found.group(2)),
                )
            )
        elif items and line.body and not heading and line.indent > items[-1].indent:
            items[-1].body.append(line)
    ids = {item.id for item in items}
    for item in items:
        item.parent = any(other != item.id and other.startswith(item.id + ".") for other in ids)
    return title, items


def _refs(words: str) -> list[str]:
    found = _NEEDS.search(words)
    return [one.strip().rstrip(".") for one in found.group(1).split(",") if one.strip()] if found else []


def _criteria(text: str) -> dict[str, str]:
    """`### Requirement 2`, then numbered criteria: 2.1 → its words."""
    known: dict[str, str] = {}
    number = ""
    for line in prose_lines(text, "requirements.md"):
        if heading := _REQUIREMENT.match(line.body):
            number = heading.group(1)
        elif number and (found := _CRITERION.match(line.body)):
            name = f"{found.group(1)}.{found.group(2)}" if found.group(2) else f"{number}.{found.group(1)}"
            known[name] = fields.tidy_criterion(found.group(3))
    return known


KIRO = KiroFormat()
