"""From a structured answer to the core's values. Extra keys are ignored; what does not validate is None, never a guess.

A reviewer can only lower a verdict: approval needs every criterion of the task answered and met, and nothing critical.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from engine.core.model import Criterion, Diagnosis, Issue, PhaseSpec, Plan, Review, Struct, TaskSpec

Answer = dict[str, Any] | None
_T = TypeVar("_T")


class PathJudgement(Struct, frozen=True, kw_only=True):
    path: str
    in_scope: bool
    reason: str = ""


class ScopeJudgement(Struct, frozen=True, kw_only=True):
    in_scope: bool
    paths: tuple[PathJudgement, ...] = ()
    reason: str = ""


class CouncillorDiagnosis(Struct, frozen=True, kw_only=True):
    root_cause: str
    recommended_fix: str
    evidence: tuple[str, ...] = ()
    confidence: str = ""

    def text(self) -> str:
        """For the journal and for the synthesist."""
        shown = "".join(f"\n- {item}" for item in self.evidence)
        return (
            f"ROOT CAUSE: {self.root_cause}\nEVIDENCE:{shown or ' none'}\n"
            f"FIX: {self.recommended_fix}\nCONFIDENCE: {self.confidence or 'not said'}"
        )


class PlanIssue(Struct, frozen=True, kw_only=True):
    text: str
    task: str = ""
    fix: str = ""


class PlanReview(Struct, frozen=True, kw_only=True):
    approved: bool
    issues: tuple[PlanIssue, ...] = ()
    summary: str = ""


class PlanDraft(Struct, frozen=True, kw_only=True):
    """What the planner gives: a plan, or questions that must be answered first."""

    status: str
    questions: tuple[str, ...] = ()
    plan: Plan | None = None
    decisions: tuple[str, ...] = ()


class _DraftForm(Struct, frozen=True, kw_only=True):
    status: str
    title: str = ""
    topic: str = ""
    summary: str = ""
    questions: tuple[str, ...] = ()
    phases: tuple[PhaseSpec, ...] = ()
    decisions: tuple[str, ...] = ()


def _read(answer: Answer, into: type[_T]) -> _T | None:
    if answer is None:
        return None
    try:
        return msgspec.convert(answer, into, strict=True)
    except (msgspec.ValidationError, RecursionError):
        return None


def parse_review(answer: Answer, accept: tuple[str, ...] = ()) -> Review | None:
    """The review, with every criterion of the task in the task's own words; an unanswered one is unmet."""
    found = _read(answer, Review)
    if found is None:
        return None
    criteria = _answered(found.criteria, accept)
    approved = found.approved and all(c.met for c in criteria) and not any(i.critical for i in found.issues)
    issues = found.issues
    if not approved and not issues and all(c.met for c in criteria):
        issues = (Issue(text=found.summary or "The reviewer did not approve and named no issue."),)
    return msgspec.structs.replace(found, approved=approved, criteria=criteria, issues=issues)


def _answered(given: tuple[Criterion, ...], accept: tuple[str, ...]) -> tuple[Criterion, ...]:
    """By the words where they are the same, else by position where the count agrees."""
    if not accept:
        return given
    by_words = {_plain(criterion.text): criterion for criterion in given}
    out: list[Criterion] = []
    for index, text in enumerate(accept):
        answer = by_words.get(_plain(text))
        if answer is None and len(given) == len(accept) and _plain(given[index].text) not in map(_plain, accept):
            answer = given[index]
        met = answer is not None and answer.met
        reference = answer.reference if answer is not None else "not answered by the reviewer"
        out.append(Criterion(text=text, met=met, reference=reference))
    return tuple(out)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(".;:- ")


def parse_scope(answer: Answer) -> ScopeJudgement | None:
    """In scope only when the judge says so of the whole and of every path."""
    found = _read(answer, ScopeJudgement)
    if found is None:
        return None
    return msgspec.structs.replace(found, in_scope=found.in_scope and all(path.in_scope for path in found.paths))


def parse_councillor(answer: Answer) -> CouncillorDiagnosis | None:
    return _read(answer, CouncillorDiagnosis)


def parse_diagnosis(answer: Answer) -> Diagnosis | None:
    """The council's conclusion; one without a cause or a fix is none."""
    found = _read(answer, Diagnosis)
    return found if found and found.root_cause.strip() and found.recommended_fix.strip() else None


def parse_plan(answer: Answer) -> PlanDraft | None:
    """A plan with at least one task, or questions; anything else is None."""
    form = _read(answer, _DraftForm)
    if form is None:
        return None
    if form.status == "NEEDS_CLARIFICATION" and form.questions:
        return PlanDraft(status=form.status, questions=form.questions, decisions=form.decisions)
    tasks: list[TaskSpec] = [task for phase in form.phases for task in phase.tasks]
    ids = [task.id for task in tasks]
    if form.status != "READY" or not tasks or len(set(ids)) != len(ids) or not form.title.strip():
        return None
    plan = Plan(title=form.title, phases=form.phases, topic=form.topic, summary=form.summary)
    return PlanDraft(status=form.status, plan=plan, decisions=form.decisions)


def parse_plan_review(answer: Answer) -> PlanReview | None:
    """Approved only when the reviewer says so and objects to nothing."""
    found = _read(answer, PlanReview)
    return None if found is None else msgspec.structs.replace(found, approved=found.approved and not found.issues)
