"""What the agents of planning are told, and what their answers come to. They belong to no task and only read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.core import events as ev
from engine.core.effects import CallAgent
from engine.core.model import AgentResult, Role, TaskSpec
from engine.core.planning import NOBODY
from engine.core.planning_state import Goal, Planning
from engine.core.state import State
from engine.perform.briefing import Brief
from engine.plans.write import render as render_plan
from engine.prompts import parse_plan, parse_plan_review, parse_prd
from engine.prompts.answers import DecisionTaken
from engine.prompts.fields import (
    AnswererFields,
    Fields,
    GathererFields,
    Note,
    PlannerFields,
    PlanReviewerFields,
    PrdWriterFields,
)


def fields(effect: CallAgent, state: State, brief: Brief, learnings: tuple[str, ...]) -> Fields:
    """The fields of a planning role's template; long texts become files beside the prompt."""
    planning = state.planning
    if planning is None:
        raise ValueError("a planning call without a planning conversation")
    files = _context(planning, brief)
    plan = render_plan(planning.plan) if planning.plan is not None else ""
    match effect.role:
        case Role.GATHERER:
            return GathererFields(request=planning.request, context_files=files, learnings=learnings)
        case Role.PRD_WRITER:
            return PrdWriterFields(
                request=planning.request,
                context_files=files,
                learnings=learnings,
                answers=_answers(planning),
                previous=planning.prd,
                comments=planning.comments,
                asked=planning.asked,
            )
        case Role.PLAN_REVIEWER:
            return PlanReviewerFields(request=_request(planning), plan=plan, context_files=files)
        case Role.ANSWERER:
            gate = state.gates.get(effect.gate)
            about = TaskSpec(id="plan", title="the plan under discussion", description=plan or planning.prd)
            context = files[0] if files else ""
            title = gate.title if gate else ""
            return AnswererFields(question=effect.question, task=about, gate=title, context_file=context)
        case Role.PLANNER:
            before = planning.plan
            if before is None and planning.goal is Goal.REPLAN:
                before = state.plan
            return PlannerFields(
                request=_request(planning),
                context_files=files,
                learnings=learnings,
                answers=_answers(planning),
                previous=render_plan(before) if before is not None else "",
                issues=tuple(issue.words() for issue in planning.issues),
                comments=planning.comments,
                asked=planning.asked,
                replan=planning.task if planning.goal is Goal.REPLAN else "",
                history=_tried(state, planning.task),
            )
        case (
            Role.IMPLEMENTER
            | Role.SCOPE_JUDGE
            | Role.REVIEWER
            | Role.SPRINT_REVIEWER
            | Role.COUNCILLOR
            | Role.SYNTHESIST
        ):
            raise ValueError(f"{effect.role.value} is no role of a planning conversation")
        case _:
            assert_never(effect.role)


def _request(planning: Planning) -> str:
    if planning.prd and planning.prd != planning.request:
        return f"{planning.request}\n\nThe requirements (PRD) the user approved:\n\n{planning.prd}"
    return planning.request


def _context(planning: Planning, brief: Brief) -> tuple[str, ...]:
    files = []
    if planning.facts:
        files.append(brief.write("facts.md", planning.facts))
    if planning.context:
        files.append(brief.write("context.md", planning.context))
    return tuple(files)


def _answers(planning: Planning) -> tuple[Note, ...]:
    return tuple(
        Note(origin=one.question, text=one.answer or "(nobody answered: decide, and write your assumption down)")
        for one in planning.answers
        if one.answer or one.by == NOBODY
    )


def _tried(state: State, name: str) -> tuple[Note, ...]:
    task = state.tasks.get(name)
    if task is None:
        return ()
    notes = [
        Note(
            origin=f"iteration {record.iteration}",
            text=f"changed {', '.join(record.files) or 'nothing'}; {record.error or record.reason}",
        )
        for record in task.history
    ]
    if task.reason:
        notes.append(Note(origin="its end", text=task.reason))
    if task.diagnosis is not None:
        said = f"{task.diagnosis.root_cause}\n{task.diagnosis.recommended_fix}"
        notes.append(Note(origin="the Bug Council", text=said))
    return tuple(notes)


def answer(effect: CallAgent, state: State, result: AgentResult) -> Sequence[ev.AnyEvent]:
    """The facts of a valid answer; empty where there is none."""
    planning = state.planning
    if planning is None:
        return ()
    match effect.role:
        case Role.GATHERER:
            said = result.text.strip()
            return (ev.ContextGathered(id=effect.id, text=said),) if said else ()
        case Role.PRD_WRITER:
            document = parse_prd(result.structured)
            if document is None:
                return ()
            if document.questions:
                return (ev.QuestionsAsked(id=effect.id, role=effect.role, questions=document.questions),)
            written = ev.PrdDrafted(id=effect.id, text=document.document)
            return (written, *_learnt(effect, document.decisions))
        case Role.PLANNER:
            draft = parse_plan(result.structured)
            if draft is None:
                return ()
            if draft.plan is None:
                return (ev.QuestionsAsked(id=effect.id, role=effect.role, questions=draft.questions),)
            drafted = ev.PlanDrafted(
                id=effect.id,
                plan=draft.plan,
                later=draft.later,
                decisions=tuple(one.decision for one in draft.decisions),
            )
            return (drafted, *_learnt(effect, draft.decisions))
        case Role.PLAN_REVIEWER:
            review = parse_plan_review(result.structured)
            if review is None:
                return ()
            return (
                ev.PlanReviewed(
                    id=effect.id,
                    version=effect.iteration,
                    approved=review.approved,
                    issues=review.issues,
                    summary=review.summary,
                ),
            )
        case Role.ANSWERER:
            return (ev.GateReplied(gate=effect.gate, id=effect.id, answer=result.text.strip() or "(no answer)"),)
        case (
            Role.IMPLEMENTER
            | Role.SCOPE_JUDGE
            | Role.REVIEWER
            | Role.SPRINT_REVIEWER
            | Role.COUNCILLOR
            | Role.SYNTHESIST
        ):
            return ()
        case _:
            assert_never(effect.role)


def _learnt(effect: CallAgent, decisions: Sequence[DecisionTaken]) -> list[ev.AnyEvent]:
    return [
        ev.LearningRecorded(
            task=effect.task,
            text=one.decision,
            why=one.why,
            alternatives=one.alternatives,
            role=effect.role,
        )
        for one in decisions
    ]
