"""What every plan format offers, and how a plan is refused: all errors at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Protocol, runtime_checkable

from engine.core.model import Plan, Struct

PLAN_STATUSES = ("DRAFT", "APPROVED", "IN_PROGRESS", "COMPLETE")
TASK_STATUSES = ("open", "in_progress", "done", "skipped", "blocked")


class PlanError(Struct, frozen=True):
    """One thing wrong with a plan: where, what, what was expected, and what to type."""

    source: str
    line: int
    """From 1; 0 means the file as a whole."""
    what: str
    expected: str = ""
    fix: str = ""
    """What to type."""

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{place}: {self.what}{expected}" + (f"\n    type: {self.fix}" if self.fix else "")


class PlanRefused(Exception):  # noqa: N818 - PlanError is one error, this is the refusal with all of them
    """A plan that cannot be worked on; `errors` is never empty."""

    def __init__(self, errors: Iterable[PlanError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


Place = tuple[int, int, str]
"""Start and end of a task's mark in the text, and the status it gets."""


@runtime_checkable
class PlanFormat(Protocol):
    """One way to write a plan. Growth is another file with this contract, listed in registry.py."""

    @property
    def name(self) -> str: ...

    def matches(self, path: PurePath, text: str) -> bool:
        """Whether the file is of this format; `path` may be a bare name and need not exist."""
        ...

    def read(self, text: str, source: str) -> Plan:
        """The plan, or PlanRefused with every error. The same text always gives the same ids."""
        ...

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        """The text with these tasks' statuses (id → one of TASK_STATUSES) changed in place and nothing else.

        Works on a text that `read` refuses, as long as each task is found once; PlanRefused where one is not.
        """
        ...

    def mark_plan(self, text: str, status: str) -> str:
        """The text with the plan's own status (one of PLAN_STATUSES) changed; unchanged where it states none."""
        ...


def places_to_mark(marks: Mapping[str, str], found: Iterable[tuple[str, int, int]], source: str) -> list[Place]:
    """Where each task to be marked stands in the text and what it is marked as, from the back of the text.

    `found`: id, start and end of every task's mark. PlanRefused where a task is not there exactly once.
    """
    if unknown := set(marks.values()) - set(TASK_STATUSES):
        raise ValueError(f"unknown task status {', '.join(sorted(unknown))}; one of {', '.join(TASK_STATUSES)}")
    places: dict[str, list[tuple[int, int]]] = {task_id: [] for task_id in marks}
    for task_id, start, end in found:
        if task_id in places:
            places[task_id].append((start, end))
    errors = [
        PlanError(
            source=source,
            line=0,
            what=f"task id {task_id} is there {len(spans)} times" if spans else f"no task {task_id}",
            expected=f"one task {task_id}",
        )
        for task_id, spans in places.items()
        if len(spans) != 1
    ]
    if errors:
        raise PlanRefused(errors)
    return sorted(((*spans[0], marks[task_id]) for task_id, spans in places.items()), reverse=True)
