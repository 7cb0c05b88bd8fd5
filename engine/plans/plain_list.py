"""A list without boxes in a file that is called a plan: `1. Do this`, `- do that`, as people type it by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct, field

from engine.core.model import Plan, TaskSpec
from engine.core.wording import plural
from engine.plans import fields
from engine.plans.drafts import Line
from engine.plans.foreign import Explained, Foreign, finished, prose_lines
from engine.plans.outline import MARKS
from engine.plans.plan_format import places_to_mark
from engine.plans.task_blocks import FIELD, LISTS, put_field

CALLED_PLAN = re.compile(r"(?:^|[-_. ])(?:fix_?plan|plan|todo|tasks)(?:$|[-_. ])", re.IGNORECASE)
"""A file of this name holds tasks, whatever it looks like."""
BOX = {"open": "", "in_progress": "[~] ", "done": "[x] ", "skipped": "[-] ", "blocked": "[!] "}
_ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,3}[.)])[ \t]+(?P<box>\[[xX~!-]\][ \t]+)?(?P<title>[^\s\[].*)$")
_OPEN_BOX = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+\[[ \t]?\]")
_WITH_ID = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+(?:\*\*|__|`)?T?\d+\.\d+")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_POINT = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+(.*)$")
_AFTER = re.compile(
    r"(?:[-*+][ \t]+)?\(?(?:depends[ \t]+on|after|needs)[ \t]+(?:task[ \t]+|step[ \t]+)?#?(\d+)\)?\.?$", re.I
)


class Item(Struct):
    number: int
    """As it is written, or its place."""
    title: str
    line: int
    span: tuple[int, int]
    """Where its box stands, or would stand."""
    status: str
    phase: str
    body: list[Line] = field(default_factory=list)


class PlainListFormat(Foreign):
    """Every item of the outermost list is a task; points below it are its criteria, unless they are named otherwise."""

    name = "plain-list"
    what = "a list without boxes"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() not in (".md", ".markdown", ".txt", "") or not CALLED_PLAN.search(path.stem):
            return False
        lines = [line.body for line in prose_lines(text[:400_000], str(path))]
        if any(_OPEN_BOX.match(body) or _WITH_ID.match(body) for body in lines):
            return False  # a plan of ours, or one with ids that lacks its boxes
        items = _items(text[:400_000], str(path))[2]
        return any(item.status == "open" for item in items)

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        title, summary, items = _items(text, source)
        guessed: list[str] = []
        phases: dict[str, list[tuple[TaskSpec, int]]] = {}
        names = list(dict.fromkeys(item.phase for item in items))
        for item in items:
            rows = phases.setdefault(item.phase, [])
            same = [one for one in items if one.phase == item.phase]
            ids = {one.number: f"{names.index(item.phase) + 1}.{place}" for place, one in enumerate(same, 1)}
            rows.append((_task(item, f"{names.index(item.phase) + 1}.{len(rows) + 1}", ids, guessed), item.line))
        plan = finished(source, title, phases.items(), "\n".join(summary))
        guessed.insert(0, "every item of the list is a task; put [ ] before them to say so yourself: - [ ] What to do")
        return plan, Explained(understood=(plural(len(items), "item"),), guessed=tuple(guessed))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        """A box is put before what is marked; an open item has none."""
        names = list(dict.fromkeys(item.phase for item in _items(text, "plan.md")[2]))
        places: dict[str, int] = {}
        found = []
        for item in _items(text, "plan.md")[2]:
            places[item.phase] = places.get(item.phase, 0) + 1
            found.append((f"{names.index(item.phase) + 1}.{places[item.phase]}", *item.span))
        for start, end, status in places_to_mark(marks, found, "plan.md"):
            text = text[:start] + BOX[status] + text[end:]
        return text


def _items(text: str, source: str) -> tuple[str, list[str], list[Item]]:
    title, phase = "", "Tasks"
    summary: list[str] = []
    items: list[Item] = []
    current: Item | None = None
    for line in prose_lines(text, source):
        heading = _HEADING.match(line.body) if line.indent < 4 else None
        found = _ITEM.match(line.body) if line.indent < 2 else None
        if heading is not None:
            if not title and not items:
                title = heading.group(2)
            else:
                phase = fields.tidy_heading(heading.group(2)) or heading.group(2)
            current = None
        elif found is not None:
            number = int(found["mark"][:-1]) if found["mark"][0].isdigit() else len(items) + 1
            start = line.start + line.lead + (found.start("box") if found["box"] else found.start("title"))
            current = Item(
                number=number,
                title=fields.tidy_title(found["title"]),
                line=line.number,
                span=(start, start + len(found["box"] or "")),
                status=MARKS[found["box"][1]] if found["box"] else "open",
                phase=phase,
            )
            if current.title:
                items.append(current)
        elif current is not None:
            current.body.append(line)
        elif not items:
            summary.append(line.text)
    return title, summary, items


def _task(item: Item, id: str, ids: Mapping[int, str], guessed: list[str]) -> TaskSpec:
    accept: list[str] = []
    scope: list[str] = []
    depends: list[str] = []
    verify: list[str] = []
    prose: list[str] = []
    points, into = 0, ""
    for line in item.body:
        after, named, point = _AFTER.match(line.body), FIELD.match(line.body), _POINT.match(line.body)
        if after is not None and int(after.group(1)) in ids:
            depends.append(ids[int(after.group(1))])
        elif named is not None and named.group(1).lower().replace("_", " ") in LISTS:
            into, words = named.group(1).lower().replace("_", " "), named.group(2).strip()
            if words:
                put_field(into, words, accept, scope, depends, verify)
                into = ""
        elif point is not None and into:
            put_field(into, point.group(1), accept, scope, depends, verify)
        elif point is not None:
            points += 1
            accept.append(point.group(1))
        else:
            into = "" if line.body else into
            prose.append(line.text)
    if points:
        guessed.append(
            f"task {id}: {plural(points, 'point')} below it {'is' if points == 1 else 'are'} taken as criteria"
        )
    known = (ids.get(int(one), one) if one.isdigit() else one for one in depends)

    def refuse(what: str, _expected: str, _fix: str) -> None:
        guessed.append(f"task {id}: {what}; left out")

    return TaskSpec(
        id=id,
        title=item.title,
        description=fields.tidy_description("", prose),
        accept=tuple(dict.fromkeys(one for raw in accept if (one := fields.tidy_criterion(raw)))),
        scope=tuple(dict.fromkeys(one for raw in scope if (one := fields.glob(raw, refuse)))),
        depends_on=tuple(dict.fromkeys(known)),
        verify=tuple(dict.fromkeys(verify)),
        done=item.status == "done",
        skipped=item.status == "skipped",
    )


PLAIN_LIST = PlainListFormat()
