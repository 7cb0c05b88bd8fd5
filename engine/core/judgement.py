"""Step D: an iteration's facts → COMPLETE, ITERATE, ESCALATE, COUNCIL, HALT, BLOCKED or BUDGET_EXHAUSTED."""

from __future__ import annotations

from engine.core import budget, health, ladder
from engine.core.events import AnyEvent, Decided, HealthChanged
from engine.core.model import Decision, Health, Verdict
from engine.core.records import record_of
from engine.core.state import State, TaskState
from engine.core.stuck import stuck
from engine.core.verdict import critical, of_task


def judge(state: State, task: TaskState) -> list[AnyEvent]:
    """The decision on the present iteration, and the health it shows."""
    record = record_of(task, None, "", state.now, asked=state.attended)
    # What went round in circles before a human opened the task again does not count against the new start.
    history = (*(past for past in task.history if past.at >= task.started_at), record)
    condition, words = health.assess(history, task.good_passing, state.policy.monitor.window)
    events: list[AnyEvent] = []
    if (condition, words) != (task.health, task.health_reason):
        events.append(HealthChanged(task=task.id, health=condition, reason=words))
    verdict, reason = of_task(task, state.policy.review, asked=state.attended)
    if verdict is Verdict.PASS:
        return [*events, _decided(task, Decision.COMPLETE, reason)]
    return [*events, _failed(state, task, condition, reason, stuck(history, state.policy.monitor.window))]


def _failed(state: State, task: TaskState, condition: Health, reason: str, circles: str) -> Decided:
    policy = state.policy
    top = len(policy.ladder.rungs) - 1
    finding = critical(task)
    if finding is not None and "security_critical" in policy.halt_conditions:
        place = f" ({finding.path}:{finding.line})" if finding.path else ""
        return _decided(task, Decision.HALT, f"security_critical: {finding.text}{place}")
    if task.iteration >= policy.max_iterations + task.granted:
        return _decided(task, Decision.HALT, f"max_iterations_reached: {task.iteration} iterations; {reason}")
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
    name, tree = "", ""
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
    )


def _decided(task: TaskState, decision: Decision, reason: str) -> Decided:
    return Decided(task=task.id, iteration=task.iteration, decision=decision, reason=reason, rung=task.rung)
