"""The Bug Council: five read-only diagnoses in parallel at the top rung, one synthesis, once per task."""

from __future__ import annotations

from engine.core.admission import Turn
from engine.core.effects import CallAgent, Wait
from engine.core.events import TaskEnded
from engine.core.model import Decision, Role
from engine.core.state import TaskState

SEATS = ("root-cause-analyst", "code-archaeologist", "pattern-matcher", "systems-thinker", "adversarial-tester")


def sit(turn: Turn, task: TaskState) -> None:
    """Ask the seats that have not spoken; then the synthesis."""
    busy = turn.state.task_in_flight(task.id)
    if any(isinstance(effect, Wait) for effect in busy) or not turn.rested(task):
        return
    asked = {effect.seat for effect in busy if isinstance(effect, CallAgent)}
    waiting = [seat for seat in SEATS if seat not in task.seats and seat not in asked]
    for seat in waiting:
        if not turn.call(task, Role.COUNCILLOR, seat=seat):
            return
    if waiting or busy:
        return
    if not any(task.seats.values()):
        reason = "no member of the Bug Council could give a diagnosis"
        action = f"devteam retry {task.id}"
        turn.say(TaskEnded(task=task.id, decision=Decision.BLOCKED, reason=reason, action=action))
        return
    turn.call(task, Role.SYNTHESIST)
