"""What each fact means for the planning conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.failures import Response, backoff, response_to
from engine.core.model import Health, Plan, Role
from engine.core.planning_state import Goal, PlanAnswer, PlanIssue, Planning, Stage
from engine.core.state import GateState, State, Status, TaskState
from engine.core.vocabulary import Choice, GateKind, Outcome

ROUNDS = 3
KEPT_COMMENTS = 12
Tasks = Callable[[Plan, dict[str, TaskState]], dict[str, TaskState]]


def requested(state: State, event: ev.PlanRequested) -> State:
    """A conversation begins. One that is under way is not disturbed by another.

    Approval beforehand is the word of whoever asks now: it does not outlive the call that gave it.
    """
    known = state.planning
    if known is not None and known.under_way:
        more = replace(known, given={**known.given, **event.given}, approve=event.approve)
        return replace(state, planning=more) if event.goal is known.goal else state
    replan = event.goal is Goal.REPLAN
    planning = Planning(
        request=event.request,
        goal=event.goal,
        source=event.source,
        task=event.task,
        with_prd=event.with_prd,
        approve=event.approve,
        given=event.given,
        facts=state.planning.facts if replan and state.planning else "",
        context=state.planning.context if replan and state.planning else "",
        prd=state.planning.prd if replan and state.planning else "",
        stage=Stage.DRAFT if replan else Stage.GATHER,
        started_at=state.now,
    )
    if replan:
        return replace(state, planning=planning, replanned=(*state.replanned, event.task))
    return replace(
        state,
        planning=planning,
        sprint=event.sprint,
        branch=event.branch,
        topic=event.topic,
        created_at=state.created_at or state.now,
    )


def run_started(state: State) -> State:
    """What stood in the way of the last run may be gone."""
    planning = state.planning
    if planning is None or not planning.under_way:
        return state
    planning = replace(planning, blocker="", action="", tries=0, not_before=0.0, long=False)
    if state.plan is None:
        state = replace(state, health=Health.PROGRESSING, health_reason="planning")
    return replace(state, planning=planning)


def run_ended(state: State, event: ev.RunEnded) -> State:
    """No task speaks for the sprint's health before there is a plan: a planning that came to nothing does."""
    stuck = event.outcome in (Outcome.BLOCKED, Outcome.FAILED, Outcome.ERROR, Outcome.LIMIT)
    if state.planning is None or state.plan is not None or not stuck:
        return state
    return replace(state, health=Health.BLOCKED, health_reason=f"no plan yet: {event.reason}")


def apply(state: State, event: ev.Fact, tasks_of: Tasks) -> State:
    """The facts of planning; `tasks_of` makes the tasks of an approved plan."""
    planning = state.planning
    if planning is None:
        return state
    match event:
        case ev.Surveyed():
            now = replace(planning, surveyed=state.run, facts=event.facts)
        case ev.ContextGathered():
            stage = Stage.PRD if planning.with_prd and not planning.prd else Stage.DRAFT
            now = replace(_calm(planning), context=event.text, stage=stage)
        case ev.QuestionsAsked():
            back = Stage.PRD if event.role is Role.PRD_WRITER else Stage.DRAFT
            known = {one.question for one in planning.answers}
            new = tuple(question for question in event.questions if question.text not in known)
            now = replace(_calm(planning), asked=planning.asked + 1, back=back)
            now = replace(now, questions=new, open_gates={}, stage=Stage.QUESTIONS) if new else _stubborn(now)
        case ev.QuestionAnswered():
            now = _answered(planning, event.question, event.answer, event.by)
        case ev.PrdDrafted():
            now = replace(_calm(planning), prd=event.text, version=planning.version + 1, stage=Stage.PRD_GATE, gate="")
        case ev.PlanDrafted():
            return _drafted(state, planning, event)
        case ev.PlanChecked() if event.version == planning.version:
            now = replace(planning, plan=event.plan, notes=event.notes)
            now = _objected(now, event.issues) if event.issues else replace(now, issues=(), stage=Stage.REVIEW)
        case ev.PlanReviewed() if event.version == planning.version:
            now = replace(_calm(planning), review=event.summary)
            if event.approved:
                now = replace(now, reviewed=planning.version, issues=(), stage=Stage.GATE)
            else:
                now = _objected(now, event.issues)
        case ev.PlanApproved():
            return _approved(state, planning, event, tasks_of)
        case _:
            return state
    return replace(state, planning=now)


def gate_opened(state: State, event: ev.GateOpened) -> State:
    planning = state.planning
    if planning is None:
        return state
    if event.kind is GateKind.QUESTION:
        return replace(state, planning=replace(planning, open_gates={**planning.open_gates, event.title: event.gate}))
    return replace(state, planning=replace(planning, gate=event.gate))


def gate_passed(state: State, event: ev.GatePassed) -> State:
    """The PRD was approved beforehand."""
    planning = state.planning
    if planning is None or event.kind is not GateKind.PRD:
        return state
    return replace(state, planning=replace(planning, stage=Stage.DRAFT, gate=""))


def gate_answered(state: State, gate: GateState) -> State:
    planning = state.planning
    if planning is None or not planning.under_way:
        return state
    if gate.kind is GateKind.QUESTION:
        question = next((one for one in planning.questions if one.text == gate.title), None)
        if question is None:
            return state
        if gate.choice not in (Choice.YES, Choice.COMMENT):  # stopped: it is asked again
            left = {text: name for text, name in planning.open_gates.items() if name != gate.id}
            return replace(state, planning=replace(planning, open_gates=left))
        by = gate.by or "you"
        if gate.choice is Choice.COMMENT:
            return replace(state, planning=_answered(planning, question.text, gate.text, by))
        held = "assumption" if by == "unattended" else by
        return replace(state, planning=_answered(planning, question.text, question.assumption, held))
    if gate.id != planning.gate:
        return state
    planning = replace(planning, gate="")
    if gate.choice is Choice.COMMENT:
        back = Stage.PRD if planning.stage is Stage.PRD_GATE else Stage.DRAFT
        comments = (*planning.comments, gate.text)[-KEPT_COMMENTS:]
        return replace(state, planning=replace(planning, comments=comments, rounds=0, issues=(), stage=back))
    if gate.choice is Choice.SKIP:
        return replace(state, planning=replace(planning, stage=Stage.DROPPED))
    if gate.choice is Choice.YES and gate.tree == planning.binding:
        if planning.stage is Stage.PRD_GATE:
            return replace(state, planning=replace(planning, stage=Stage.DRAFT))
        planning = replace(planning, approved_by=gate.by or "you")
    return replace(state, planning=planning)


def agent_finished(state: State, event: ev.AgentFinished) -> State:
    """A valid answer follows as a fact of its own; an ending without one is a failed try."""
    planning = state.planning
    if planning is None:
        return state
    result = event.result
    words = f"{event.role.value}: {event.rung.agent}: {result.error or result.kind.value}"
    response = response_to(result.kind)
    match response:
        case Response.GOOD | Response.AGAIN | Response.WAIT:
            return state
        case Response.MEND if planning.goal is Goal.REPLAN:
            return _dropped(state, planning, words)
        case Response.MEND:
            return replace(state, planning=replace(planning, blocker=words, action=result.hint))
        case Response.RETRY | Response.FRESH | Response.LONGER | Response.FAIL:
            tries = planning.tries + 1
            if tries >= state.policy.retry.attempts and planning.goal is Goal.REPLAN:
                return _dropped(state, planning, words)
            if tries >= state.policy.retry.attempts:
                action = "the conversation is kept: devteam plan goes on with it"
                return replace(state, planning=replace(planning, blocker=words, action=action))
            wait = backoff(state.policy.retry, tries, event.id) if response is Response.RETRY else 0.0
            long = response is Response.LONGER
            return replace(state, planning=replace(planning, tries=tries, not_before=state.now + wait, long=long))
        case _:
            assert_never(response)


# ── the pieces ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _dropped(state: State, planning: Planning, words: str) -> State:
    """Nobody could plan anew: the sprint goes on with the plan it has."""
    said = f"no other plan for task {planning.task}: {words}"
    return replace(state, planning=replace(planning, stage=Stage.DROPPED), notes=(*state.notes, said)[-20:])


def _calm(planning: Planning) -> Planning:
    return replace(planning, tries=0, not_before=0.0, long=False)


def _stubborn(planning: Planning) -> Planning:
    """It asks again what was answered: the answers are given once more, and the tries are bounded."""
    tries = planning.tries + 1
    if tries < ROUNDS:
        return replace(planning, tries=tries, stage=planning.back)
    return replace(planning, stage=planning.back, blocker="the planner asks the same questions again and again")


def _answered(planning: Planning, question: str, answer: str, by: str) -> Planning:
    left = tuple(one for one in planning.questions if one.text != question)
    answers = (*planning.answers, PlanAnswer(question=question, answer=answer, by=by))
    gates = {text: gate for text, gate in planning.open_gates.items() if text != question}
    now = replace(planning, questions=left, answers=answers, open_gates=gates)
    return now if left else replace(now, stage=planning.back)


def _drafted(state: State, planning: Planning, event: ev.PlanDrafted) -> State:
    """A new draft: whatever was approved or asked about the one before does not hold for it."""
    gates = state.gates
    if planning.gate and (old := gates.get(planning.gate)) is not None and old.open:
        gates = {**gates, old.id: replace(old, choice=Choice.EDITED, by=event.by)}
    own = bool(event.by)
    now = replace(
        _calm(planning),
        plan=event.plan,
        later=planning.later if own else event.later,
        decisions=planning.decisions if own else event.decisions,
        own=own,
        version=planning.version + 1,
        stage=Stage.CHECK,
        gate="",
        review="",
        notes=(),
        approved_by="",
        rounds=0 if own else planning.rounds,
    )
    return replace(state, planning=now, gates=gates)


def _objected(planning: Planning, issues: tuple[PlanIssue, ...]) -> Planning:
    """Back to the planner, who is told; after so many rounds, and about their own draft, the human is asked."""
    if planning.own or planning.rounds + 1 >= ROUNDS:
        return replace(planning, issues=issues, rounds=planning.rounds + 1, stage=Stage.GATE)
    return replace(planning, issues=issues, rounds=planning.rounds + 1, stage=Stage.DRAFT)


def _approved(state: State, planning: Planning, event: ev.PlanApproved, tasks_of: Tasks) -> State:
    plan = replace(event.plan, status="APPROVED")
    done = replace(planning, plan=plan, stage=Stage.APPROVED, approved_by=event.by, gate="")
    if planning.goal is not Goal.REPLAN or state.plan is None:
        return replace(
            state, planning=done, plan=plan, topic=plan.topic or state.topic, tasks=tasks_of(plan, {}), final=None
        )
    return replace(state, planning=done, plan=plan, tasks=_replanned(state, plan, planning.task, tasks_of), final=None)


def _replanned(state: State, plan: Plan, name: str, tasks_of: Tasks) -> dict[str, TaskState]:
    """The tasks of a revised plan. The one it is about begins again; what it cost and was told is not forgotten."""
    known = dict(state.tasks)
    concerned = known.get(name)
    specs = {spec.id: spec for spec in plan.tasks()}
    if concerned is None or concerned.status is Status.COMPLETE:
        return tasks_of(plan, known)
    if concerned.status is Status.RUNNING:
        spec = specs.get(name)
        known[name] = replace(concerned, spec=spec) if spec is not None else replace(concerned, skip_asked=True)
        return tasks_of(plan, known)
    del known[name]
    tasks = tasks_of(plan, known)
    if name in tasks:
        past = concerned
        tasks[name] = replace(tasks[name], calls=past.calls, spent_usd=past.spent_usd, comments=past.comments)
    return {one: _freed(task, name) for one, task in tasks.items()}


def _freed(task: TaskState, name: str) -> TaskState:
    """A task that was blocked only because it depends on the replanned one may start again."""
    waits = task.status is Status.BLOCKED and not task.iteration and task.reason.startswith(f"depends on {name},")
    return replace(task, status=Status.PENDING, decision=None, reason="", action="") if waits else task
