"""How iterations and tasks end: what a decision, an end and a new start mean for state."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core import bounds
from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.fold_reopening import council_wanted, retried, withdrawn
from engine.core.gates import ASKING, acceptable
from engine.core.model import Decision, FaultDomain, Health, ProofVerdict, Role, Verdict
from engine.core.records import record_of
from engine.core.repeats import remembered
from engine.core.state import Escalation, State, Status, TaskState
from engine.core.task_state import HISTORY, Feedback, KeptTree, Step, status_of
from engine.core.verdict import of_checks
from engine.core.vocabulary import Claim, Council, Recovery


def decided(state: State, task: TaskState, event: ev.Decided) -> State:
    record = record_of(task, event.decision, event.reason, state.now, asked=state.attended)
    failed = event.decision is not Decision.COMPLETE
    role = Role.IMPLEMENTER.value
    climbs = event.rung != task.rung or event.decision is Decision.COUNCIL
    failures = task.failures.get(role, 0) + 1 if failed and not climbs else 0
    if event.fault not in (None, FaultDomain.CODE):
        failures = task.failures.get(role, 0)
    record = replace(record, fault=event.fault)
    better = record.total > 0 and record.passing >= max(0, task.good_passing)
    # Only the review may be overridden at a gate: what failed before it is no matter of opinion.
    measured = not task.error and task.scope_verdict is Verdict.PASS
    measured = measured and of_checks(task.checks, task.findings, asked=state.attended)[0] is Verdict.PASS
    changed = failed and measured and task.review is not None
    unproven = task.proof is ProofVerdict.UNPROVEN and failed
    recoveries = dict(task.recoveries)
    if event.recovery in (Recovery.FRESH, Recovery.LAST_GOOD, Recovery.BACK_TWO):
        recoveries[task.health.value] = recoveries.get(task.health.value, 0) + 1
    task = replace(
        task,
        history=(*task.history, record)[-HISTORY:],
        judged=remembered(task) if failed else (),
        decision=event.decision,
        reason=event.reason,
        failures={**task.failures, role: failures},
        feedback=_feedback(task, event) if failed else None,
        fix_attempts=task.fix_attempts + changed,
        unproven=task.unproven + 1 if unproven else 0,
        good_tree=task.tree if better else task.good_tree,
        good_passing=record.passing if better else task.good_passing,
        recovery=event.recovery,
        recoveries=recoveries,
        rollback=event.recovery_tree,
        session="" if event.recovery else task.session,
        step=_after_decision(event, changed, task.claim is Claim.FAILED),
    )
    if event.fault is FaultDomain.PLAN and task.claim is Claim.BLOCKED and event.decision is Decision.BLOCKED:
        needed = clean_line(task.claim_text) or "see what the agent says"
        task = replace(task, blocker=event.reason, action=f"{needed} — then: devteam retry {task.id}")
    elif event.fault is FaultDomain.PLAN and bounds.reason(task):
        task = replace(task, blocker=event.reason, action=bounds.action(task), over_bound=0)
    if event.rung != task.rung:
        names = [rung.name for rung in state.policy.ladder.rungs]
        climbed = Escalation(
            task=task.id,
            iteration=event.iteration + 1,
            source=names[min(task.rung, len(names) - 1)],
            target=names[min(event.rung, len(names) - 1)],
            reason=event.reason,
        )
        state = replace(state, escalations=(*state.escalations, climbed)[-200:])
        task = replace(task, rung=event.rung)
    if event.decision is Decision.COUNCIL:
        task = replace(task, council=Council.SITTING, seats={}, seat_tries={}, rung=event.rung)
    if task.council_asked and event.decision in _FAILED:
        return council_wanted(state, task)
    return state.with_task(task)


_FAILED = frozenset(Decision) - {Decision.COMPLETE, Decision.COUNCIL, Decision.SKIPPED, Decision.PARKED}


def _after_decision(event: ev.Decided, changes_wanted: bool, claims_failed: bool) -> Step:
    """The human hears of every review that wants changes before anything follows from it."""
    if changes_wanted and event.decision is not Decision.COMPLETE:
        return Step.FIX_GATE
    match event.decision:
        case Decision.COMPLETE:
            return Step.TASK_GATE
        case Decision.COUNCIL:
            return Step.COUNCIL
        case Decision.ITERATE | Decision.ESCALATE:
            return Step.BLOCKED_GATE if event.recovery in ASKING or claims_failed else Step.NEXT
        case Decision.BLOCKED:
            return Step.BLOCKED_GATE
        case Decision.HALT | Decision.SKIPPED | Decision.PARKED | Decision.BUDGET_EXHAUSTED:
            return Step.END
        case _:
            assert_never(event.decision)


def ended(state: State, task: TaskState, event: ev.TaskEnded) -> State:
    status, gate = status_of(event.decision), task.gate
    kept = None if status is Status.COMPLETE else put_aside(task, event.reason)
    task = replace(
        task,
        status=status,
        step=Step.END,
        lane=-1,
        ended_at=state.now,
        decision=event.decision,
        reason=event.reason,
        action=event.action,
        gate="",
        skip_asked=False,
        queued_at=0.0,
        kept=kept or task.kept,
        unwatched=status is Status.COMPLETE and not state.attended,
    )
    state = withdrawn(state, gate)
    if kept is not None and not kept.ref:
        state = replace(state, keeps=(*(name for name in state.keeps if name != task.id), task.id))
    state = state.with_task(task)
    health, words = state.health, state.health_reason
    if status in (Status.BLOCKED, Status.PARKED):
        health, words = Health.BLOCKED, f"{task.id}: {event.reason}"
    elif status is Status.COMPLETE:
        health, words = Health.PROGRESSING, f"{task.id} is complete"
    state = replace(state, health=health, health_reason=words)
    checkpoints = state.policy.checkpoints
    phase = [other for other in state.tasks.values() if other.phase == task.phase]
    due = state.checkpoint_due
    if checkpoints.on_phase_change and all(other.ended for other in phase) and task.started_at:
        word = "complete" if all(other.status is Status.COMPLETE for other in phase) else "over"
        due = f"{_batch(state, task.phase)}: phase {task.phase + 1} {word}"
    elif checkpoints.on_task_complete and status is Status.COMPLETE:
        due = f"task {task.id} complete"
    milestones = state.milestones
    if "feature_complete" in checkpoints.baselines and status is Status.COMPLETE:
        milestones = (*milestones, f"feature_complete-{task.id}")
    state = _over(replace(state, checkpoint_due=due, milestones=milestones))
    if task.edited is not None and status is Status.COMPLETE:  # edited while its commit was being made
        new = ev.RetryRequested(task=task.id, text="the plan has other words for the task now", by="the plan")
        return retried(state, replace(task, spec=task.edited), new)
    return state


def put_aside(task: TaskState, reason: str) -> KeptTree | None:
    """What the task had come to, to be pinned; None where it has changed nothing."""
    if not task.tree or not task.base or not task.changes:
        return None
    if task.kept is not None and task.kept.tree == task.tree:
        return task.kept
    return KeptTree(
        tree=task.tree,
        base=task.base,
        iteration=task.iteration,
        reason=reason,
        green=acceptable(task),
        changes=task.changes,
        scope_findings=task.scope_findings,
    )


def _batch(state: State, phase: int) -> str:
    """The seed's names of checkpoints: scaffold, then batch-1, batch-2 …"""
    phases = state.plan.phases if state.plan is not None else ()
    if 0 <= phase < len(phases) and phases[phase].scaffold:
        return "scaffold"
    return f"batch-{sum(not one.scaffold for one in phases[: phase + 1]) or 1}"


def _over(state: State) -> State:
    """The last task's end asks for the sprint's closing baseline."""
    wanted = "sprint_end" in state.policy.checkpoints.baselines and "sprint_end" not in state.milestones
    if wanted and all(task.ended for task in state.tasks.values()):
        return replace(state, milestones=(*state.milestones, "sprint_end"))
    return state


def _feedback(task: TaskState, event: ev.Decided) -> Feedback:
    return Feedback(
        iteration=event.iteration,
        decision=event.decision,
        reason=event.reason,
        error=task.error,
        reverted=task.reverted,
        checks=tuple(result for result in task.checks if result.verdict is not Verdict.PASS),
        findings=task.findings,
        review=task.review,
    )
