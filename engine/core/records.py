"""What an iteration leaves behind, from the task's measured facts."""

from __future__ import annotations

from collections import Counter
from typing import Literal, assert_never

from engine.core.model import CheckKind, Decision, Verdict
from engine.core.state import TaskState
from engine.core.task_state import Record
from engine.core.verdict import changes_wanted, counts, failing_set, of_checks, proven
from engine.core.vocabulary import ChangeKind


def record_of(task: TaskState, decision: Decision | None, reason: str, now: float, *, asked: bool = False) -> Record:
    """The record of the present iteration."""
    passing, total = counts(task.checks)
    verdict, why = of_checks(task.checks, task.findings, asked=asked)
    kinds = Counter(_kind(change.change) for change in task.changes)
    build = [result for result in task.checks if result.kind is CheckKind.BUILD]
    coverages = [result.coverage for result in task.checks if result.coverage is not None]
    return Record(
        iteration=task.iteration,
        rung=task.rung,
        tree=task.tree,
        files=tuple(sorted({change.path for change in task.attempt_changes})),
        green=bool(task.checks) and verdict is Verdict.PASS and not changes_wanted(task) and proven(task),
        passing=passing,
        total=total,
        failing=failing_set(task),
        error=_error(task, verdict, why),
        changed=bool(task.attempt_changes),
        added=sum(change.added for change in task.changes),
        removed=sum(change.removed for change in task.changes),
        created=kinds["created"],
        modified=kinds["modified"],
        deleted=kinds["deleted"],
        coverage=coverages[0] if coverages else None,
        built=any(result.verdict in (Verdict.PASS, Verdict.FAIL) for result in build),
        build_errors=sum(result.errors for result in build),
        build_warnings=sum(result.warnings for result in build),
        new_tests=sum(result.counts.new for result in task.checks if result.counts is not None),
        at=now,
        decision=decision,
        reason=reason,
        repeats=task.repeats,
    )


def _error(task: TaskState, verdict: Verdict, why: str) -> str:
    if task.error:
        return task.error
    if task.scope_verdict is not Verdict.PASS:
        return f"scope: {', '.join(task.reverted) or task.scope_verdict or 'not checked'}"
    if verdict is not Verdict.PASS:
        return why
    if not proven(task):
        return f"{task.proof}: {task.proof_reason}"
    if task.review is not None and changes_wanted(task):
        issues = [issue.text for issue in task.review.issues]
        return (
            f"review: {(issues or [one.text for one in task.review.criteria if not one.met] or ['no issue named'])[0]}"
        )
    return ""


def _kind(change: ChangeKind) -> Literal["created", "modified", "deleted"]:
    match change:
        case "added":
            return "created"
        case "modified" | "type":
            return "modified"
        case "deleted":
            return "deleted"
        case _:
            assert_never(change)
