"""The native format: plan.md, written by hand or by a planner, read forgivingly, marked in place (docs/plans.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

import msgspec

from engine.core.clean import clean_line
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.paths import kebab
from engine.plans import fields
from engine.plans.drafts import FieldDraft, Outline, PhaseDraft, TaskDraft, lines_of
from engine.plans.graph import Placed, graph_errors
from engine.plans.outline import outline
from engine.plans.plan_format import PLAN_STATUSES, PlanError, PlanRefused, places_to_mark

Boxes = tuple[tuple[str, int, int], ...]
"""Of every task its id, and where its mark begins and ends."""
BOX = {"open": " ", "in_progress": "~", "done": "x", "skipped": "-", "blocked": "!"}
MAX_CHARS = 2_000_000

_STATUS = re.compile(r"(?:\*\*|__|`)?(draft|approved|in[ _-]?progress|completed?|done)\b", re.IGNORECASE)


class NativeFormat:
    """plan.md."""

    name = "native"

    def matches(self, path: PurePath, text: str) -> bool:
        """Any Markdown or plain text: what has no tasks is refused by `read`, with words."""
        return path.suffix.lower() in (".md", ".markdown", ".mdown", ".txt", "")

    def read(self, text: str, source: str) -> Plan:
        if len(text) > MAX_CHARS:
            raise PlanRefused(
                [
                    PlanError(
                        source=source,
                        line=0,
                        what=f"the plan has {len(text):,} characters",
                        expected=f"at most {MAX_CHARS:,}",
                    )
                ]
            )
        draft = outline(text, source)
        named = list(_named(draft))
        placed = []
        phases = []
        for phase, phase_id in _numbered(draft):
            tasks = [
                Placed(_task(item, task_id, title, draft), item.line, _line_of(item, "depends"))
                for owner, item, task_id, title in named
                if owner is phase
            ]
            if phase.named and not tasks:
                draft.refuse(
                    phase.line, f"phase {phase_id} has no tasks", "at least one", f"- [ ] {phase_id}.1 What to do"
                )
            if tasks:
                placed += tasks
                phases.append((phase, phase_id, tasks))
        _spread_phases(placed, phases)
        status = _status(draft)
        errors = [*draft.errors, *graph_errors(placed, source), *_phase_clashes(phases, source)]
        plan = Plan(
            title=fields.tidy_heading(draft.title) or fields.title_of(source),
            phases=tuple(
                PhaseSpec(
                    id=phase_id,
                    title=fields.tidy_heading(phase.title) or "Tasks",
                    tasks=tuple(item.task for item in tasks),
                    scaffold=phase.scaffold,
                )
                for phase, phase_id, tasks in phases
            ),
            status=status,
            topic=kebab(draft.topic.value) if draft.topic else "",
            summary=_summary(draft.summary),
        )
        if errors:
            raise PlanRefused(sorted(errors, key=lambda error: error.line))
        return plan

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        boxes = _boxes(text)
        places = places_to_mark(marks, boxes, "plan.md")
        for start, end, status in places:
            text = text[:start] + BOX[status] + text[end:]
        if all(end - start == 1 for start, end, _ in places):  # another mark in a box moves nothing
            _marked_last[:] = [(text, boxes)]
        return text

    def mark_plan(self, text: str, status: str) -> str:
        if status not in PLAN_STATUSES:
            raise ValueError(f"unknown plan status {status!r}; one of {', '.join(PLAN_STATUSES)}")
        stated = outline(text, "plan.md").status
        word = _STATUS.match(stated.value) if stated else None
        if stated is None or word is None:
            return text
        start = stated.span[0] + word.start(1)
        return text[:start] + status + text[start + len(word.group(1)) :]


_marked_last: list[tuple[str, Boxes]] = []
"""The text that was marked last, with its boxes: while nobody else writes there it need not be read for each mark."""


def _boxes(text: str) -> Boxes:
    for known, boxes in _marked_last:
        if known == text:
            return boxes
    return tuple((task_id, *item.box) for _, item, task_id, _ in _named(outline(text, "plan.md")))


def tasks_of(text: str, source: str, task_id: str) -> Iterator[tuple[int, int, int]]:
    """Where a task stands: its line, its indentation, and the last line before the next task."""
    named = list(_named(outline(text, source)))
    starts = sorted(item.line for _, item, _, _ in named)
    for _, item, found, _ in named:
        if found == task_id:
            after = [line for line in starts if line > item.line]
            yield item.line, item.indent, (after[0] - 1 if after else len(list(lines_of(text))))


def _numbered(draft: Outline) -> Iterator[tuple[PhaseDraft, str]]:
    """Phases that count, with their ids: the heading's own, else the next number no heading has."""
    counting = [phase for phase in draft.phases if phase.tasks or phase.named]
    taken = {phase.number for phase in counting if phase.number}
    free = (str(number) for number in range(1, len(counting) + len(taken) + 1) if str(number) not in taken)
    for phase in counting:
        yield phase, phase.number or next(free)


def _named(draft: Outline) -> Iterator[tuple[PhaseDraft, TaskDraft, str, str]]:
    """Tasks with their ids and titles. A task without an id gets its phase's number and its place among the rest."""
    split = {id(item): fields.split_id(item.rest) for phase in draft.phases for item in phase.tasks}
    taken = {task_id for task_id, _ in split.values() if task_id}
    for phase, phase_id in _numbered(draft):
        place = 0
        for item in phase.tasks:
            place += 1
            task_id, title = split[id(item)]
            if not task_id:
                while f"{phase_id}.{place}" in taken:
                    place += 1
                task_id = f"{phase_id}.{place}"
                taken.add(task_id)
            yield phase, item, task_id, title


def _task(item: TaskDraft, task_id: str, title: str, draft: Outline) -> TaskSpec:
    if not title:
        draft.refuse(
            item.line, f"task {task_id} has no title", "a few words after the id", f"- [ ] {task_id} What to do"
        )
    spec = TaskSpec(id=task_id, title=title, done=item.status == "done", skipped=item.status == "skipped")
    values: dict[str, object] = {}
    for found in item.fields:
        values |= _values(found, draft, task_id, values)
    return msgspec.structs.replace(spec, **values)


def _values(found: FieldDraft, draft: Outline, task_id: str, before: dict[str, object]) -> dict[str, object]:
    """One field's value; list fields and descriptions given twice are joined, the others refused."""

    def refuse(line: int) -> fields.Refuse:
        return lambda what, expected, fix: draft.refuse(line, what, expected, fix)

    def joined(name: str, more: list[str]) -> dict[str, object]:
        old = before.get(name, ())
        both = [*(old if isinstance(old, tuple) else ()), *(item for item in more if item)]
        return {name: tuple(dict.fromkeys(both))}

    match found.name:
        case "description":
            inline = found.items[0].text if found.items and found.items[0].bullet else ""
            body = [item.text for item in found.items[1 if inline else 0 :]]
            text = fields.tidy_description(inline, body)
            old = before.get("description", "")
            return {"description": f"{old}\n\n{text}".strip("\n") if old else text}
        case "accept":
            return joined("accept", [fields.tidy_criterion(item.text) for item in found.items])
        case "scope":
            return joined(
                "scope",
                [
                    fields.glob(word, refuse(item.line))
                    for item in found.items
                    for word in fields.split_globs(item.text)
                ],
            )
        case "depends":
            return joined("depends_on", [word for item in found.items for word in fields.split_ids(item.text)])
        case "verify":
            return joined("verify", [fields.command(item.text) for item in found.items])
        case "allow":
            return joined(
                "allow",
                [word for item in found.items for word in fields.entries(item.text, refuse(item.line))],
            )
    name, words = found.name, " ".join(item.text for item in found.items)
    if name in before:
        draft.refuse(found.line, f"task {task_id} has {name}: twice", "it once")
    read: dict[str, Callable[[str, fields.Refuse], object]] = {
        "priority": fields.priority,
        "complexity": fields.complexity,
        "proof": fields.proof,
    }
    return {name: read[name](words, refuse(found.line)) if name in read else fields.tidy_word(words)}


def _line_of(item: TaskDraft, name: str) -> int:
    return next((found.line for found in item.fields if found.name == name), 0)


def _spread_phases(placed: list[Placed], phases: list[tuple[PhaseDraft, str, list[Placed]]]) -> None:
    """`depends: Phase 1` means every task of that phase."""
    members = {phase_id.lower(): [item.task.id for item in tasks] for _, phase_id, tasks in phases}
    for item in placed:
        spread: list[str] = []
        for named in item.task.depends_on:
            phase = re.fullmatch(r"phase[ \t]+(\w+)", named, re.IGNORECASE)
            spread += members.get(phase.group(1).lower(), [named]) if phase else [named]
        if tuple(spread) != item.task.depends_on:
            item.task = msgspec.structs.replace(item.task, depends_on=tuple(dict.fromkeys(spread)))


def _phase_clashes(phases: list[tuple[PhaseDraft, str, list[Placed]]], source: str) -> Iterator[PlanError]:
    first: dict[str, int] = {}
    for phase, phase_id, _ in phases:
        line = first.setdefault(phase_id.lower(), phase.line)
        if line != phase.line:
            yield PlanError(
                source=source,
                line=phase.line,
                what=f"phase {phase_id} is there already: line {line} has it",
                expected="a number of its own",
                fix=f"## Phase {len(phases)}: {phase.title}",
            )


def _summary(lines: list[str]) -> str:
    """The prose above the phases; a text that is all quote, as `render` writes it, is taken out of its quote."""
    quoted = all(line.lstrip().startswith(">") for line in lines if line.strip())
    return fields.tidy_description(
        "", [line.lstrip().removeprefix(">").removeprefix(" ") if quoted else line for line in lines]
    )


def _status(draft: Outline) -> str:
    if draft.status is None:
        return "APPROVED"  # a plan that is handed over and does not call itself a draft is meant
    word = _STATUS.match(draft.status.value)
    if word is None:
        what = f"unknown status {clean_line(draft.status.value) or '(none)'}"
        draft.refuse(draft.status.line, what, ", ".join(PLAN_STATUSES), "Status: DRAFT")
        return "DRAFT"
    plain = re.sub(r"[ _-]", "", word.group(1)).upper()
    return {"INPROGRESS": "IN_PROGRESS", "COMPLETED": "COMPLETE", "DONE": "COMPLETE"}.get(plain, plain)


NATIVE = NativeFormat()
