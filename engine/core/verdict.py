"""Evidence → verdict. Only PASS is a pass; every doubt lands on the other side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from engine.core.model import CheckResult, Finding, ProofVerdict, Verdict
from engine.core.state import TaskState
from engine.core.vocabulary import Severity


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
    blocking = [finding for finding in findings if _blocks(finding.severity, asked)]
    if blocking:
        return Verdict.FAIL, "; ".join(finding.text for finding in blocking[:3])
    if any(result.verdict is not Verdict.PASS for result in required):
        return Verdict.ERROR, "a check gave an unknown verdict"
    return Verdict.PASS, f"{len(required)} of {len(required)} checks pass"


def _blocks(severity: Severity, asked: bool) -> bool:
    match severity:
        case "critical" | "error" | "warning":
            return True
        case "human":
            return not asked
        case "note":
            return False
        case _:
            assert_never(severity)


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
    """Findings of the present tree that somebody has to look at.

    Words that it was sent back with are the reviewer's to judge; where there is none, they are for who said them.
    """
    found = [finding for finding in task.findings if finding.severity == "human"]
    if task.objection and task.review is None:
        said = f"sent back with {task.objection!r}: nobody has judged whether it does that now"
        found.append(Finding(rule="sent-back", text=said, severity="human"))
    return found


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
    if task.tree in task.sent_back and not task.overridden:
        return Verdict.FAIL, f"nothing was changed for what you said: {task.objection}"
    if not proven(task):
        word = task.proof.value if task.proof else ""
        return Verdict.NOT_RUN, f"{word}: {task.proof_reason or 'nothing turned from red to green'}"
    if task.proof:
        reason = f"{task.proof.value}, {reason}"
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


def proven(task: TaskState) -> bool:
    """The present tree shows what it was made for, or the plan says that there is nothing to show."""
    match task.proof:
        case None | ProofVerdict.PROVEN | ProofVerdict.HARMLESS:
            return True
        case ProofVerdict.UNPROVEN | ProofVerdict.QUESTION | ProofVerdict.FAIL | ProofVerdict.ERROR:
            return False
        case _:
            assert_never(task.proof)


TRIES_TO_PROVE = 1
"""Iterations that may show nothing before a human is asked."""


def asks_permission(task: TaskState, *, last: bool) -> bool:
    """The present tree waits for a human: it needs a permission, or a part of it is not shown and was told already.

    `last`: no further iteration could show it.
    """
    match task.proof:
        case ProofVerdict.QUESTION:
            return bool(task.questions)
        case ProofVerdict.UNPROVEN:
            return bool(task.questions) and (last or task.unproven >= TRIES_TO_PROVE)
        case None | ProofVerdict.PROVEN | ProofVerdict.HARMLESS | ProofVerdict.FAIL | ProofVerdict.ERROR:
            return False
        case _:
            assert_never(task.proof)


def changes_wanted(task: TaskState) -> bool:
    """A review of the present tree stands, and it does not approve."""
    review = task.review
    if review is None or task.overridden:
        return False
    return not review.approved or any(not criterion.met for criterion in review.criteria)


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


OUT_OF_SCOPE = ("out-of-scope", "protected")
"""What was put back for where it is; everything else for what it is, and then that is said."""


def _scope_words(task: TaskState) -> str:
    if task.reverted:
        said = [one for one in task.scope_findings if one.severity == "error" and one.rule not in OUT_OF_SCOPE]
        if said:
            return f"{len(task.reverted)} path(s) put back: {said[0].text}"
        return f"{len(task.reverted)} out-of-scope path(s) put back: {', '.join(task.reverted[:3])}"
    return "not checked" if task.scope_verdict is None else task.scope_verdict.value
