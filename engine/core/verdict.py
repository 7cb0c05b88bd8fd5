"""Evidence → verdict. Only PASS is a pass; every doubt lands on the other side."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.model import CheckResult, Finding, Verdict
from engine.core.state import TaskState


def of_checks(
    results: Iterable[CheckResult], findings: Iterable[Finding] = (), *, asked: bool = False
) -> tuple[Verdict, str]:
    """The verdict over all required checks and the integrity findings, with the reason in words.

    `asked`: somebody attends, so that findings for a human do not fail here: the task gate puts them to that human.
    """
    required = [result for result in results if result.required]
    if not required:
        return Verdict.NOT_RUN, "no check was run"
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.NOT_RUN):
        bad = [result for result in required if result.verdict is verdict]
        if bad:
            return verdict, "; ".join(f"{result.name}: {result.reason or verdict.value}" for result in bad)
    harmless = ("note", "human") if asked else ("note",)
    blocking = [finding for finding in findings if finding.severity not in harmless]
    if blocking:
        return Verdict.FAIL, "; ".join(finding.text for finding in blocking[:3])
    if any(result.verdict is not Verdict.PASS for result in required):
        return Verdict.ERROR, "a check gave an unknown verdict"
    return Verdict.PASS, f"{len(required)} of {len(required)} checks pass"


def critical(task: TaskState) -> Finding | None:
    """A security-critical finding of the present iteration."""
    for finding in (*task.findings, *(found for result in task.checks for found in result.findings)):
        if finding.severity == "critical":
            return finding
    if task.review is not None:
        for issue in task.review.issues:
            if issue.critical:
                return Finding(rule="review", text=issue.text, path=issue.path, line=issue.line, severity="critical")
    return None


def for_human(task: TaskState) -> list[Finding]:
    """Findings of the present tree that somebody has to look at."""
    return [finding for finding in task.findings if finding.severity == "human"]


def of_task(task: TaskState, needs_review: bool, *, asked: bool = False) -> tuple[Verdict, str]:
    """Whether the present tree of a task is done, by evidence alone."""
    if task.error:
        return Verdict.FAIL, task.error
    if task.scope_verdict is not Verdict.PASS:
        return task.scope_verdict or Verdict.NOT_RUN, f"scope: {_scope_words(task)}"
    verdict, reason = of_checks(task.checks, task.findings, asked=asked)
    if verdict is not Verdict.PASS:
        return verdict, reason
    if found := critical(task):
        return Verdict.FAIL, f"security-critical: {found.text}"
    if not needs_review or task.overridden:
        return Verdict.PASS, reason
    review = task.review
    if review is None:
        return Verdict.NOT_RUN, "the review has not been made"
    unmet = [criterion.text for criterion in review.criteria if not criterion.met]
    if unmet:
        return Verdict.FAIL, f"{len(unmet)} of {len(review.criteria)} criteria unmet: {unmet[0]}"
    if len(review.criteria) < len(task.spec.accept):
        missing = len(task.spec.accept) - len(review.criteria)
        return Verdict.FAIL, f"the reviewer left {missing} of {len(task.spec.accept)} criteria unanswered"
    if not review.approved:
        issue = review.issues[0].text if review.issues else "no issue named"
        return Verdict.FAIL, f"review needs changes: {issue}"
    return Verdict.PASS, f"{reason}, review approved"


def counts(results: Iterable[CheckResult]) -> tuple[int, int]:
    """Tests passing and in all."""
    passed = total = 0
    for result in results:
        if result.counts is not None:
            passed += result.counts.passed
            total += result.counts.total
    return passed, total


def failing_set(task: TaskState) -> tuple[str, ...]:
    return tuple(sorted({f"{result.name}:{item}" for result in task.checks for item in result.failing}))


def _scope_words(task: TaskState) -> str:
    if task.reverted:
        return f"{len(task.reverted)} out-of-scope path(s) put back: {', '.join(task.reverted[:3])}"
    return "not checked" if task.scope_verdict is None else task.scope_verdict.value
