"""Step D: an iteration's facts → COMPLETE, ITERATE, ESCALATE, COUNCIL, HALT, BLOCKED or BUDGET_EXHAUSTED."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from engine.core import bounds, budget, health, ladder
from engine.core.events import AnyEvent, Decided, HealthChanged
from engine.core.model import Decision, FaultDomain, Health, ProofVerdict, Verdict
from engine.core.records import record_of
from engine.core.state import State, TaskState
from engine.core.stuck import stuck
from engine.core.task_state import Record
from engine.core.verdict import TRIES_TO_PROVE, critical, of_task
from engine.core.vocabulary import Claim, Recovery
from engine.core.wording import plural


def judge(state: State, task: TaskState) -> list[AnyEvent]:
    """The decision on the present iteration, and the health it shows."""
    record = record_of(task, None, "", state.now, asked=state.attended)
    # What went round in circles before a human opened the task again does not count against the new start.
    history = (*(past for past in task.history if past.at >= task.started_at), record)
    condition, words = health.assess(history, task.good_passing, state.policy.monitor.window)
    events: list[AnyEvent] = []
    if (condition, words) != (task.health, task.health_reason):
        events.append(HealthChanged(task=task.id, health=condition, reason=words))
    if task.edited is not None:
        said = "the plan has other words for the task since this attempt began: the next one has them"
        return [*events, _decided(task, Decision.ITERATE, said, FaultDomain.PLAN)]
    verdict, reason = of_task(task, bool(state.policy.review), asked=state.attended)
    if verdict is Verdict.PASS:
        return [*events, _decided(task, Decision.COMPLETE, reason)]
    if task.claim is Claim.BLOCKED and task.error:
        # An honest "blocked" is the plan's to mend: no rung and no council can give what is missing.
        return [*events, _decided(task, Decision.BLOCKED, reason, FaultDomain.PLAN)]
    if words := bounds.reason(task):
        return [*events, _decided(task, Decision.BLOCKED, words, FaultDomain.PLAN)]
    if task.proof is ProofVerdict.UNPROVEN and not task.error and reason.startswith(ProofVerdict.UNPROVEN.value):
        return [*events, _unproven(task, reason)]
    at_rung = list(takewhile(lambda past: past.rung == record.rung, reversed(history)))[::-1]
    at_top = task.rung >= len(state.policy.ladder.rungs) - 1
    circles = _again(record, at_rung if at_top else history) or stuck(at_rung, state.policy.monitor.window)
    return [*events, _failed(state, task, condition, reason, circles)]


def _again(record: Record, among: Sequence[Record]) -> str:
    """The tree of one of these iterations came back. At the top only its own count: a first try there is a new one."""
    if record.repeats and any(past.tree == record.tree and past.iteration < record.iteration for past in among):
        return f"the tree of iteration {record.repeats} again"
    return ""


def _unproven(task: TaskState, reason: str) -> Decided:
    """Nothing objects and nothing was shown: the next attempt is told what would show it; then a human is asked."""
    if task.unproven >= TRIES_TO_PROVE:
        said = f"nothing was shown {task.unproven + 1} times: {reason}"
        return _decided(task, Decision.BLOCKED, said, FaultDomain.PLAN)
    return _decided(task, Decision.ITERATE, reason, FaultDomain.PLAN)


def _failed(state: State, task: TaskState, condition: Health, reason: str, circles: str) -> Decided:
    policy = state.policy
    top = len(policy.ladder.rungs) - 1
    finding = critical(task)
    if finding is not None and "security_critical" in policy.halt_conditions:
        place = f" ({finding.path}:{finding.line})" if finding.path else ""
        return _decided(task, Decision.HALT, f"security_critical: {finding.text}{place}")
    if task.iteration >= policy.max_iterations + task.granted:
        spent = plural(task.iteration, "iteration")
        return _decided(task, Decision.HALT, f"max_iterations_reached: {spent}; {reason}")
    climb = ladder.after_failure(state, task, circles if policy.stuck_detection else "")
    if finding is not None and climb.decision in (Decision.ITERATE, Decision.ESCALATE) and task.rung < top:
        said = f"security-critical finding: {finding.text}"
        climb = ladder.Climb(decision=Decision.ESCALATE, rung=top, reason=said)
    if climb.decision in (Decision.ESCALATE, Decision.COUNCIL) and budget.low(state):
        left = budget.left_share(state) * 100
        said = f"Budget nearly exhausted ({left:.0f}% remaining). Cannot escalate model."
        return _decided(task, Decision.BUDGET_EXHAUSTED, said)
    if climb.decision is Decision.BLOCKED:
        return _decided(task, Decision.BLOCKED, f"{climb.reason}: {reason}")
    name, tree = Recovery.NONE, ""
    if climb.decision in (Decision.ITERATE, Decision.ESCALATE):
        name, tree = health.recovery(task, condition, policy.monitor)
    return Decided(
        task=task.id,
        iteration=task.iteration,
        decision=climb.decision,
        reason=f"{climb.reason}; {reason}",
        rung=climb.rung,
        recovery=name,
        recovery_tree=tree,
        fault=FaultDomain.CODE,
    )


def _decided(task: TaskState, decision: Decision, reason: str, fault: FaultDomain | None = None) -> Decided:
    if fault is None and decision is not Decision.COMPLETE:
        fault = FaultDomain.CODE
    return Decided(
        task=task.id, iteration=task.iteration, decision=decision, reason=reason, rung=task.rung, fault=fault
    )
