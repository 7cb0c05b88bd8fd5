"""Reads the shape of a plan.md, a line at a time: title, status, phases, tasks and their fields."""

from __future__ import annotations

import difflib
import re

from engine.plans.drafts import TAB, FieldDraft, Item, Line, Meta, Outline, PhaseDraft, TaskDraft, lines_of
from engine.plans.fields import SCAFFOLD

FIELDS = {
    "description": "description",
    "desc": "description",
    "accept": "accept",
    "acceptance": "accept",
    "acceptance criteria": "accept",
    "criteria": "accept",
    "scope": "scope",
    "depends": "depends",
    "depends on": "depends",
    "dependencies": "depends",
    "verify": "verify",
    "priority": "priority",
    "agent": "agent",
    "complexity": "complexity",
    "allow": "allow",
    "proof": "proof",
}
"""Accepted names. Few on purpose: `files:` or `verification:` in prose must not become a rule or a command."""

MARKS = {" ": "open", "": "open", "x": "done", "X": "done", "-": "skipped", "~": "in_progress", "!": "blocked"}
LISTS = ("accept", "scope", "depends", "verify", "allow")

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_PHASE = re.compile(r"(?:\*\*|__)?phase[ \t]+([A-Za-z0-9]+)\b(?:\*\*|__)?[ \t]*[:.)–—-]*[ \t]*(.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d+)[.):][ \t]+(.*)$")
_TASK = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]]{0,3})\](?:[ \t]+(.*))?$")
_BARE_TASK = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\*\*|__|`)?T?\d+\.\d+(?:[.:)]|\*\*|__|`)*[ \t]+\S")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_FIELD = re.compile(
    r"(?:[-*+][ \t]+)?(?:\*\*|__|`)?([A-Za-z][A-Za-z _-]{2,24}?)(?:\*\*|__|`)?[ \t]*:(?:\*\*|__|`)?(?:[ \t]+(.*))?$"
)
_FENCE = re.compile(r"(?:[-*+][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_META = re.compile(
    r"(?:[*-][ \t]+)?(?:\*\*|__)?(status|topic)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*(.*?)[ \t]*$", re.IGNORECASE
)


def outline(text: str, source: str) -> Outline:
    """Everything a plan.md says, with the errors that its shape alone shows."""
    reader = _Reader(Outline(source))
    for line in lines_of(text):
        reader.take(line)
    return reader.end()


class _Reader:
    """Takes one line at a time; remembers what is open: a phase, a task, a field, a code fence, a comment."""

    def __init__(self, out: Outline) -> None:
        self.out = out
        self.phase: PhaseDraft | None = None
        self.task: TaskDraft | None = None
        self.field: FieldDraft | None = None
        self.fence: tuple[str, int] | None = None
        self.comment = 0
        self.blank = False

    def end(self) -> Outline:
        if self.fence:
            self.out.refuse(self.fence[1], "this code fence is never closed", f"a line {self.fence[0]}", self.fence[0])
        if self.comment:
            self.out.refuse(self.comment, "this comment is never closed", "-->", "-->")
        return self.out

    def take(self, line: Line) -> None:
        if self._in_block(line) or self._in_fence(line) or self._in_comment(line):
            return
        if not line.body:
            self.blank = True
            self._text(line, "")
            return
        inside = self.task is not None and line.indent > self.task.indent + 1
        opening = _FENCE.match(line.body)
        if opening:
            self.fence = (opening.group(1), line.number)
            if self.task is not None and line.indent <= self.task.indent:
                self.task = self.field = None
            self._text(line, line.text)
        elif not inside and line.indent < TAB and (heading := _HEADING.match(line.body)):
            self._heading(line, len(heading.group(1)), heading.group(2))
        elif (box := _TASK.match(line.body)) and not box.group(1).strip().isdigit():
            self._box(line, box, inside)
        elif not self._field(line):
            self._other(line, inside)
        self.blank = False

    def _in_block(self, line: Line) -> bool:
        open_block = self.field if self.field and self.field.block else None
        if open_block is None or (line.body and line.indent <= open_block.indent):
            return False
        open_block.items.append(Item(line.text, line.number))
        return True

    def _in_fence(self, line: Line) -> bool:
        if self.fence is None:
            return False
        mark = self.fence[0]
        closing = set(line.body) == {mark[0]} and len(line.body) >= len(mark)
        if closing:
            self.fence = None
        self._text(line, line.text, fenced=not closing)
        return True

    def _in_comment(self, line: Line) -> bool:
        if self.comment:
            if "-->" in line.text:
                self.comment = 0
            return True
        if not line.body.startswith("<!--"):
            return False
        if "-->" not in line.body:
            self.comment = line.number
            return True
        return line.body.endswith("-->")

    def _heading(self, line: Line, level: int, words: str) -> None:
        phase = _PHASE.match(words)
        if phase is None and level > 2:
            self.task = self.field = None
            return
        self.task = self.field = None
        if phase is None and level == 1 and not self.out.title and self.phase is None:
            self.out.title = words
            return
        scaffold = SCAFFOLD.search(words) is not None
        number, title = phase.groups() if phase else ("", words)
        if phase is None and (numbered := _NUMBERED.match(title)):
            number, title = numbered.groups()
        self._open_phase(PhaseDraft(line.number, number, title, scaffold, phase is not None))

    def _open_phase(self, phase: PhaseDraft) -> PhaseDraft:
        self.phase = phase
        self.out.phases.append(phase)
        return phase

    def _box(self, line: Line, box: re.Match[str], inside: bool) -> None:
        rest, mark = box.group(2) or "", box.group(1).strip()
        if self.task is not None and inside:
            if self.field is None or self.field.name == "description":
                self._nested(line, rest)
            else:
                # Brackets that are no box before words are part of the item: reading must lose nothing of a command.
                self._item(line, rest if rest and mark in MARKS else line.body[box.start(1) - 1 :], bullet=True)
            return
        if mark not in MARKS:
            self.out.refuse(
                line.number,
                f"unknown mark [{mark}]",
                "[ ] open, [x] done, [-] skipped, [~] in progress or [!] blocked",
                f"- [ ] {rest}",
            )
        start = line.start + line.lead + box.start(1)
        self.task = TaskDraft(
            line.number, line.indent, (start, start + len(box.group(1))), MARKS.get(mark, "open"), rest.strip()
        )
        self.field = None
        (self.phase or self._open_phase(PhaseDraft(line.number))).tasks.append(self.task)

    def _nested(self, line: Line, rest: str) -> None:
        """A checkbox below a task is a step of its description; with an id it was meant as a task."""
        if re.match(r"(?:\*\*|__|`)?T?\d+(?:\.\d+)+\b", rest):
            self.out.refuse(line.number, "a task below another task", "every task at the margin", f"- [ ] {rest}")
            return
        self._text(line, line.text)

    def _field(self, line: Line) -> bool:
        """A field of the open task. Unindented ones count too: a lost `scope:` would open the whole repository."""
        match = _FIELD.match(line.body)
        if self.task is None or match is None:
            return False
        bullet = line.body[0] in "-*+"
        if self.field and self.field.name in LISTS and bullet and line.indent > self.field.indent:
            return False
        word = re.sub(r"[ _-]+", " ", match.group(1)).lower().strip()
        name = FIELDS.get(word)
        if name is None:
            near = difflib.get_close_matches(word, FIELDS, 1, 0.8)
            if near and line.indent > self.task.indent:
                self.out.refuse(
                    line.number, f"unknown field {word}:", f"{near[0]}:", f"{near[0]}: {match.group(2) or ''}".rstrip()
                )
                return True
            return False
        value = (match.group(2) or "").strip()
        self.field = FieldDraft(
            name, line.number, line.indent, block=name == "description" and value in ("|", "|-", ">")
        )
        if value and not self.field.block:
            self.field.items.append(Item(value, line.number, bullet=True))
        self.task.fields.append(self.field)
        return True

    def _other(self, line: Line, inside: bool) -> None:
        """Neither heading, task nor field: a list item, a continuation, or prose."""
        bullet = _BULLET.match(line.body)
        listed = self.field is not None and self.field.name in LISTS
        if self.task is not None and (inside or line.indent > self.task.indent):
            if listed and self.field is not None:
                if bullet or line.indent > self.field.indent:
                    self._item(line, bullet.group(1) if bullet else line.body, bullet is not None)
                    return
                self.field = None
            self._text(line, line.text)
            return
        if self.task is not None and listed and bullet and not self.blank and not _BARE_TASK.match(line.body):
            self._item(line, bullet.group(1), bullet=True)
            return
        if _BARE_TASK.match(line.body) and self.phase and (self.phase.named or self.phase.tasks):
            words = line.body.split(None, 1)[1]
            self.out.refuse(line.number, "a task without its checkbox", "- [ ] and the title", f"- [ ] {words}")
        self.task = self.field = None
        if not self.phase:
            self._header(line)

    def _header(self, line: Line) -> None:
        meta = _META.match(line.body)
        if meta is None:
            self.out.summary.append(line.text)
            return
        start = line.start + line.lead
        found = Meta(meta.group(2), line.number, (start + meta.start(2), start + meta.end(2)))
        if meta.group(1).lower() == "topic":
            self.out.topic = self.out.topic or found
        else:
            self.out.status = self.out.status or found

    def _item(self, line: Line, words: str, bullet: bool, fenced: bool = False) -> None:
        """A criterion may go on in the next line; of globs, ids and commands a loose line is too easily a sentence."""
        if self.field is None:
            return
        items, name = self.field.items, self.field.name
        loose = not bullet and items and items[-1].bullet
        if loose and name == "accept":
            items[-1].text += " " + words
        elif loose and not fenced:
            self.out.refuse(line.number, f"a loose line below {name}:", f"a list item of {name}:", f"- {words}")
        else:
            items.append(Item(words, line.number, bullet))

    def _text(self, line: Line, words: str, fenced: bool = False) -> None:
        """A line of description, or of whatever stands around the tasks."""
        if self.task is None:
            if self.phase is None:
                self.out.summary.append(words)
            return
        if self.field is not None and self.field.name in LISTS:
            if fenced and words.strip():
                self._item(line, words.strip(), bullet=False, fenced=True)
            return
        if self.field is None or self.field.name != "description":
            if not words:
                return
            self.field = FieldDraft("description", line.number, line.indent)
            self.task.fields.append(self.field)
        self.field.items.append(Item(words, line.number))
