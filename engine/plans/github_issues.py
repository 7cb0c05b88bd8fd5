"""`gh issue list --json number,title,body,labels,state`: every issue a task; its checkboxes are its criteria."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.foreign import Explained, Foreign, edited, finished
from engine.plans.json_foreign import decoded, with_members, word
from engine.plans.json_spans import Value, elements, line_of
from engine.plans.plan_format import PlanRefused, places_to_mark

NOT_PLANNED = "NOT_PLANNED"
_BOX = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]?\][ \t]+(.*)$", re.MULTILINE)
_NEEDS = re.compile(r"(?:depends on|blocked by|after|requires)[ \t:]+((?:#\d+[ \t,and]*)+)", re.IGNORECASE)
_LEVEL = re.compile(r"(?:priority[:/ ]*)?(critical|high|medium|low|p[0-3])$", re.IGNORECASE)


class GithubIssuesFormat(Foreign):
    """Issue 12 is task GH-12. The file is an export: its `state` is written, GitHub itself is not."""

    name = "github-issues"
    what = "`gh issue list --json number,title,body,labels,state`"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() != ".json" or '"number"' not in text:
            return False
        try:
            root = decoded(text, str(path)).value
        except PlanRefused:
            return False
        rows = root if isinstance(root, list) else []
        return bool(rows) and all(isinstance(one, dict) and "number" in one and "title" in one for one in rows)

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        rows = _rows(text, source)
        known = {row.value["number"] for row in rows}
        tasks, gone, without = [], [], []
        for row in rows:
            task, missing = _task(row.value, known)
            tasks.append((task, line_of(text, row.start)))
            gone += missing
            if not task.accept:
                without.append(f"#{row.value['number']}")
        plan = finished(source, "GitHub issues", [("Issues", tasks)])
        guessed = ["checkboxes in an issue's body are its criteria"]
        guessed += [f"no criteria in {', '.join(without[:12])}: title and body are the criterion"] if without else []
        unused = ("assignees, comments and milestones", *gone)
        return plan, Explained(understood=(f"{len(tasks)} issues",), guessed=tuple(guessed), unused=unused)

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        rows = _rows(text, "issues.json")
        found = ((_id(row.value), row.start, row.end) for row in rows)
        edits = []
        for start, _end, status in places_to_mark(marks, found, "issues.json"):
            closed = status in ("done", "skipped")
            changes: dict[str, Any] = {"state": "CLOSED" if closed else "OPEN"}
            known = next(row.value for row in rows if row.start == start)
            if status == "skipped":
                changes["stateReason"] = NOT_PLANNED
            elif known.get("stateReason") == NOT_PLANNED:
                changes["stateReason"] = ""
            edits += with_members(text, start, changes)
        return edited(text, edits)


def _rows(text: str, source: str) -> list[Value]:
    root = decoded(text, source)
    rows = elements(text, root.start) if isinstance(root.value, list) else []
    return [row for row in rows if isinstance(row.value, dict) and isinstance(row.value.get("number"), int)]


def _id(data: dict[str, Any]) -> str:
    return f"GH-{data['number']}"


def _task(data: dict[str, Any], known: set[int]) -> tuple[TaskSpec, list[str]]:
    body = word(data, "body").replace("\r\n", "\n")
    numbers = [int(one) for group in _NEEDS.findall(body) for one in re.findall(r"#(\d+)", group)]
    missing = [f"#{data['number']} depends on #{one}, which is not in the file" for one in numbers if one not in known]
    labels = [str(one.get("name", "")) for one in data.get("labels") or () if isinstance(one, dict)]
    level = next((found.group(1).lower() for name in labels if (found := _LEVEL.search(name))), "")
    closed = str(data.get("state", "")).upper() == "CLOSED"
    dropped = data.get("stateReason") == NOT_PLANNED
    return (
        TaskSpec(
            id=_id(data),
            title=fields.tidy_title(word(data, "title")) or _id(data),
            description=fields.tidy_description("", _BOX.sub("", body).splitlines()),
            accept=tuple(dict.fromkeys(one for raw in _BOX.findall(body) if (one := fields.tidy_criterion(raw)))),
            depends_on=tuple(dict.fromkeys(f"GH-{one}" for one in numbers if one in known and one != data["number"])),
            priority=fields.PRIORITIES.get(level, 0),
            done=closed and not dropped,
            skipped=closed and dropped,
        ),
        missing,
    )


GITHUB_ISSUES = GithubIssuesFormat()
