"""What each fact means for its task."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core import bounds, fold_ends, fold_gates, fold_interruptions, fold_reopening
from engine.core import events as ev
from engine.core.fold_agents import mend
from engine.core.fold_gates import KEPT_COMMENTS, limit
from engine.core.model import CheckResult, Decision, ProofVerdict, Role, Verdict
from engine.core.repeats import known
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step
from engine.core.verdict import asks_permission, counts, of_checks, proven
from engine.core.vocabulary import Claim, Council, GateKind

PROOF = "proof"
"""The name of the result that repeats the proof's verdict."""

TaskFact = (
    ev.TaskStarted
    | ev.IterationStarted
    | ev.WorkspaceReady
    | ev.ScopeChecked
    | ev.ScopeJudged
    | ev.ChecksFinished
    | ev.ReviewFinished
    | ev.DiagnosisGiven
    | ev.CouncilFinished
    | ev.Committed
    | ev.TreeKept
    | ev.BaseMoved
    | ev.WorkLost
    | ev.RolledBack
    | ev.Decided
    | ev.HealthChanged
    | ev.TaskEnded
    | ev.GatePassed
    | ev.Steered
    | ev.SkipRequested
    | ev.RetryRequested
    | ev.PermissionGranted
    | ev.CouncilRequested
    | ev.TaskAccepted
)
"""The facts about one task that mean nothing for the sprint as a whole."""


def apply(state: State, event: TaskFact) -> State:
    """The facts that name a task. A fact about an unknown task changes nothing."""
    task = state.tasks.get(event.task)
    if task is None:
        return state
    match event:
        case ev.TaskStarted():
            return state.with_task(_resumed(state, task, event) if event.resumes else _started(state, task, event))
        case ev.IterationStarted():
            state = replace(state, iterations=state.iterations + 1)
            return state.with_task(_iteration(task, event))
        case ev.WorkspaceReady():
            step = Step.IMPLEMENT if task.step is Step.PREPARE else task.step
            tree = task.tree or event.tree
            good = task.good_tree or event.tree
            return state.with_task(
                replace(task, step=step, before=event.tree, tree=tree, base=event.base, good_tree=good)
            )
        case ev.ScopeChecked():
            return state.with_task(_scoped(state, task, event))
        case ev.ScopeJudged():
            return state.with_task(_scope_judged(task, event))
        case ev.ChecksFinished():
            return state.with_task(_checked(state, task, event))
        case ev.ReviewFinished():
            return state.with_task(_reviewed(task, event))
        case ev.DiagnosisGiven():
            return state.with_task(replace(task, seats={**task.seats, event.seat: event.text}))
        case ev.CouncilFinished():
            state = replace(state, councils=state.councils + 1)
            return state.with_task(
                replace(task, diagnosis=event.diagnosis, council=Council.DONE, step=Step.NEXT, tries=0, session=""),
            )
        case ev.Committed():
            return state.with_task(_committed(task, event))
        case ev.TreeKept():
            return _tree_kept(state, task, event)
        case ev.BaseMoved():
            return state.with_task(fold_interruptions.base_moved(state, task, event))
        case ev.WorkLost():
            return state.with_task(fold_interruptions.work_lost(task, event))
        case ev.RolledBack():
            return state.with_task(
                replace(task, tree=event.tree, step=Step.PREPARE, tries=0, earlier=None, rollback="")
            )
        case ev.Decided():
            return fold_ends.decided(state, task, event)
        case ev.HealthChanged():
            state = replace(state, health=event.health, health_reason=event.reason)
            return state.with_task(replace(task, health=event.health, health_reason=event.reason))
        case ev.TaskEnded():
            return fold_ends.ended(state, task, event)
        case ev.GatePassed(kind=GateKind.TASK) if task.step is Step.TASK_GATE:
            return state.with_task(fold_gates.to_train(state, task))
        case ev.GatePassed(kind=GateKind.FIX) if task.step is Step.FIX_GATE:
            return state.with_task(replace(task, step=fold_gates.after_fix(task)))
        case ev.Steered():
            return state.with_task(replace(task, comments=(*task.comments, event.text)[-KEPT_COMMENTS:]))
        case ev.SkipRequested():
            return state.with_task(replace(task, skip_asked=True))
        case ev.RetryRequested():
            return fold_reopening.retried(state, task, event)
        case ev.PermissionGranted():
            return fold_reopening.allowed(state, task, (event.entry,))
        case ev.CouncilRequested():
            return fold_reopening.council_wanted(state, task)
        case ev.TaskAccepted():
            return fold_reopening.accepted(state, task, event.by)
        case ev.GatePassed():
            return state
        case _:
            assert_never(event)


def _started(state: State, task: TaskState, event: ev.TaskStarted) -> TaskState:
    return replace(
        task,
        status=Status.RUNNING,
        step=Step.NEXT,
        lane=event.lane,
        rung=event.rung,
        complexity=event.complexity,
        started_at=state.now,
        base="",
        tree="",
        good_tree="",
        good_passing=counts(state.baseline)[0] if state.baseline else -1,
    )


def _resumed(state: State, task: TaskState, event: ev.TaskStarted) -> TaskState:
    """A task that was put aside goes on from its tree."""
    return replace(
        task,
        status=Status.RUNNING,
        step=task.resumes or Step.NEXT,
        resumes=None,
        lane=event.lane,
        rung=event.rung,
        complexity=event.complexity,
        started_at=task.started_at or state.now,
        decision=None,
        reason="",
        action="",
        blocker="",
        mend=False,
        again=None,
        gate="",
        tries=0,
    )


def _tree_kept(state: State, task: TaskState, event: ev.TreeKept) -> State:
    keeps = tuple(name for name in state.keeps if name != task.id)
    if task.kept is not None and task.kept.tree == event.tree:
        task = replace(task, kept=replace(task.kept, ref=event.ref))
    return replace(state, keeps=keeps).with_task(task)


def _iteration(task: TaskState, event: ev.IterationStarted) -> TaskState:
    if task.edited is not None:  # what was judged and said before was about other words
        task = replace(task, spec=task.edited, edited=None, judged=(), sent_back=(), objection="", unproven=0)
    return replace(
        task,
        iteration=event.iteration,
        attempt=1,
        rung=event.rung,
        step=Step.ROLLBACK if task.rollback else Step.PREPARE,
        session="" if event.rung != task.session_rung else task.session,
        scope_verdict=None,
        attempt_changes=(),
        reverted=(),
        checks=(),
        findings=(),
        evidence="",
        review=None,
        overridden=False,
        error="",
        claim=Claim.NONE,
        claim_text="",
        summary="",
        tries=0,
        long=False,
        overflows=0,
        overflowed=False,
        cut_short=0,
        proof=None,
        proof_reason="",
        proofs=(),
        questions=(),
        repeats=0,
        check_errors=0,
        override="",
        approved=False,
        queued_at=0.0,
        landed=(),
        difference="",
        decision=None,
        top_next=False,
    )


def _scoped(state: State, task: TaskState, event: ev.ScopeChecked) -> TaskState:
    task = replace(
        task,
        scope_verdict=event.verdict,
        tree=event.tree,
        changes=event.changes,
        attempt_changes=(*task.attempt_changes, *event.attempt_changes) if task.attempt > 1 else event.attempt_changes,
        reverted=event.reverted,
        findings=event.findings,
        scope_findings=event.findings,
        over_bound=bounds.counted(task, event.findings),
        tries=0,
        scope_violations=task.scope_violations + (event.verdict is not Verdict.PASS and bool(event.reverted)),
    )
    if task.claim in (Claim.BLOCKED, Claim.FAILED) and not task.error:
        said = task.claim_text.strip().splitlines()
        task = replace(task, error=f"the agent says {task.claim}" + (f": {said[0]}" if said else ""))
    if task.error or bounds.reason(task):
        return replace(task, step=Step.DECIDE)
    if task.overflowed:
        return replace(task, step=Step.PREPARE, attempt=task.attempt + 1, overflowed=False)
    if event.verdict is Verdict.PASS:
        if (before := known(task)) is not None:
            return replace(before, step=Step.PERMISSION_GATE if _asks(state, before) else Step.DECIDE)
        return replace(task, step=Step.SCOPE_JUDGE if state.policy.scope_judge and task.changes else Step.CHECKS)
    if event.verdict is Verdict.FAIL and task.attempt - task.overflows - task.cut_short <= state.policy.scope_retries:
        return replace(task, step=Step.PREPARE, attempt=task.attempt + 1)
    return replace(task, step=Step.DECIDE)


def _scope_judged(task: TaskState, event: ev.ScopeJudged) -> TaskState:
    if event.in_scope:
        # An answer that comes with the last try is an answer.
        return replace(task, step=Step.CHECKS, tries=0, scope_verdict=Verdict.PASS, error="")
    said = f"out of scope by the scope judge: {event.reason}"
    return replace(task, step=Step.DECIDE, tries=0, scope_verdict=Verdict.FAIL, error=said)


def _checked(state: State, task: TaskState, event: ev.ChecksFinished) -> TaskState:
    task = replace(
        task,
        checks=_as_evidence(event),
        findings=(*task.scope_findings, *event.findings),
        evidence=event.evidence,
        proof=event.proof,
        proof_reason=event.proof_reason,
        proofs=event.proofs,
        questions=event.questions,
        tries=0,
    )
    if event.tree != task.tree:
        return replace(task, step=Step.DECIDE, error="the checks judged another tree than the task's")
    if gone := [result for result in event.results if result.required and result.missing]:
        # No rung and no council can install a tool; the work is kept, and judged once the tool is there.
        words = "; ".join(f"check {result.name}: {result.reason}" for result in gone)
        return mend(task, words, "install it, then: devteam run (or answer retry)", Step.CHECKS)
    if _asks(state, task):
        return replace(task, step=Step.PERMISSION_GATE, approved=False, queued_at=0.0)
    if event.proof is ProofVerdict.ERROR:
        if not task.check_errors:
            return replace(task, step=Step.CHECKS, check_errors=1)
        if words := _environment(state, task):
            return mend(task, words, "mend it, then: devteam run (or answer retry)", Step.CHECKS)
    passed = of_checks(task.checks, task.findings, asked=state.attended)[0] is Verdict.PASS
    if passed and task.approved and (proven(task) or task.overridden):
        return replace(task, step=Step.COMMIT)
    task = replace(task, approved=False, queued_at=0.0)
    return replace(task, step=Step.REVIEW if passed and proven(task) and state.policy.review else Step.DECIDE)


def _asks(state: State, task: TaskState) -> bool:
    return asks_permission(task, last=task.iteration >= limit(state, task))


def _as_evidence(event: ev.ChecksFinished) -> tuple[CheckResult, ...]:
    """The results; the one that only repeats the proof's verdict is shown, and not counted a second time."""
    if event.proof is None:
        return event.results
    return tuple(replace(result, required=False) if result.name == PROOF else result for result in event.results)


def _environment(state: State, task: TaskState) -> str:
    """The checks that erred and erred on the base as well: nothing in the tree mends that. Empty: the change did it."""
    before = {result.name: result.verdict for result in state.baseline}
    erred = [result for result in task.checks if result.required and result.verdict is Verdict.ERROR]
    alike = [result for result in erred if before.get(result.name) is Verdict.ERROR]
    return "; ".join(f"check {result.name}: {result.reason}" for result in alike)


def _reviewed(task: TaskState, event: ev.ReviewFinished) -> TaskState:
    """A valid review clears what its own try had counted against the reviewer."""
    failures = {role: count for role, count in task.failures.items() if role != Role.REVIEWER.value}
    other = event.tree != task.tree
    error = "the review judged another tree than the task's" if other else ""
    return replace(task, review=event.review, step=Step.DECIDE, tries=0, long=False, failures=failures, error=error)


def _committed(task: TaskState, event: ev.Committed) -> TaskState:
    """On the sprint branch: complete, whatever stood in the way before."""
    reason = (task.override or "you overrode the reviewer") if task.overridden else task.reason
    return replace(
        task,
        commit=event.commit,
        step=Step.END,
        tries=0,
        decision=Decision.COMPLETE,
        reason=reason,
        blocker="",
        action="",
    )
