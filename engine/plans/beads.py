"""Beads' issues.jsonl: one issue a line, with dependencies of several kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.drafts import lines_of
from engine.plans.foreign import Explained, Foreign, edited, finished, refused
from engine.plans.json_foreign import with_members, word
from engine.plans.json_spans import value_at
from engine.plans.plan_format import places_to_mark

STATUS = {"open": "open", "in_progress": "in_progress", "done": "closed", "skipped": "closed", "blocked": "blocked"}
SKIPPED = "skipped"
WAITS = frozenset({"blocks", ""})
HEADINGS = frozenset({"epic"})


class Item(Struct):
    id: str
    own: str
    data: dict[str, Any]
    line: int
    start: int
    end: int


class BeadsFormat(Foreign):
    """Epics are headings; `blocks` is a dependency, the other kinds of links are told, not obeyed."""

    name = "beads"
    what = "beads `issues.jsonl`"

    def matches(self, path: PurePath, text: str) -> bool:
        return path.suffix.lower() == ".jsonl"

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        items = list(_items(text, source))
        work = [item for item in items if item.data.get("issue_type") not in HEADINGS]
        ids = {item.own: item.id for item in work}
        gone: list[str] = []
        tasks = [(_task(item, ids, gone), item.line) for item in work]
        plan = finished(source, fields.title_of(source), [("Issues", tasks)])
        epics = [item.own for item in items if item.data.get("issue_type") in HEADINGS]
        unused = [f"epic {name}: a heading, not work" for name in epics] + gone
        renamed = [f"{item.own} is {item.id} in the plan" for item in work if item.own != item.id]
        return plan, Explained(
            understood=(f"{len(work)} issues",), guessed=tuple(renamed[:20]), unused=tuple(unused[:40])
        )

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        items = [item for item in _items(text, "issues.jsonl") if item.data.get("issue_type") not in HEADINGS]
        places = places_to_mark(marks, ((item.id, item.start, item.end) for item in items), "issues.jsonl")
        edits = []
        for start, _end, status in places:
            changes: dict[str, Any] = {"status": STATUS[status]}
            known = next(item.data for item in items if item.start == start)
            if status == "skipped":
                changes["close_reason"] = SKIPPED
            elif known.get("close_reason") == SKIPPED:
                changes["close_reason"] = ""
            edits += with_members(text, start, changes)
        return edited(text, edits)


def _items(text: str, source: str) -> Iterator[Item]:
    """Every line that is an issue. Ids that plan.md can write are kept (bd-12 → BD-12), others are numbered."""
    rows = []
    for line in lines_of(text):
        if not line.body:
            continue
        start = line.start + line.lead
        try:
            data = json.loads(line.body)
        except (ValueError, RecursionError) as broken:
            raise refused(source, line.number, f"not JSON: {broken}", "one issue a line") from broken
        if not isinstance(data, dict):
            raise refused(source, line.number, "not an issue", '{"id": "bd-1", "title": "…", "status": "open"}')
        rows.append((line.number, start, value_at(text, start).end, data))
    ids = [fields.known_id(str(data.get("id", "")).upper()) for _, _, _, data in rows]
    taken = set(ids)
    place = 0
    for (number, start, end, data), known in zip(rows, ids, strict=True):
        own = str(data.get("id", ""))
        if not known:
            place += 1
            while f"1.{place}" in taken:
                place += 1
            known = f"1.{place}"
        yield Item(known, own, data, number, start, end)


def _task(item: Item, ids: dict[str, str], gone: list[str]) -> TaskSpec:
    data = item.data
    needs = []
    for link in data.get("dependencies") or ():
        if not isinstance(link, dict):
            continue
        target, kind = str(link.get("depends_on_id", "")), str(link.get("type", ""))
        if kind in WAITS and target in ids:
            needs.append(ids[target])
        elif kind in WAITS:
            gone.append(f"{item.own} waits for {target}, which is not work in this file")
        else:
            gone.append(f"{item.own}: link {kind} to {target}")
    wanted = word(data, "acceptance_criteria")
    criteria = [re.sub(r"^(?:[-*+]|\d+[.)])[ \t]+", "", line.strip()) for line in wanted.splitlines()]
    details = [word(data, key) for key in ("description", "design", "notes")]
    status, level = str(data.get("status", "")).lower(), data.get("priority")
    return TaskSpec(
        id=item.id,
        title=fields.tidy_title(word(data, "title")) or item.own or item.id,
        description=fields.tidy_description("", "\n\n".join(one for one in details if one).splitlines()),
        accept=tuple(dict.fromkeys(one for raw in criteria if (one := fields.tidy_criterion(raw)))),
        depends_on=tuple(dict.fromkeys(one for one in needs if one != item.id)),
        priority=(2 - level) * 10 if isinstance(level, int) and not isinstance(level, bool) and 0 <= level <= 4 else 0,
        done=status == "closed" and data.get("close_reason") != SKIPPED,
        skipped=status == "closed" and data.get("close_reason") == SKIPPED,
    )


BEADS = BeadsFormat()
