"""From a structured answer to the core's values. Extra keys are ignored; what does not validate is None, never a guess.

A reviewer can only lower a verdict: approval needs every criterion of the task answered and met, and nothing critical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from engine.core.clean import clean, clean_line
from engine.core.model import Criterion, Diagnosis, Issue, PhaseSpec, Plan, Review, Struct, TaskSpec
from engine.core.planning_state import PlanIssue, PlanQuestion
from engine.core.sprint_review_state import TaskCriterion, TaskIssue

MOST_QUESTIONS = 5
MOST_LATER = 12

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


class DecisionTaken(Struct, frozen=True, kw_only=True):
    """A decision, why, and what else was thought of."""

    decision: str
    why: str = ""
    alternatives: tuple[str, ...] = ()


class SprintVerdict(Struct, frozen=True, kw_only=True):
    """What the final reviewer says of the whole sprint."""

    approved: bool
    criteria: tuple[TaskCriterion, ...] = ()
    issues: tuple[TaskIssue, ...] = ()
    summary: str = ""


class _SprintCriterion(Struct, frozen=True, kw_only=True):
    task: str
    text: str
    met: bool
    reference: str = ""


class _SprintIssue(Struct, frozen=True, kw_only=True):
    text: str
    task: str = ""
    fix: str = ""
    alternative: str = ""
    confidence: str = ""
    path: str = ""
    line: int = 0

    def issue(self) -> Issue:
        return Issue(
            text=self.text,
            fix=self.fix,
            alternative=self.alternative,
            confidence=self.confidence,
            path=self.path,
            line=self.line,
        )


class _SprintForm(Struct, frozen=True, kw_only=True):
    approved: bool
    criteria: tuple[_SprintCriterion, ...] = ()
    issues: tuple[_SprintIssue, ...] = ()
    summary: str = ""


class PlanReview(Struct, frozen=True, kw_only=True):
    approved: bool
    issues: tuple[PlanIssue, ...] = ()
    summary: str = ""


class PlanDraft(Struct, frozen=True, kw_only=True):
    """What the planner gives: a plan, or questions that must be answered first."""

    status: str
    questions: tuple[PlanQuestion, ...] = ()
    plan: Plan | None = None
    decisions: tuple[DecisionTaken, ...] = ()
    later: tuple[str, ...] = ()


class PrdDraft(Struct, frozen=True, kw_only=True):
    """The requirements, or questions that must be answered first."""

    document: str = ""
    questions: tuple[PlanQuestion, ...] = ()
    decisions: tuple[DecisionTaken, ...] = ()


class _DraftForm(Struct, frozen=True, kw_only=True):
    status: str
    title: str = ""
    topic: str = ""
    summary: str = ""
    questions: tuple[PlanQuestion | str, ...] = ()
    phases: tuple[PhaseSpec, ...] = ()
    decisions: tuple[DecisionTaken | str, ...] = ()
    later: tuple[str, ...] = ()


class _PrdForm(Struct, frozen=True, kw_only=True):
    status: str
    document: str = ""
    questions: tuple[PlanQuestion | str, ...] = ()
    decisions: tuple[DecisionTaken | str, ...] = ()


def _read(answer: Answer, into: type[_T]) -> _T | None:
    if answer is None:
        return None
    try:
        return msgspec.convert(answer, into, strict=True)
    except (msgspec.ValidationError, RecursionError):
        return None


class _BatchForm(Struct, frozen=True, kw_only=True):
    reviews: tuple[dict[str, Any], ...]


def parse_batch_review(answer: Answer, accept: Mapping[str, tuple[str, ...]]) -> dict[str, Review]:
    """The valid reviews of a batch by task; one that is missing, double or broken is not there."""
    form = _read(answer, _BatchForm)
    if form is None:
        return {}
    found: dict[str, Review] = {}
    named = [str(one.get("task", "")) for one in form.reviews]
    for name, one in zip(named, form.reviews, strict=True):
        if name not in accept or named.count(name) > 1:
            continue
        review = parse_review({key: value for key, value in one.items() if key != "task"}, accept[name])
        if review is not None:
            found[name] = review
    return found


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


def parse_sprint_review(answer: Answer, wanted: Sequence[tuple[str, str]]) -> SprintVerdict | None:
    """The final review, with every (task, criterion) that was asked for; None where one of them has no answer."""
    found = _read(answer, _SprintForm)
    if found is None:
        return None
    by_words = {(one.task.strip(), _plain(one.text)): one for one in found.criteria}
    criteria: list[TaskCriterion] = []
    for task in dict.fromkeys(name for name, _ in wanted):
        texts = [text for name, text in wanted if name == task]
        given = [one for one in found.criteria if one.task.strip() == task]
        for place, text in enumerate(texts):
            one = by_words.get((task, _plain(text)))
            if one is None and len(given) == len(texts) and _plain(given[place].text) not in map(_plain, texts):
                one = given[place]
            if one is None:
                return None
            criteria.append(
                TaskCriterion(task=task, criterion=Criterion(text=text, met=one.met, reference=one.reference))
            )
    met = all(one.criterion.met for one in criteria)
    issues = tuple(TaskIssue(task=one.task.strip().removeprefix("T"), issue=one.issue()) for one in found.issues)
    if not found.approved and met and not issues:
        issues = (TaskIssue(issue=Issue(text=found.summary or "The reviewer did not approve and named no issue.")),)
    return SprintVerdict(
        approved=found.approved and met, criteria=tuple(criteria), issues=issues, summary=_one(found.summary)
    )


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
    decisions = _decisions(form.decisions)
    if form.status == "NEEDS_CLARIFICATION" and (questions := _questions(form.questions)):
        return PlanDraft(status=form.status, questions=questions, decisions=decisions)
    tasks: list[TaskSpec] = [task for phase in form.phases for task in phase.tasks]
    ids = [task.id for task in tasks]
    if form.status != "READY" or not tasks or len(set(ids)) != len(ids) or not form.title.strip():
        return None
    phases = tuple(_tidy_phase(phase, number) for number, phase in enumerate(form.phases, 1) if phase.tasks)
    plan = Plan(title=_one(form.title), phases=phases, topic=_word(form.topic), summary=clean(form.summary).strip())
    later = tuple(request.strip() for request in form.later[:MOST_LATER] if request.strip())
    return PlanDraft(status=form.status, plan=plan, decisions=decisions, later=later)


def parse_prd(answer: Answer) -> PrdDraft | None:
    """A document, or questions; anything else is None."""
    form = _read(answer, _PrdForm)
    if form is None:
        return None
    decisions = _decisions(form.decisions)
    if form.status == "NEEDS_CLARIFICATION" and (questions := _questions(form.questions)):
        return PrdDraft(questions=questions, decisions=decisions)
    document = clean(form.document).strip()
    return PrdDraft(document=document, decisions=decisions) if form.status == "READY" and document else None


def _questions(given: tuple[PlanQuestion | str, ...]) -> tuple[PlanQuestion, ...]:
    """One line each, none twice, a bounded number."""
    found: dict[str, PlanQuestion] = {}
    for one in given:
        question = PlanQuestion(text=one) if isinstance(one, str) else one
        if text := _one(question.text):
            found.setdefault(text, PlanQuestion(text=text, assumption=_one(question.assumption)))
    return tuple(found.values())[:MOST_QUESTIONS]


def _decisions(given: tuple[DecisionTaken | str, ...]) -> tuple[DecisionTaken, ...]:
    known = (DecisionTaken(decision=one) if isinstance(one, str) else one for one in given)
    return tuple(one for one in known if one.decision.strip())


def _tidy_phase(phase: PhaseSpec, number: int) -> PhaseSpec:
    """What plan.md can carry: one-line titles and criteria, a phase number where the planner gave none."""
    tasks = tuple(
        msgspec.structs.replace(
            task,
            title=_one(task.title),
            description="\n".join(line.rstrip() for line in clean(task.description).strip().splitlines()),
            accept=_each(task.accept),
            verify=_each(task.verify),
            scope=_each(task.scope),
            allow=_each(task.allow),
            done=False,
            skipped=False,
        )
        for task in phase.tasks
    )
    return msgspec.structs.replace(phase, id=_word(phase.id) or str(number), title=_one(phase.title), tasks=tasks)


def _each(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for one in given if (line := _one(one))))


def _one(text: str) -> str:
    return clean_line(" ".join(clean(text).split()))


def _word(text: str) -> str:
    return _one(text).replace(" ", "-")[:40]


def parse_plan_review(answer: Answer) -> PlanReview | None:
    """Approved only when the reviewer says so and objects to nothing."""
    found = _read(answer, PlanReview)
    return None if found is None else msgspec.structs.replace(found, approved=found.approved and not found.issues)
