"""Markdown with a heading for each task: `### Task 1: Title`, `### 1.2 Title` (as plans in .loop/ have it)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct, field
from msgspec.structs import replace

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.drafts import Line
from engine.plans.foreign import Explained, Foreign, finished, paths_in, prose_lines
from engine.plans.plan_format import places_to_mark

BOX = {"open": "", "in_progress": " [~]", "done": " [x]", "skipped": " [-]", "blocked": " [!]"}
WORDS = {
    "open": "pending",
    "in_progress": "in-progress",
    "done": "completed",
    "skipped": "skipped",
    "blocked": "blocked",
}
_TASK = re.compile(
    r"(#{2,5})[ \t]+(?:(?:sub)?task[ \t]+(\d+(?:\.\d+)*[a-z]?)|T?(\d+(?:\.\d+)+[a-z]?))[ \t]*[:.)–—-]*"
    r"[ \t]*(.*?)[ \t]*$",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_PHASE = re.compile(r"(?i)^phase[ \t]+[\w.]+[ \t]*[:.)–—-]*[ \t]*")
_MARK = re.compile(r"[ \t]*\[([ xX~!-])\]$")
_STATUS = {"x": "done", "X": "done", "-": "skipped", "~": "in_progress", "!": "blocked", " ": "open"}
FIELD = re.compile(
    r"(?:[-*+][ \t]+)?(?:\*\*|__)?(files?|scope|depends(?:[ _]on)?|dependencies|acceptance(?: criteria)?|accept|"
    r"criteria|success criteria|verify|verification|validation|status|scaffold|complexity|priority)(?:\*\*|__)?[ \t]*:"
    r"(?:\*\*|__)?[ \t]*(.*)$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX~!-]?\][ \t]+)?(.*)$")
_SCAFFOLD = re.compile(r"true|yes", re.IGNORECASE)


class Block(Struct):
    id: str
    title: str
    line: int
    place: int
    """Where its mark stands, or would stand."""
    end: int
    status: str
    level: int
    phase: str
    body: list[Line] = field(default_factory=list)


_DRAFT = re.compile(r"^[ \t>*_-]*status[*_]*[ \t]*:[ \t*_`]*draft\b", re.IGNORECASE | re.MULTILINE)
"""The plan's own word above its first phase: a draft never runs."""


class TaskBlocksFormat(Foreign):
    """A heading for each task; what stands below it is its description, fields and steps."""

    name = "task-blocks"
    what = "Markdown with `### Task N` or `### 1.2` headings"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() not in (".md", ".markdown", ".mdown", ".txt", ""):
            return False
        found = 0
        for line in prose_lines(text[:400_000], str(path)):
            if line.indent < 4 and _TASK.match(line.body):
                found += 1
            elif found == 0 and re.match(r"[-*+][ \t]+\[[ xX~!-]\][ \t]+(?:\*\*)?T?\d+\.\d+", line.body):
                return False  # the native format has its tasks as checkboxes
        return found > 0

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        title, summary, blocks = _blocks(text, source)
        guessed: list[str] = []
        unused: list[str] = []
        phases: dict[str, list[tuple[TaskSpec, int]]] = {}
        scaffolds: set[str] = set()
        for block in blocks:
            task, scaffold = _task(block, guessed, unused)
            phases.setdefault(block.phase, []).append((task, block.line))
            if scaffold:
                scaffolds.add(task.id)
        plan = finished(source, title, phases.items(), "\n".join(summary))
        laid = [phase for phase in plan.phases if all(task.id in scaffolds for task in phase.tasks)]
        if alone := scaffolds - {task.id for phase in laid for task in phase.tasks}:
            guessed.append(f"scaffold tasks first: {', '.join(sorted(alone))} (by their order, not as a phase)")
        plan = replace(
            plan,
            phases=tuple(replace(phase, scaffold=True) if phase in laid else phase for phase in plan.phases),
            status="DRAFT" if _DRAFT.search(text.split("\n##", 1)[0]) else "APPROVED",
        )
        understood = (f"{len(blocks)} task headings in {len(plan.phases)} phases",)
        return plan, Explained(understood=understood, guessed=tuple(guessed), unused=tuple(unused))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        """A task that has a `status:` of its own keeps it; else the mark stands at the end of its heading."""
        found = [(block.id, *_own_status(block)) for block in _blocks(text, "plan.md")[2]]
        worded = {start for _, start, _, own in found if own}
        places = places_to_mark(marks, ((task, start, end) for task, start, end, _ in found), "plan.md")
        for start, end, status in places:
            text = text[:start] + (WORDS[status] if start in worded else BOX[status]) + text[end:]
        return text


def _blocks(text: str, source: str) -> tuple[str, list[str], list[Block]]:
    title, phase = "", "Tasks"
    summary: list[str] = []
    blocks: list[Block] = []
    current: Block | None = None
    for line in prose_lines(text, source):
        heading = _HEADING.match(line.body) if line.indent < 4 else None
        if heading is None:
            (current.body if current else _Lines(summary, bool(title) and not blocks)).append(line)
            continue
        task = _TASK.match(line.body)
        if task:
            current = _block(line, task, phase)
            blocks.append(current)
        elif current is not None and len(heading.group(1)) > current.level:
            current.body.append(line)
        elif len(heading.group(1)) == 1:
            title, current = title or heading.group(2), None
        else:
            phase, current = fields.tidy_heading(_PHASE.sub("", heading.group(2))) or heading.group(2), None
    return title, summary, blocks


class _Lines:
    """Where prose goes that belongs to no task."""

    def __init__(self, into: list[str], wanted: bool) -> None:
        self._into, self._wanted = into, wanted

    def append(self, line: Line) -> None:
        if self._wanted:
            self._into.append(line.text)


def _block(line: Line, task: re.Match[str], phase: str) -> Block:
    rest = task.group(4)
    mark = _MARK.search(rest)
    whole = line.text.rstrip(" \t#") if line.text.rstrip().endswith("#") else line.text.rstrip()
    end = line.start + len(whole)
    place = end - len(mark.group(0)) if mark else end
    return Block(
        id=(task.group(2) or task.group(3)).lower(),
        title=fields.tidy_title(_MARK.sub("", rest)),
        line=line.number,
        place=place,
        end=end,
        status=_STATUS[mark.group(1)] if mark else "open",
        level=len(task.group(1)),
        phase=phase,
    )


def _own_status(block: Block) -> tuple[int, int, bool]:
    """Where its status stands, and whether that is a field with a word."""
    for line in block.body:
        found = FIELD.match(line.body)
        if found and found.group(1).lower() == "status" and _worded(found.group(2)):
            start = line.start + line.lead + found.start(2)
            return start, start + len(found.group(2).rstrip()), True
    return block.place, block.end, False


def _task(block: Block, guessed: list[str], unused: list[str]) -> tuple[TaskSpec, bool]:
    accept: list[str] = []
    scope: list[str] = []
    depends: list[str] = []
    verify: list[str] = []
    prose: list[str] = []
    steps: list[str] = []
    status, scaffold, complexity, priority, into = block.status, False, None, 0, ""

    def refuse(what: str, _expected: str, _fix: str) -> None:
        unused.append(f"task {block.id}: {what}")

    for line in block.body:
        found = FIELD.match(line.body)
        if found:
            into, words = found.group(1).lower().replace("_", " "), found.group(2).strip()
            if into == "status":
                status = _worded(words) or status
                prose += [] if _worded(words) else [line.text]
            elif into == "scaffold":
                scaffold = bool(_SCAFFOLD.match(words))
            elif into == "complexity":
                complexity = fields.complexity(words, refuse)
            elif into == "priority":
                priority = fields.priority(words, refuse)
            elif words:
                put_field(into, words, accept, scope, depends, verify)
                into = ""  # its value stands on its line; what follows is not its list
            continue
        bullet = _BULLET.match(line.body)
        if bullet and into in LISTS:
            put_field(into, bullet.group(1), accept, scope, depends, verify)
            continue
        if line.body and not bullet:
            into = ""
        if bullet and re.match(r"(?:[-*+]|\d+[.)])[ \t]+\[", line.body):
            steps.append(bullet.group(1))
        prose.append(line.text)
    if steps and not accept:
        guessed.append(f"task {block.id}: its {len(steps)} steps are taken as criteria")
        accept = steps
    if scope:
        guessed.append(f"task {block.id}: scope {', '.join(scope)} from the files it names")
    title = block.title or (prose[0].strip() if prose else "")
    return (
        TaskSpec(
            id=block.id,
            title=fields.tidy_title(title) or f"Task {block.id}",
            description=fields.tidy_description("", prose),
            accept=tuple(dict.fromkeys(one for raw in accept if (one := fields.tidy_criterion(raw)))),
            scope=tuple(dict.fromkeys(one for raw in scope if (one := fields.glob(raw, refuse)))),
            depends_on=tuple(dict.fromkeys(depends)),
            verify=tuple(dict.fromkeys(verify)),
            complexity=complexity,
            priority=priority,
            done=status == "done",
            skipped=status == "skipped",
        ),
        scaffold,
    )


LISTS = frozenset(
    {"file", "files", "scope", "depends", "depends on", "dependencies", "acceptance", "acceptance criteria", "accept"}
    | {"criteria", "success criteria", "verify", "verification", "validation"}
)


def put_field(
    into: str, words: str, accept: list[str], scope: list[str], depends: list[str], verify: list[str]
) -> None:
    match into:
        case "file" | "files" | "scope":
            scope += paths_in(words) or (fields.split_globs(words) if into == "scope" else [])
        case "depends" | "depends on" | "dependencies":
            depends += [one for one in fields.split_ids(words.strip("[]")) if fields.known_id(one)]
        case "verify" | "verification" | "validation":
            commands = re.findall(r"`([^`]+)`", words)
            verify += [fields.command(one) for one in commands] if commands else []
            accept += [] if commands else [words]
        case _:
            accept.append(words)


def _worded(words: str) -> str:
    word = words.strip("`*[] ✅").lower().replace(" ", "_").replace("-", "_")
    return {
        "done": "done", "complete": "done", "completed": "done", "skipped": "skipped", "in_progress": "in_progress",
        "blocked": "blocked", "pending": "open", "open": "open", "todo": "open", "not_started": "open",
    }.get(word, "")  # fmt: skip


TASK_BLOCKS = TaskBlocksFormat()
