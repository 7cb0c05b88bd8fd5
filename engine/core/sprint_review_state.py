"""The final review of a sprint as data: what one reviewer says of the whole, against the criteria of all tasks."""

from __future__ import annotations

from engine.core.model import Criterion, Issue, Struct

SPRINT_LANE = 91
"""The clone the final reviewer reads: never a lane of the tasks."""


class TaskIssue(Struct, frozen=True, kw_only=True):
    """What is wrong, and with which task; empty: the reviewer names none."""

    issue: Issue
    task: str = ""


class TaskCriterion(Struct, frozen=True, kw_only=True):
    """One acceptance criterion of one task, judged on the whole sprint."""

    task: str
    criterion: Criterion


class SprintReview(Struct, frozen=True, kw_only=True):
    """The last final review, and what came of it."""

    head: str = ""
    """The commit that was judged; a review says nothing of any other."""
    approved: bool = False
    criteria: tuple[TaskCriterion, ...] = ()
    issues: tuple[TaskIssue, ...] = ()
    summary: str = ""
    rounds: int = 0
    """Times tasks were opened again because of it, since the human last spoke."""
    gate: str = ""
    go: bool = False
    """A human passed the review on: the tasks concerned are to be opened again."""
    comment: str = ""
    """Their own words, for those tasks."""
    overridden: str = ""
    """Who took the sprint as it is, against the review."""
    tries: int = 0
    not_before: float = 0.0
    long: bool = False
    blocker: str = ""
    """Why there is no review: the judge's fault, never a task's."""
    action: str = ""
