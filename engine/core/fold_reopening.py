"""Tasks that start again: retried, allowed, accepted, sent to the council, reopened by a review, restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.fold_gates import KEPT_COMMENTS, accept, granted, limit, still_asked
from engine.core.gates import question_action, question_words
from engine.core.model import Decision, Review, TaskSpec, Verdict
from engine.core.sprint_review_state import SprintReview
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Feedback, Record, Step
from engine.core.vocabulary import Choice, Council


def withdrawn(state: State, gate: str) -> State:
    open_gate = state.gates.get(gate)
    if open_gate is None or not open_gate.open:
        return state
    return replace(state, gates={**state.gates, gate: replace(open_gate, choice=Choice.WITHDRAWN)})


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
        return state.with_task(replace(asking, reason=question_words(asking), action=question_action(asking)))
    if not waits:
        return state.with_task(replace(with_it, step=task.step, gate=task.gate, questions=task.questions))
    state = withdrawn(state, task.gate)
    if task.status is Status.RUNNING:
        return state.with_task(with_it)
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
        return state.with_task(replace(task, council_asked=True))
    top = len(state.policy.ladder.rungs) - 1
    sitting = replace(
        task, council=Council.SITTING, seats={}, seat_tries={}, council_asked=False, gate="", blocker="", action=""
    )
    sitting = replace(sitting, rung=top, granted=task.granted + (task.iteration >= limit(state, task)))
    state = withdrawn(state, task.gate)
    if not task.ended:
        return state.with_task(replace(sitting, step=Step.COUNCIL, again=None, mend=False))
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
            state = state.with_task(replace(task, commit=commit))
        elif task is not None and not busy:
            words = "its commit is back on the sprint branch"
            task = replace(task, status=Status.COMPLETE, step=Step.END, commit=commit, decision=Decision.COMPLETE)
            state = state.with_task(replace(task, reason=words, action="", blocker=""))
    return state


def treeless(task: TaskState) -> tuple[Record, ...]:
    """The history without its trees: they stand on a base that is no longer the task's."""
    return tuple(replace(record, tree="") for record in task.history)
