"""The pieces of a plan.md with their places, before anything is given a meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

from engine.plans.plan_format import PlanError

Span = tuple[int, int]
"""Offsets in the text."""

TAB = 4

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Item(Struct):
    """A piece of a field's value, with its place."""

    text: str
    line: int
    bullet: bool = False


class FieldDraft(Struct):
    name: str
    line: int
    indent: int
    items: list[Item] = field(default_factory=list)
    block: bool = False
    """`description: |`: what is indented deeper is text, whatever it looks like."""


class TaskDraft(Struct):
    line: int
    indent: int
    box: Span
    """The inside of the brackets."""
    status: str
    rest: str
    fields: list[FieldDraft] = field(default_factory=list)


class PhaseDraft(Struct):
    line: int
    number: str = ""
    title: str = ""
    scaffold: bool = False
    named: bool = False
    """Its heading says "Phase": it must have tasks. Other headings without tasks are prose."""
    tasks: list[TaskDraft] = field(default_factory=list)


class Meta(Struct):
    """A `Status:` or `Topic:` line."""

    value: str
    line: int
    span: Span


class Outline(Struct):
    source: str
    title: str = ""
    status: Meta | None = None
    topic: Meta | None = None
    summary: list[str] = field(default_factory=list)
    phases: list[PhaseDraft] = field(default_factory=list)
    errors: list[PlanError] = field(default_factory=list)

    def refuse(self, line: int, what: str, expected: str = "", fix: str = "") -> None:
        self.errors.append(PlanError(source=self.source, line=line, what=what, expected=expected, fix=fix))


class Line(Struct):
    number: int
    start: int
    text: str

    @property
    def body(self) -> str:
        return self.text.strip(" \t")

    @property
    def lead(self) -> int:
        """Characters before the first that is not blank."""
        return len(self.text) - len(self.text.lstrip(" \t"))

    @property
    def indent(self) -> int:
        return len(self.text[: self.lead].expandtabs(TAB))


def lines_of(text: str) -> Iterator[Line]:
    """Lines by CR, LF or CRLF only: Python's splitlines also cuts at characters that may stand in a sentence."""
    start = 1 if text.startswith("\ufeff") else 0
    number = 0
    while start < len(text):
        match = _LINE.match(text, start)
        if match is None:  # pragma: no cover - the pattern matches everywhere
            return
        number += 1
        yield Line(number, start, match.group(1))
        start = match.end()
