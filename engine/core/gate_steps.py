"""Where a task stands before a human: the question is put, or passed where nobody is asked, and the task goes on."""

from __future__ import annotations

from engine.core import closing, gates
from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.model import Decision
from engine.core.state import TaskState
from engine.core.task_state import Step
from engine.core.verdict import for_human
from engine.core.vocabulary import Council, GateKind, Outcome
from engine.core.wording import plural


def iterate(turn: Turn, task: TaskState) -> None:
    """The next iteration, at the ladder's rung, while there are iterations left."""
    state = turn.state
    limit = state.policy.max_iterations + task.granted
    if task.iteration >= limit:
        reason = f"max_iterations_reached: {plural(task.iteration, 'iteration')}; {task.reason}".removesuffix("; ")
        action = closing.again_or_as_it_is(task)
        turn.say(ev.TaskEnded(task=task.id, decision=Decision.HALT, reason=reason, action=action))
        return
    top = len(state.policy.ladder.rungs) - 1
    rung = top if task.top_next or task.council is Council.DONE else min(task.rung, top)
    turn.say(ev.IterationStarted(task=task.id, iteration=task.iteration + 1, rung=rung))


def ask(turn: Turn, task: TaskState) -> None:
    """The gate of the task's step."""
    if task.gate:
        return
    if task.step is Step.FIX_GATE:
        _fix(turn, task)
    elif task.step is Step.TASK_GATE:
        _task(turn, task)
    elif task.step is Step.PERMISSION_GATE:
        _permission(turn, task)
    else:
        _blocked(turn, task)


def _fix(turn: Turn, task: TaskState) -> None:
    state = turn.state
    if gates.fix_gate_needed(state, task):
        turn.say(gates.open_fix(state, task, turn.gate_name()))
    elif task.decision in (Decision.ITERATE, Decision.ESCALATE):
        iterate(turn, task)
    else:
        by = "auto" if state.attended else "unattended"
        turn.say(ev.GatePassed(task=task.id, kind=GateKind.FIX, by=by, tree=task.tree))


def _task(turn: Turn, task: TaskState) -> None:
    state = turn.state
    if for_human(task) and not state.attended:
        turn.say(gates.nobody_looked(task))
    elif state.attended and (for_human(task) or not state.auto_mode(GateKind.TASK)):
        turn.say(gates.open_task(state, task, turn.gate_name()))
    else:
        turn.say(gates.pass_task(state, task))


def _permission(turn: Turn, task: TaskState) -> None:
    """Asked now, or parked: the sprint goes on, and the question waits for the morning."""
    if turn.state.attended:
        turn.say(gates.open_permission(task, turn.gate_name()))
    else:
        reason, action = gates.question_words(task), gates.question_action(task)
        turn.say(ev.TaskEnded(task=task.id, decision=Decision.PARKED, reason=reason, action=action))


def _blocked(turn: Turn, task: TaskState) -> None:
    if named := gates.name_blocker(task):
        turn.say(named)
    elif turn.state.attended:
        turn.say(gates.open_blocked(turn.state, task, turn.gate_name()))
    elif task.mend:
        turn.finish(Outcome.BLOCKED, f"{task.id}: {task.blocker}" + (f" — {task.action}" if task.action else ""))
    elif task.blocker or task.decision is Decision.BLOCKED:
        turn.say(closing.task_end(task))
    else:
        iterate(turn, task)
