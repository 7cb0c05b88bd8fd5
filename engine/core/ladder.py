"""The ladder of models: when to stay, climb, or call the council.

classic counts failures at each rung; index takes the rung with the least expected cost per success, from what this
repository's sprints have measured. Both call the council when stuck at the top, once, and both end after it.
"""

from __future__ import annotations

from engine.core.index_ladder import Attempt, RungStats, added, choose, measure
from engine.core.model import Decision, Role, Struct
from engine.core.state import State, TaskState
from engine.core.wording import plural


class Climb(Struct, frozen=True, kw_only=True):
    """What the ladder says after a failure."""

    decision: Decision
    rung: int
    reason: str


def after_failure(state: State, task: TaskState, stuck: str) -> Climb:
    """Stay, climb, or the council: once, then one attempt, then blocked."""
    policy = state.policy.ladder
    top = len(policy.rungs) - 1
    rung = min(task.rung, top)
    if task.council == "done":
        return Climb(decision=Decision.BLOCKED, rung=top, reason="the attempt after the Bug Council failed too")
    if stuck and rung == top:
        return Climb(decision=Decision.COUNCIL, rung=top, reason=f"stuck: {stuck} at the top rung")
    if policy.policy == "index":
        return _by_index(state, task, rung, stuck)
    return _by_count(state, task, rung, stuck)


def _by_count(state: State, task: TaskState, rung: int, stuck: str) -> Climb:
    """Classic: so many failures at a rung, or stuck there → the next one; at the top → the council."""
    policy = state.policy.ladder
    failures = task.failures.get(Role.IMPLEMENTER.value, 0) + 1
    if stuck:
        why = f"stuck: {stuck}"
    elif failures >= policy.threshold(rung):
        why = plural(failures, "consecutive failure")
    else:
        return Climb(decision=Decision.ITERATE, rung=rung, reason=f"failure {failures} of {policy.threshold(rung)}")
    if rung < len(policy.rungs) - 1:
        return Climb(decision=Decision.ESCALATE, rung=rung + 1, reason=why)
    return Climb(decision=Decision.COUNCIL, rung=rung, reason=f"{why} at the top rung")


def _by_index(state: State, task: TaskState, rung: int, stuck: str) -> Climb:
    """Index: the cheapest expected success from here on up; stuck, from the next rung on. Not worth it: the human."""
    policy = state.policy.ladder
    top = len(policy.rungs) - 1
    failed = [0] * len(policy.rungs)
    for record in task.history:
        if record.at >= task.started_at and record.decision is not Decision.COMPLETE and record.rung <= top:
            failed[record.rung] += 1
    failed[rung] += 1
    worth = min(policy.task_value_usd, state.policy.budget.session_usd or policy.task_value_usd)
    choice = choose(_measured(state), failed, rung + bool(stuck), worth)
    why = f"stuck: {stuck}; {choice.reason}" if stuck else choice.reason
    if choice.rung is None:
        return Climb(decision=Decision.BLOCKED, rung=rung, reason=why)
    decision = Decision.ITERATE if choice.rung == rung else Decision.ESCALATE
    return Climb(decision=decision, rung=choice.rung, reason=why)


def _measured(state: State) -> tuple[RungStats, ...]:
    """This sprint's attempts and those of the sprints before it."""
    own = measured(state)
    return tuple(
        added(own[rung.name], state.measured.get(rung.name, RungStats())) for rung in state.policy.ladder.rungs
    )


def measured(state: State) -> dict[str, RungStats]:
    """What this sprint's attempts say of each rung, by its name; a call's price is the rung's average."""
    rungs = state.policy.ladder.rungs
    usage = [state.usage_by_rung.get(rung.name) for rung in rungs]
    prices = [used.cost_usd / used.calls if used is not None and used.calls else 0.0 for used in usage]
    attempts = [
        [
            Attempt(rung=past.rung, ok=past.decision is Decision.COMPLETE, cost_usd=prices[past.rung])
            for past in task.history
            if past.rung < len(rungs)
        ]
        for task in state.tasks.values()
    ]
    stats = measure(attempts, [rung.reserve_usd for rung in rungs])
    return {rung.name: one for rung, one in zip(rungs, stats, strict=True)}
