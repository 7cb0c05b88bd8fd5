"""DESIGN-*.md: one piece of work; its acceptance criteria stay criteria, its validation commands become `verify:`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from engine.core.model import Plan, TaskSpec
from engine.plans import fields
from engine.plans.drafts import Line, lines_of
from engine.plans.foreign import Explained, Foreign, finished
from engine.plans.plan_format import places_to_mark

WORDS = {
    "open": "READY",
    "in_progress": "LOCKED ✅",
    "done": "COMPLETE ✅",
    "skipped": "SKIPPED",
    "blocked": "BLOCKED",
}
TASK = "1"
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_STATUS = re.compile(
    r"(?:[-*][ \t]+)?(?:\*\*|__)?status(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*(.*?)[ \t]*$", re.IGNORECASE
)
_CRITERIA = re.compile(r"acceptance|success criteria|criteria|definition of done", re.IGNORECASE)
_VALIDATION = re.compile(r"validation|verification|how to (?:test|verify)", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX~-]?\][ \t]+)?(.*)$")
_TICKS = re.compile(r"`([^`]+)`")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(\w*)")
_COMMAND = re.compile(r"^(?:\$[ \t]+)?([\w./-]+(?:[ \t].*)?)$")


class DesignDocFormat(Foreign):
    """The file is locked while the sprint runs: its status line says so, and no task may touch it."""

    name = "design"
    what = "`DESIGN-*.md` (criteria, `## Validation`)"

    def matches(self, path: PurePath, text: str) -> bool:
        if path.suffix.lower() not in (".md", ".markdown"):
            return False
        named = path.name.upper().startswith("DESIGN")
        return named and any(_CRITERIA.search(name) for name, _ in _sections(text)[1])

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        title, sections = _sections(text)
        accept: list[str] = []
        verify: list[str] = []
        prose: list[str] = []
        left: list[str] = []
        for name, lines in sections:
            if _CRITERIA.search(name):
                accept += [found.group(1) for line in lines if (found := _BULLET.match(line.body))]
            elif _VALIDATION.search(name):
                commands, words = _commands(lines)
                verify += commands
                left += [f"Validation: “{one}” is no command" for one in words]
            else:
                prose += [f"{name}:" if name else "", *(line.text for line in lines), ""]
        status = _status(text)[2]
        task = TaskSpec(
            id=TASK,
            title=fields.tidy_title(title) or fields.title_of(source),
            description=fields.tidy_description("", prose),
            accept=tuple(dict.fromkeys(one for raw in accept if (one := fields.tidy_criterion(raw)))),
            scope=("**", f"!{PurePath(source).name}"),
            verify=tuple(dict.fromkeys(fields.command(one) for one in verify)),
            done=status == "done",
            skipped=status == "skipped",
        )
        plan = finished(source, title, [("Implementation", [(task, 1)])])
        understood = (f"{len(task.accept)} criteria, {len(task.verify)} validation commands",)
        guessed = ("one task: what the design describes; split it with devteam replan, or let devteam plan do it",)
        return plan, Explained(understood=understood, guessed=guessed, unused=tuple(left))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        start, end, _ = _status(text)
        for _start, _end, status in places_to_mark(marks, [(TASK, start, end)], "DESIGN.md"):
            if start != end or text[:start].endswith((": ", ":** ", "__ ")):
                return text[:start] + WORDS[status] + text[end:]
            gap = "\r\n" if text[:start].endswith("\r\n") else "\n"
            line = f"**Status:** {WORDS[status]}{gap}"
            return (
                text[:start] + (gap if start and not text[:start].endswith(("\n", "\r")) else "") + line + text[start:]
            )
        return text


def _status(text: str) -> tuple[int, int, str]:
    """Where the status stands (or would stand: below the title) and what it says."""
    below = 0
    for line in lines_of(text):
        if _FENCE.match(line.body):
            break
        heading = _HEADING.match(line.body)
        if heading and len(heading.group(1)) > 1:
            break
        if heading and not below:
            below = line.start + len(line.text) + _gap(text, line.start + len(line.text))
        found = _STATUS.match(line.body)
        if found:
            start = line.start + line.lead + found.start(1)
            said = found.group(1).upper()
            known = {"COMPLETE": "done", "DONE": "done", "SKIPPED": "skipped"}
            kind = next((status for word, status in known.items() if said.startswith(word)), "open")
            return start, start + len(found.group(1)), kind
    return below, below, "open"


def _gap(text: str, at: int) -> int:
    return 2 if text.startswith("\r\n", at) else 1 if at < len(text) else 0


def _sections(text: str) -> tuple[str, list[tuple[str, list[Line]]]]:
    title = ""
    sections: list[tuple[str, list[Line]]] = [("", [])]
    fence = ""
    for line in lines_of(text):
        opening = _FENCE.match(line.body)
        heading = _HEADING.match(line.body) if not fence and line.indent < 4 else None
        if opening:
            fence = "" if fence and line.body.startswith(fence) else fence or opening.group(1)
        if heading and len(heading.group(1)) == 1 and not title:
            title = heading.group(2)
        elif heading and len(heading.group(1)) <= 3:
            sections.append((heading.group(2), []))
        elif not (len(sections) == 1 and _STATUS.match(line.body)):
            sections[-1][1].append(line)
    return title, sections


def _commands(lines: list[Line]) -> tuple[list[str], list[str]]:
    """Lines of code blocks, and what stands in backticks in a list."""
    commands: list[str] = []
    words: list[str] = []
    fence = ""
    for line in lines:
        opening = _FENCE.match(line.body)
        if opening:
            fence = "" if fence else opening.group(1)
            continue
        if fence:
            found = _COMMAND.match(line.body)
            if found and not line.body.startswith("#"):
                commands.append(found.group(1))
            continue
        bullet = _BULLET.match(line.body)
        if bullet:
            ticked = _TICKS.findall(bullet.group(1))
            commands += ticked[:1]
            words += [] if ticked else [bullet.group(1)]
    return commands, words


DESIGN_DOC = DesignDocFormat()
