"""The ladder of models: when to stay, climb, or call the council."""

from __future__ import annotations

from engine.core.model import Decision, Role, Struct
from engine.core.state import State, TaskState


class Climb(Struct, frozen=True, kw_only=True):
    """What the ladder says after a failure."""

    decision: Decision
    rung: int
    reason: str


def after_failure(state: State, task: TaskState, stuck: str) -> Climb:
    """Classic: so many failures at a rung → the next one; at the top, or stuck there → the council, once."""
    policy = state.policy.ladder
    rung, top = min(task.rung, len(policy.rungs) - 1), len(policy.rungs) - 1
    failures = task.failures.get(Role.IMPLEMENTER.value, 0) + 1
    if task.council == "done":
        return Climb(decision=Decision.BLOCKED, rung=top, reason="the attempt after the Bug Council failed too")
    if stuck:
        why = f"stuck: {stuck}"
    elif failures >= policy.threshold(rung):
        why = f"{failures} consecutive failure{'s' if failures > 1 else ''}"
    else:
        return Climb(decision=Decision.ITERATE, rung=rung, reason=f"failure {failures} of {policy.threshold(rung)}")
    if rung < top:
        return Climb(decision=Decision.ESCALATE, rung=rung + 1, reason=why)
    return Climb(decision=Decision.COUNCIL, rung=top, reason=f"{why} at the top rung")
