"""Spec-Kit's tasks.md: `- [ ] T001 [P] [US1] Do it in src/x.py`, with spec.md and plan.md beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec.structs import replace

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.foreign import Explained, Foreign, finished, paths_in, prose_lines
from engine.plans.native import BOX
from engine.plans.outline import MARKS
from engine.plans.plan_format import places_to_mark

_TASK = re.compile(r"[-*][ \t]+\[([^\]]?)\][ \t]+(?:\*\*)?(T\d{2,4}[a-z]?)(?:\*\*)?[ \t]*[:.]?[ \t]+(.*)$")
_TAG = re.compile(r"\[(P|US\d+|[A-Z]{1,3}\d*)\][ \t]*")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_PHASE = re.compile(r"(?i)^phase[ \t]+[\d.]+[ \t]*[:.)–—-]*[ \t]*")
_REQUIREMENT = re.compile(r"[-*][ \t]+\*\*(FR-\d+|NFR-\d+|SC-\d+)\*\*:?[ \t]*(.*)$")


class SpecKitFormat(Foreign):
    """Tasks without [P] come one after another; those with [P] may run beside each other."""

    name = "spec-kit"
    what = "Spec-Kit `tasks.md` (T001 [P])"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() not in (".md", ".markdown"):
            return False
        return sum(bool(_TASK.match(line.body)) for line in prose_lines(text[:400_000], str(path))) > 0

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        title, phase, last = "", "Tasks", ""
        phases: dict[str, list[tuple[TaskSpec, int]]] = {}
        beside: list[str] = []
        unused: list[str] = []
        scoped = 0
        for line in prose_lines(text, source):
            if heading := _HEADING.match(line.body) if line.indent < 4 else None:
                if len(heading.group(1)) == 1:
                    title = title or re.sub(r"(?i)^tasks?[ \t]*[:–—-][ \t]*", "", heading.group(2))
                elif len(heading.group(1)) == 2:
                    phase, last, beside = _PHASE.sub("", heading.group(2)) or heading.group(2), "", []
                continue
            found = _TASK.match(line.body)
            if not found:
                continue
            tags = _TAG.findall(found.group(3))
            words = _TAG.sub("", found.group(3))
            status = MARKS.get(found.group(1), "open")
            name = _id(found.group(2))
            parallel = "P" in tags
            needs = ([last] if last else []) if parallel or not beside else beside
            scope = [path for path in paths_in(words) if "/" in path or "." in path]
            scoped += bool(scope)
            task = TaskSpec(
                id=name,
                title=fields.tidy_title(words) or name,
                description="\n".join(f"Story {tag}" for tag in tags if tag != "P"),
                scope=(),
                depends_on=tuple(needs),
                done=status == "done",
                skipped=status == "skipped",
            )
            if scope:
                task = replace(task, description=f"{task.description}\nFiles: {', '.join(scope)}".strip())
            phases.setdefault(phase, []).append((task, line.number))
            if parallel:
                beside.append(name)
            else:
                last, beside = name, []
        plan = finished(source, title, phases.items())
        guessed = ["tasks without [P] wait for the one before them"]
        guessed += [f"{scoped} tasks name their files; the scope is left open for tests beside them"] if scoped else []
        understood = (f"{len(plan.tasks())} tasks in {len(plan.phases)} phases",)
        return plan, Explained(understood=understood, guessed=tuple(guessed), unused=tuple(unused))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        found = []
        for line in prose_lines(text, "tasks.md"):
            task = _TASK.match(line.body)
            if task:
                start = line.start + line.lead + task.start(1)
                found.append((_id(task.group(2)), start, start + len(task.group(1))))
        for start, end, status in places_to_mark(marks, found, "tasks.md"):
            text = text[:start] + BOX[status] + text[end:]
        return text

    def companions(self, path: PurePath) -> tuple[PurePath, ...]:
        return (path.with_name("spec.md"), path.with_name("plan.md"))

    def enrich(self, plan: Plan, texts: Mapping[str, str]) -> tuple[Plan, Explained]:
        """The functional requirements of spec.md stand above the tasks: the reviewer and the agents see them."""
        wanted = [
            f"{match.group(1)}: {fields.tidy_criterion(match.group(2))}"
            for line in prose_lines(texts.get("spec.md", ""), "spec.md")
            if (match := _REQUIREMENT.match(line.body))
        ]
        if not wanted:
            return plan, Explained(unused=tuple(f"{name}: no requirements found in it" for name in texts))
        summary = "\n".join((plan.summary, "Requirements (spec.md):", *(f"- {one}" for one in wanted))).strip()
        rest = tuple(f"{name}: read by the agents, not by the plan" for name in texts if name != "spec.md")
        said = Explained(understood=(f"{len(wanted)} requirements of spec.md",), unused=rest)
        return replace(plan, summary=summary), said


def _id(word: str) -> str:
    """T001 → 001: what plan.md calls it."""
    return fields.known_id(word) or word.lstrip("T")


SPEC_KIT = SpecKitFormat()
