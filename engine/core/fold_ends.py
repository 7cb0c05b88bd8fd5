"""How iterations and tasks end: what a decision, an end and a new start mean for state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from engine.core import bounds
from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.fold_gates import KEPT_COMMENTS, accept, granted, limit, still_asked
from engine.core.gates import ASKING, acceptable, question_action, question_words
from engine.core.model import Decision, FaultDomain, Health, ProofVerdict, Review, Role, TaskSpec, Verdict
from engine.core.records import record_of
from engine.core.repeats import remembered
from engine.core.sprint_review_state import SprintReview
from engine.core.state import Escalation, State, Status, TaskState
from engine.core.task_state import HISTORY, Feedback, KeptTree, Record, Step, status_of
from engine.core.verdict import of_checks
from engine.core.vocabulary import Choice, Claim, Council, Recovery


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
    return _with(state, task)


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
    state = _with(state, task)
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


def withdrawn(state: State, gate: str) -> State:
    open_gate = state.gates.get(gate)
    if open_gate is None or not open_gate.open:
        return state
    return replace(state, gates={**state.gates, gate: replace(open_gate, choice=Choice.WITHDRAWN)})


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


def retried(state: State, task: TaskState, event: ev.RetryRequested) -> State:
    """A fresh ladder. What was tried stays known to the next attempt; its tree only where that is wanted."""
    comments = (*task.comments, event.text)[-KEPT_COMMENTS:] if event.text.strip() else task.comments
    kept = task.kept if event.from_tree else None
    fresh = TaskState(
        spec=task.spec,
        phase=task.phase,
        comments=comments,
        allowed=task.allowed,
        iteration=task.iteration,
        granted=task.iteration,
        history=treeless(task),
        feedback=task.feedback,
        calls=task.calls,
        spent_usd=task.spent_usd,
        attempts_usd=task.attempts_usd,
        worked_seconds=task.worked_seconds,
        rung_asked=event.rung,
        kept=task.kept,
    )
    if kept is not None:
        fresh = replace(
            fresh,
            tree=kept.tree,
            base=kept.base,
            resumes=Step.CHECKS if kept.green and not event.text.strip() else Step.NEXT,
            rung=task.rung,
            complexity=task.complexity,
            attempt=task.attempt,
            scope_verdict=Verdict.PASS if kept.green else None,
            scope_findings=kept.scope_findings,
            changes=kept.changes,
            attempt_changes=task.attempt_changes if task.tree == kept.tree else (),
        )
    return _opened_again(state, fresh)


def allowed(state: State, task: TaskState, entries: Sequence[str]) -> State:
    """A permission is granted. Work that waited for it is checked again; later attempts have it from the start."""
    waits = task.status is Status.PARKED or (task.status is Status.RUNNING and task.step is Step.PERMISSION_GATE)
    with_it = granted(task, tuple(entries))
    if task.status is Status.PARKED and (left := still_asked(task, entries)):
        asking = replace(with_it, step=task.step, gate=task.gate, questions=left)  # the rest is asked still
        return _with(state, replace(asking, reason=question_words(asking), action=question_action(asking)))
    if not waits:
        return _with(state, replace(with_it, step=task.step, gate=task.gate, questions=task.questions))
    state = withdrawn(state, task.gate)
    if task.status is Status.RUNNING:
        return _with(state, with_it)
    return _opened_again(state, replace(with_it, status=Status.PENDING, step=Step.NEXT, resumes=Step.CHECKS))


def accepted(state: State, task: TaskState, by: str) -> State:
    """Taken as it is: it queues for its commit, and is checked again if others have committed since."""
    if task.kept is None or not task.ended:
        return state
    kept = task.kept
    checked = task.tree == kept.tree and bool(task.checks)  # else it began anew since: what was measured is gone
    task = replace(task, tree=kept.tree, base=kept.base, changes=kept.changes, scope_findings=kept.scope_findings)
    task = accept(state, replace(task, scope_verdict=Verdict.PASS), by or "you")
    resumes = Step.COMMIT if checked else Step.CHECKS
    return _opened_again(state, replace(task, status=Status.PENDING, step=Step.NEXT, resumes=resumes))


def council_wanted(state: State, task: TaskState) -> State:
    """The Bug Council on request: now where the task waits or has ended, else once its iteration has failed."""
    if task.commit:
        return state  # on the branch: there is nothing to diagnose, and a second commit would follow
    waits = task.status is Status.RUNNING and task.step in (Step.NEXT, Step.FIX_GATE, Step.BLOCKED_GATE)
    waits = waits or (task.status is Status.RUNNING and task.step is Step.END)
    if not waits and not task.ended:
        return _with(state, replace(task, council_asked=True))
    top = len(state.policy.ladder.rungs) - 1
    sitting = replace(
        task, council=Council.SITTING, seats={}, seat_tries={}, council_asked=False, gate="", blocker="", action=""
    )
    sitting = replace(sitting, rung=top, granted=task.granted + (task.iteration >= limit(state, task)))
    state = withdrawn(state, task.gate)
    if not task.ended:
        return _with(state, replace(sitting, step=Step.COUNCIL, again=None, mend=False))
    if task.kept is not None:
        sitting = replace(sitting, tree=task.kept.tree, base=task.kept.base)
    return _opened_again(state, replace(sitting, status=Status.PENDING, step=Step.NEXT, resumes=Step.COUNCIL))


def _opened_again(state: State, task: TaskState) -> State:
    """The task may start again, and so may those that were given up because of it."""
    tasks = {**state.tasks, task.id: task}
    opened = [task.id]
    while opened:
        dependency = opened.pop()
        for name, other in tasks.items():
            if other.status is Status.BLOCKED and not other.started_at and dependency in other.spec.depends_on:
                tasks[name] = replace(other, status=Status.PENDING, step=Step.NEXT, decision=None, reason="", action="")
                opened.append(name)
    return replace(state, tasks=tasks, final=None, outcome=None, outcome_reason="")


def with_grants(spec: TaskSpec, entries: Sequence[str]) -> TaskSpec:
    """The plan's task with what a human allowed since."""
    new = tuple(entry for entry in entries if entry not in spec.allow)
    return replace(spec, allow=(*spec.allow, *new)) if new else spec


def reopen(state: State, names: Sequence[str]) -> State:
    """Tasks whose work is gone from the sprint branch start anew."""
    for name in names:
        if name in state.tasks:
            state = retried(state, state.tasks[name], ev.RetryRequested(task=name))
    return state


def reopened(state: State, event: ev.TasksReopened) -> State:
    """The tasks concerned start again on the branch as it is, and hear what the review says of them."""
    review = state.sprint_review
    for name in event.tasks:
        task = state.tasks.get(name)
        if task is None:
            continue
        state = retried(state, task, ev.RetryRequested(task=name, text=event.text, by=event.by))
        heard = replace(state.tasks[name], feedback=_objections(task, review))
        state = replace(state, tasks={**state.tasks, name: heard})
    now = replace(review, rounds=review.rounds + 1, go=False, comment="", gate="")
    return replace(state, sprint_review=now)


def _objections(task: TaskState, review: SprintReview) -> Feedback:
    own = [one.issue for one in review.issues if one.task == task.id]
    near = [one.issue for one in review.issues if not one.task and one.issue.path in {c.path for c in task.changes}]
    said = Review(
        approved=False,
        criteria=tuple(one.criterion for one in review.criteria if one.task == task.id),
        issues=(*own, *near),
        summary=review.summary,
    )
    reason = "the final review of the sprint wants changes"
    return Feedback(iteration=task.iteration, decision=Decision.ITERATE, reason=reason, review=said)


def restore(state: State, commits: Mapping[str, str]) -> State:
    """Tasks whose recorded commits are on the sprint branch again are complete again."""
    for name, commit in commits.items():
        task = state.tasks.get(name)
        busy = any(effect.task == name for effect in state.inflight.values())
        if task is not None and task.status is Status.COMPLETE:
            state = _with(state, replace(task, commit=commit))
        elif task is not None and not busy:
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
