"""How iterations and tasks end: what a decision, an end and a new start mean for state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.gates import ASKING
from engine.core.model import Decision, Health, Role, Verdict
from engine.core.records import record_of
from engine.core.state import (
    HISTORY,
    STATUS_OF,
    Escalation,
    Feedback,
    Record,
    State,
    Status,
    Step,
    TaskState,
)
from engine.core.verdict import of_checks

KEPT_COMMENTS = 20
WITHDRAWN = "withdrawn"
"""The choice of a gate that nobody answered and that asks nothing any more."""


def decided(state: State, task: TaskState, event: ev.Decided) -> State:
    record = record_of(task, event.decision, event.reason, state.now, asked=state.attended)
    failed = event.decision is not Decision.COMPLETE
    role = Role.IMPLEMENTER.value
    climbs = event.rung != task.rung or event.decision is Decision.COUNCIL
    failures = task.failures.get(role, 0) + 1 if failed and not climbs else 0
    better = record.total > 0 and record.passing >= max(0, task.good_passing)
    # Only the review may be overridden at a gate: what failed before it is no matter of opinion.
    measured = not task.error and task.scope_verdict is Verdict.PASS
    measured = measured and of_checks(task.checks, task.findings, asked=state.attended)[0] is Verdict.PASS
    changed = failed and measured and task.review is not None
    recoveries = dict(task.recoveries)
    if event.recovery in ("fresh", "last_good", "back_two"):
        recoveries[task.health.value] = recoveries.get(task.health.value, 0) + 1
    task = replace(
        task,
        history=(*task.history, record)[-HISTORY:],
        decision=event.decision,
        reason=event.reason,
        failures={**task.failures, role: failures},
        feedback=_feedback(task, event) if failed else None,
        fix_attempts=task.fix_attempts + changed,
        good_tree=task.tree if better else task.good_tree,
        good_passing=record.passing if better else task.good_passing,
        recovery=event.recovery,
        recoveries=recoveries,
        session="" if event.recovery else task.session,
        step=_after_decision(event, changed, task.claim in ("blocked", "failed")),
    )
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
        task = replace(task, council="sitting", seats={}, seat_tries={}, rung=event.rung)
    if event.recovery_tree:
        task = replace(task, before=event.recovery_tree)
    return _with(state, task)


def _after_decision(event: ev.Decided, changes_wanted: bool, claims_blocked: bool) -> Step:
    match event.decision:
        case Decision.COMPLETE:
            return Step.TASK_GATE
        case Decision.COUNCIL:
            return Step.COUNCIL
        case Decision.ITERATE | Decision.ESCALATE:
            if changes_wanted:
                return Step.FIX_GATE
            return Step.BLOCKED_GATE if event.recovery in ASKING or claims_blocked else Step.NEXT
        case Decision.BLOCKED:
            return Step.BLOCKED_GATE
        case _:
            return Step.END


def ended(state: State, task: TaskState, event: ev.TaskEnded) -> State:
    status, gate = STATUS_OF.get(event.decision, Status.BLOCKED), task.gate
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
    )
    open_gate = state.gates.get(gate)
    if open_gate is not None and open_gate.open:
        state = replace(state, gates={**state.gates, gate: replace(open_gate, choice=WITHDRAWN)})
    state = _with(state, task)
    health, words = state.health, state.health_reason
    if status is Status.BLOCKED:
        health, words = Health.BLOCKED, f"{task.id}: {event.reason}"
    elif status is Status.COMPLETE:
        health, words = Health.PROGRESSING, f"{task.id} is complete"
    state = replace(state, health=health, health_reason=words)
    if status is not Status.COMPLETE:
        return _over(state)
    checkpoints = state.policy.checkpoints
    phase_over = all(other.ended for other in state.tasks.values() if other.phase == task.phase)
    due = state.checkpoint_due
    if phase_over and checkpoints.on_phase_change:
        due = f"phase {task.phase + 1} complete"
    elif checkpoints.on_task_complete:
        due = f"task {task.id} complete"
    milestones = state.milestones
    if "feature_complete" in checkpoints.baselines:
        milestones = (*milestones, f"feature_complete-{task.id}")
    return _over(replace(state, checkpoint_due=due, milestones=milestones))


def _over(state: State) -> State:
    """The last task's end asks for the sprint's closing baseline."""
    wanted = "sprint_end" in state.policy.checkpoints.baselines and "sprint_end" not in state.milestones
    if wanted and all(task.ended for task in state.tasks.values()):
        return replace(state, milestones=(*state.milestones, "sprint_end"))
    return state


def retried(state: State, task: TaskState, event: ev.RetryRequested) -> State:
    """A fresh ladder. What was tried stays known to the next attempt, but no old tree is gone back to."""
    fresh = TaskState(
        spec=task.spec,
        phase=task.phase,
        comments=(*task.comments, event.text)[-KEPT_COMMENTS:] if event.text.strip() else task.comments,
        iteration=task.iteration,
        granted=task.iteration,
        history=treeless(task),
        feedback=task.feedback,
        calls=task.calls,
        spent_usd=task.spent_usd,
    )
    tasks = {**state.tasks, task.id: fresh}
    opened = [task.id]
    while opened:
        dependency = opened.pop()
        for name, other in tasks.items():
            if other.status is Status.BLOCKED and not other.started_at and dependency in other.spec.depends_on:
                tasks[name] = replace(other, status=Status.PENDING, step=Step.NEXT, decision=None, reason="", action="")
                opened.append(name)
    return replace(state, tasks=tasks, final=None, outcome="", outcome_reason="")


def reopen(state: State, names: Sequence[str]) -> State:
    """Tasks whose work is gone from the sprint branch start anew."""
    for name in names:
        if name in state.tasks:
            state = retried(state, state.tasks[name], ev.RetryRequested(task=name))
    return state


def restore(state: State, commits: Mapping[str, str]) -> State:
    """Tasks whose recorded commits are on the sprint branch again are complete again."""
    for name, commit in commits.items():
        task = state.tasks.get(name)
        if task is not None and task.status is not Status.RUNNING:
            words = "its commit is back on the sprint branch"
            task = replace(task, status=Status.COMPLETE, step=Step.END, commit=commit, decision=Decision.COMPLETE)
            state = _with(state, replace(task, reason=words, action="", blocker=""))
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


def _with(state: State, task: TaskState) -> State:
    return replace(state, tasks={**state.tasks, task.id: task})


def treeless(task: TaskState) -> tuple[Record, ...]:
    """The history without its trees: they stand on a base that is no longer the task's."""
    return tuple(replace(record, tree="") for record in task.history)
