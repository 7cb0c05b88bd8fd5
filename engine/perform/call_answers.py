"""What an agent's answer comes to: the facts a role was asked for, and what it learnt."""

from __future__ import annotations

from typing import assert_never

from engine.core import events as ev
from engine.core.effects import CallAgent
from engine.core.model import AgentResult, Role
from engine.core.sprint_review_state import SPRINT_LANE
from engine.core.state import State
from engine.perform import planning_calls, sprint_review_calls
from engine.prompts import parse_batch_review, parse_councillor, parse_diagnosis, parse_review, parse_scope
from engine.prompts.decisions import contradictions_in, decisions_in


def learnt_of(effect: CallAgent, state: State, result: AgentResult) -> list[ev.AnyEvent]:
    """What an agent decided, and which learnings it contradicts, in its own words."""
    task = state.tasks.get(effect.task)
    files: list[str] = []
    if task is not None:
        files = [*(one.path for one in task.changes), *(one for one in task.spec.scope if "*" not in one)]
    learnt: list[ev.AnyEvent] = [
        ev.LearningRecorded(
            task=effect.task,
            text=one.decision,
            why=one.why,
            alternatives=one.alternatives,
            role=effect.role,
            files=tuple(dict.fromkeys(files)),
        )
        for one in decisions_in(result.text)
    ]
    learnt += [
        ev.LearningDisputed(name=one.name, why=one.why, task=effect.task, role=effect.role)
        for one in contradictions_in(result.text)
    ]
    return learnt


def answers_of(effect: CallAgent, state: State, result: AgentResult) -> list[ev.AnyEvent]:
    """The facts a good answer comes to; none where it is not what was asked for."""
    if effect.lane == SPRINT_LANE:
        return list(sprint_review_calls.answer(effect, state, result))
    if not effect.task:
        return list(planning_calls.answer(effect, state, result))
    if effect.trees:
        accept = {name: state.tasks[name].spec.accept for name in effect.trees}
        reviews = parse_batch_review(result.structured, accept)
        return [
            ev.ReviewFinished(id=effect.id, task=name, tree=effect.trees[name], review=review)
            for name, review in reviews.items()
        ]
    answer = _answer(effect, state, result)
    return [] if answer is None else [answer]


def _answer(effect: CallAgent, state: State, result: AgentResult) -> ev.AnyEvent | None:
    task = state.tasks[effect.task]
    match effect.role:
        case Role.REVIEWER:
            review = parse_review(result.structured, task.spec.accept)
            if review is None:
                return None
            return ev.ReviewFinished(id=effect.id, task=effect.task, tree=effect.tree, review=review)
        case Role.SCOPE_JUDGE:
            judged = parse_scope(result.structured)
            if judged is None:
                return None
            return ev.ScopeJudged(id=effect.id, task=effect.task, in_scope=judged.in_scope, reason=judged.reason)
        case Role.COUNCILLOR:
            diagnosis = parse_councillor(result.structured)
            said = diagnosis.text() if diagnosis is not None else result.text.strip()
            return ev.DiagnosisGiven(id=effect.id, task=effect.task, seat=effect.seat, text=said) if said else None
        case Role.SYNTHESIST:
            synthesis = parse_diagnosis(result.structured)
            if synthesis is None:
                return None
            return ev.CouncilFinished(id=effect.id, task=effect.task, diagnosis=synthesis)
        case Role.ANSWERER:
            return ev.GateReplied(gate=effect.gate, id=effect.id, answer=result.text.strip() or "(no answer)")
        case (
            Role.IMPLEMENTER
            | Role.PLANNER
            | Role.PLAN_REVIEWER
            | Role.GATHERER
            | Role.PRD_WRITER
            | Role.SPRINT_REVIEWER
        ):
            return None
        case _:
            assert_never(effect.role)
