"""apply(state, envelope) → state: what each fact means. Pure; folding any prefix and then the rest gives the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from engine.core import (
    disputes,
    fold_agents,
    fold_effects,
    fold_gates,
    fold_interruptions,
    fold_plan,
    fold_planning,
    fold_reopening,
    fold_spend,
    fold_sprint_review,
    fold_tasks,
    machine,
    other_clock,
    restoring,
)
from engine.core import events as ev
from engine.core.fold_effects import landed, note
from engine.core.model import ResultKind, Role, Verdict
from engine.core.planning_state import PLANNING_ROLES
from engine.core.policy import Policy
from engine.core.state import HOUR, Baseline, Checkpoint, State
from engine.core.verdict import of_checks
from engine.core.vocabulary import Stopping

ALL_GREEN = "all_tests_passing"


def fold(envelopes: Iterable[ev.Envelope], state: State | None = None) -> State:
    """State after many events."""
    current = state or State()
    for envelope in envelopes:
        current = apply(current, envelope)
    return current


def apply(state: State, envelope: ev.Envelope) -> State:
    """State after one event."""
    last = state.now
    state = _tick(state, envelope)
    event = envelope.event
    match event:
        case ev.SprintCreated():
            return _created(state, event)
        case ev.RunStarted():
            return _run_started(state, event, envelope.at, last)
        case ev.RunEnded():
            return replace(
                fold_planning.run_ended(fold_effects.abandoned(state), event),
                running=False,
                run="",
                active_seconds=state.active_seconds + max(0.0, state.now - state.run_started_at),
                outcome=event.outcome,
                outcome_reason=event.reason,
                stopping=Stopping.NO,
            )
        case ev.Paused():
            return replace(state, paused=True)
        case ev.Resumed():
            return replace(state, paused=False)
        case ev.StopRequested():
            return replace(
                state, stopping=Stopping.NOW if event.now or state.stopping is Stopping.NOW else Stopping.GRACEFUL
            )
        case ev.SprintCancelled():
            return replace(state, cancelled=True, stopping=Stopping.NOW)
        case ev.PlanChanged():
            return fold_plan.changed(state, event.plan)
        case ev.PolicyChanged():
            return replace(state, policy=event.policy)
        case ev.AttendanceChanged():
            return replace(state, attended=event.attended)
        case ev.EffectStarted():
            return fold_effects.started(state, event.effect)
        case ev.EffectFailed():
            return fold_effects.failed(state, event)
        case ev.EffectInterrupted():
            return fold_effects.interrupted(state, event)
        case ev.AgentFinished():
            if event.role is Role.ANSWERER and event.result.kind is not ResultKind.OK:
                state = fold_gates.unanswered(state, event.id, event.result.error or event.result.kind.value)
            state = fold_agents.finished(landed(state, event.id), event)
            if event.role is Role.SPRINT_REVIEWER:
                return fold_sprint_review.agent_finished(state, event)
            return fold_planning.agent_finished(state, event) if event.role in PLANNING_ROLES else state
        case ev.SprintReviewed():
            return fold_sprint_review.reviewed(state, event)
        case ev.TasksReopened():
            return fold_reopening.reopened(state, event)
        case ev.PlanRequested():
            return fold_planning.requested(state, event)
        case ev.Surveyed() | ev.PlanChecked():
            return fold_planning.apply(replace(landed(state, event.id), sprint_tries=0), event, fold_plan.tasks_of)
        case (
            ev.ContextGathered()
            | ev.QuestionsAsked()
            | ev.QuestionAnswered()
            | ev.PrdDrafted()
            | ev.PlanDrafted()
            | ev.PlanReviewed()
            | ev.PlanApproved()
        ):
            return fold_planning.apply(state, event, fold_plan.tasks_of)
        case ev.GatePassed() if not event.task:
            return fold_planning.gate_passed(state, event)
        case ev.WorkspaceReady() if not event.task:
            return replace(
                landed(state, event.id),
                base=state.base or event.base,
                base_tree=state.base_tree or event.tree,
                head=state.head or event.base,
                head_tree=state.head_tree or event.tree,
                sprint_tries=0,
            )
        case ev.ChecksFinished():
            return _checked(landed(state, event.id), event)
        case ev.Committed():
            state = replace(landed(state, event.id), head=event.commit, head_tree=event.tree)
            return fold_tasks.apply(state, event)
        case ev.WorkspaceReady() | ev.ScopeChecked() | ev.BaseMoved() | ev.RolledBack() | ev.TreeKept():
            return fold_tasks.apply(landed(state, event.id), event)
        case ev.WaitEnded():
            return landed(state, event.id)
        case ev.MachineProbed():
            return machine.probed(landed(state, event.id), event)
        case ev.BranchMoved():
            if event.id:
                measured = state.baseline_run if event.commit == state.head else ""
                state = replace(landed(state, event.id), restored_run=state.run, baseline_run=measured, sprint_tries=0)
            state = replace(state, head=event.commit, head_tree=event.tree, final=None, notes=note(state, event.reason))
            state = fold_reopening.restore(fold_reopening.reopen(state, event.reopened), event.restored)
            return restoring.end_again(state, event.ended)
        case ev.SpendFound():
            return replace(fold_spend.found(state, event), notes=note(state, event.reason))
        case ev.CheckpointSaved():
            made = Checkpoint(id=event.checkpoint, commit=event.commit, reason=event.reason, at=state.now)
            return replace(
                landed(state, event.id),
                checkpoints=(*state.checkpoints[-49:], made),
                checkpoint_due="" if state.checkpoint_due == event.reason else state.checkpoint_due,
                checkpoint_at=state.now,
            )
        case ev.BaselineCreated():
            made_baseline = Baseline(milestone=event.milestone, ref=event.ref, commit=event.commit, at=state.now)
            return replace(
                landed(state, event.id),
                baselines=(*state.baselines[-49:], made_baseline),
                milestones=tuple(name for name in state.milestones if name != event.milestone),
            )
        case ev.Landed():
            return replace(
                landed(state, event.id),
                land_due=False,
                landed=event.commit if event.ok else state.landed,
                notes=note(state, event.detail),
            )
        case ev.BudgetWarned():
            return replace(state, warned=(*state.warned, event.scope))
        case ev.GateOpened():
            return fold_gates.opened(state, event)
        case ev.GateAnswered():
            return fold_gates.answered(state, event)
        case ev.GateAsked():
            return fold_gates.asked(state, event)
        case ev.GateReplied():
            return fold_gates.replied(landed(state, event.id), event.gate, event.answer)
        case ev.LandRequested():
            return replace(state, land_due=True)
        case ev.AutoChanged():
            return replace(state, auto={**state.auto, event.gate_kind: event.auto})
        case ev.LearningRecorded():
            return replace(state, learnings=(*state.learnings, event.text)[-50:])
        case ev.Noted():
            return replace(state, notes=note(state, event.text))
        case ev.LearningDisputed():
            words = f"learning {event.name} is contradicted: {event.why}"
            return disputes.said(replace(state, notes=note(state, words)), event)
        case ev.CommandHandled() | ev.Unknown():
            return state
        case _:
            return fold_tasks.apply(state, event)


# ── the sprint ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _tick(state: State, envelope: ev.Envelope) -> State:
    now = max(state.now, envelope.at)
    day = int((now + state.utc_offset) // 86400)
    if day != state.day:
        warned = tuple(scope for scope in state.warned if scope != "day")
        return replace(state, seq=envelope.seq, now=now, day=day, day_spent_usd=0.0, warned=warned)
    return replace(state, seq=envelope.seq, now=now)


def _created(state: State, event: ev.SprintCreated) -> State:
    return replace(
        state,
        sprint=event.sprint,
        topic=event.topic,
        branch=event.branch,
        plan=event.plan,
        tasks=fold_plan.tasks_of(event.plan, {}),
        created_at=state.now,
    )


def _run_started(state: State, event: ev.RunStarted, at: float, last: float) -> State:
    """A new run. Times from a clock that ran ahead are pulled back, so that no wait is ever longer than its limit."""
    policy = _with_override(event.policy, event.max_iterations)
    moved = event.booted_at - state.booted_at if event.boot and event.boot == state.boot else 0.0
    last = event.last_at or last  # what was interrupted is recorded by this run, before it says that it started
    if state.running:
        # The run before was killed: its wall time counts up to the last thing it recorded.
        state = replace(state, active_seconds=state.active_seconds + max(0.0, last - state.run_started_at))
    state = fold_sprint_review.run_started(fold_planning.run_started(fold_interruptions.taken_up(state, at)))
    state = disputes.run_started(state, event.disputed)
    if abs(moved) >= other_clock.SET_BY_HAND:
        state, last = other_clock.taken_over(state, moved), last + moved
    breakers = {
        name: replace(breaker, opened_at=min(breaker.opened_at, at)) for name, breaker in state.breakers.items()
    }
    # A clock that was set back meanwhile: what was left of a wait is what is left of it.
    limits = (
        {agent: min(until, at + max(0.0, until - last)) for agent, until in state.limits.items()}
        if at < last
        else state.limits
    )
    day = int((at + event.utc_offset) // 86400)
    others = [call for call in event.recent_calls if call not in state.recent_calls]
    recent = sorted(call for call in (*state.recent_calls, *others) if at - HOUR < call <= at)
    wanted = ["session_start"] if state.baselines else ["sprint_start", "session_start"]
    wanted = [name for name in wanted if name in policy.checkpoints.baselines and name not in state.milestones]
    return replace(
        state,
        now=at,
        run=event.run,
        boot=event.boot,
        booted_at=event.booted_at,
        running=True,
        run_started_at=at,
        policy=policy,
        attended=event.attended,
        waits=event.waits,
        sandbox=event.sandbox,
        utc_offset=event.utc_offset,
        day=day,
        day_spent_usd=max(0.0, event.day_spent_usd) + state.usage_by_day.get(str(day), 0.0),
        recent_calls=tuple(recent),
        measured=event.measured,
        until=event.until,
        past=event.history,
        warned=state.warned if policy.budget == state.policy.budget else (),
        breakers=breakers,
        limits=limits,
        outcome=None,
        outcome_reason="",
        stopping=Stopping.NO,
        cancelled=False,
        paused=False,
        sprint_tries=0,
        sprint_not_before=0.0,
        sprint_error="",
        suspended=None,
        suspended_reason="",
        final=None,
        milestones=(*state.milestones, *wanted),
        checkpoint_at=at,
    )


def _with_override(policy: Policy, max_iterations: int) -> Policy:
    return replace(policy, max_iterations=max_iterations) if max_iterations > 0 else policy


def _checked(state: State, event: ev.ChecksFinished) -> State:
    match event.purpose:
        case "task":
            return fold_tasks.apply(state, event)
        case "baseline":
            first = event.results if state.head == state.base else state.base_results
            return replace(state, baseline_run=state.run, baseline=event.results, base_results=first, sprint_tries=0)
        case "final":
            return _final_checks(state, event)
        case _:
            assert_never(event.purpose)


def _final_checks(state: State, event: ev.ChecksFinished) -> State:
    verdict, reason = of_checks(event.results, event.findings)
    milestones = state.milestones
    marked = any(made.milestone == ALL_GREEN and made.commit == state.head for made in state.baselines)
    if verdict is Verdict.PASS and ALL_GREEN in state.policy.checkpoints.baselines and not marked:
        milestones = (*milestones, ALL_GREEN)
    return replace(state, final=verdict, final_reason=reason, sprint_tries=0, milestones=milestones)


# ── effects ────────────────────────────────────────────────────────────────────────────────────────────────────────
