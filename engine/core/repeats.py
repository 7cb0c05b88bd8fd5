"""A tree that was judged already is not judged again: the checks and the review would only say the same once more."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.model import ProofVerdict, Verdict
from engine.core.state import TaskState
from engine.core.task_state import Judgement
from engine.core.verdict import changes_wanted, of_checks

KEPT = 3
"""Judgements kept per task: enough to see A → B → A, and small."""


def remembered(task: TaskState) -> tuple[Judgement, ...]:
    """What is known of the task's failed trees, with the present one where its verdict was about the tree itself."""
    if task.repeats or not _about_the_tree(task):
        return task.judged
    return with_present(task)


def with_present(task: TaskState) -> tuple[Judgement, ...]:
    """What is known, and what was measured of the present tree."""
    mine = Judgement(
        iteration=task.iteration,
        tree=task.tree,
        checks=task.checks,
        findings=task.findings,
        evidence=task.evidence,
        proof=task.proof,
        proof_reason=task.proof_reason,
        proofs=task.proofs,
        questions=task.questions,
        review=task.review,
    )
    return (*task.judged, mine)[-KEPT:]


def known(task: TaskState) -> TaskState | None:
    """The task as it was judged when it had this tree before; None where it never had."""
    past = next((one for one in reversed(task.judged) if one.tree == task.tree), None)
    if past is None:
        return None
    return replace(
        task,
        repeats=past.iteration,
        checks=past.checks,
        findings=past.findings,
        evidence=past.evidence,
        proof=past.proof,
        proof_reason=past.proof_reason,
        proofs=past.proofs,
        questions=past.questions,
        review=past.review,
    )


def _about_the_tree(task: TaskState) -> bool:
    """A check that could not be run, and what is only a human's to say, may come out otherwise the next time."""
    if task.error or task.scope_verdict is not Verdict.PASS or not task.checks:
        return False
    verdict, _ = of_checks(task.checks, task.findings, asked=True)
    if verdict is Verdict.FAIL:
        return True
    return verdict is Verdict.PASS and (changes_wanted(task) or task.proof is ProofVerdict.UNPROVEN)
