"""How tasks and runs end, and with which words. Done is proven on the sprint branch, never claimed."""

from __future__ import annotations

from collections.abc import Callable

from engine.core import disputes, sprint_review
from engine.core.admission import Turn
from engine.core.effects import AnyEffect, Finish, Land, RunChecks
from engine.core.events import TaskEnded
from engine.core.gates import acceptable, question_action
from engine.core.model import Decision, Verdict
from engine.core.state import State, Status, TaskState
from engine.core.vocabulary import Outcome
from engine.core.wording import plural

EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.FAILED: 1,
    Outcome.ERROR: 1,
    Outcome.LIMIT: 2,
    Outcome.BLOCKED: 3,
    Outcome.STOPPED: 130,
    Outcome.CANCELLED: 130,
    Outcome.INTERRUPTED: 130,
}


def finish(state: State, outcome: Outcome, reason: str) -> Finish:
    return Finish(id=f"{state.effect_count + 1:05d}-sprint-finish", outcome=outcome, reason=reason)


def stopped(state: State) -> Finish:
    if state.cancelled:
        return finish(state, Outcome.CANCELLED, "cancelled; the commits made so far are on the sprint branch")
    return finish(state, Outcome.STOPPED, "stopped; devteam run goes on where it left off")


def task_end(task: TaskState) -> TaskEnded:
    """The end of a task whose decision is made."""
    going_on = (None, Decision.ITERATE, Decision.ESCALATE, Decision.COUNCIL)
    decision = Decision.BLOCKED if task.blocker or task.decision in going_on else task.decision
    reason = task.blocker or task.reason
    action = task.action
    if decision is Decision.BLOCKED and not action:
        action = (
            f'look at: devteam report --task {task.id}; then: devteam retry {task.id} "what to do differently",'
            f' or devteam replan {task.id} "…" to have it revised or split{_or_as_it_is(task)}'
        )
    elif decision is Decision.PARKED and not action:
        action = question_action(task)
    elif decision is Decision.HALT and not action:
        action = again_or_as_it_is(task)
    elif decision is Decision.BUDGET_EXHAUSTED and not action:
        action = f"raise [budget] in .devteam/config.toml, then: devteam retry {task.id}"
    return TaskEnded(task=task.id, decision=decision or Decision.BLOCKED, reason=reason, action=action)


def again_or_as_it_is(task: TaskState) -> str:
    """What a human can do about work that ended short of complete."""
    return f'devteam retry {task.id} "what to do differently"{_or_as_it_is(task)}'


def _or_as_it_is(task: TaskState) -> str:
    return f"; its work is kept, to take it as it is: devteam accept {task.id}" if acceptable(task) else ""


def close(turn: Turn) -> list[AnyEffect]:
    """Nothing is under way and nothing can start: the final checks, landing, then the end of the run."""
    state = turn.state
    if turn.ending is not None:
        return [finish(state, *turn.ending)]
    if parked := [
        gate
        for gate in state.open_gates()
        if (gate.task not in state.tasks or not state.tasks[gate.task].ended) and disputes.waits(state, gate)
    ]:
        if state.attended and state.waits:
            return []
        names = ", ".join(f"{gate.id} ({gate.kind} {gate.task})" for gate in parked)
        said = f"waiting for an answer to {names} — devteam answer {parked[0].id} {'|'.join(parked[0].choices)}"
        return [finish(state, Outcome.BLOCKED, said)]
    waiting = [task.id for task in state.tasks.values() if task.status is Status.PARKED]
    left = [task.id for task in state.tasks.values() if not task.ended]
    if left and waiting:
        return [finish(state, Outcome.BLOCKED, f"{_questions(waiting)}; {', '.join(left)} wait for them")]
    if left:
        return [finish(state, Outcome.FAILED, f"no task can start: {', '.join(left)} wait for each other")]
    outcome, reason = outcome_of(state)
    moved = state.head and state.head != state.base
    if moved and state.policy.final_checks and state.final is None:
        if state.sprint_error:
            return [finish(state, Outcome.FAILED, state.sprint_error)]
        if not turn.sprint_free(RunChecks):
            return []
        return [
            RunChecks(
                id=turn.name("sprint", "final-checks"),
                tree=state.head_tree,
                base=state.base,
                purpose="final",
                timeout=state.policy.timeouts.checks,
            )
        ]
    if moved and outcome is Outcome.DONE and sprint_review.due(state):
        return sprint_review.close(turn)
    if moved and state.policy.auto_land and outcome is Outcome.DONE and state.land_run != state.run:
        return [Land(id=turn.name("sprint", "land"))]
    return [finish(state, outcome, reason)]


def outcome_of(state: State) -> tuple[Outcome, str]:
    """How a sprint whose tasks have all ended went."""
    by = {status: [task.id for task in state.tasks.values() if task.status is status] for status in Status}
    done, total = state.progress()
    if not total:
        return Outcome.FAILED, "the plan has no task"
    skipped = f", {len(by[Status.SKIPPED])} skipped" if by[Status.SKIPPED] else ""
    if state.final is not None and state.final is not Verdict.PASS:
        return Outcome.FAILED, f"the final checks on the sprint branch: {state.final_reason}"
    if total and len(by[Status.SKIPPED]) == total:
        return Outcome.FAILED, f"nothing was implemented: {plural(total, 'task')} skipped"
    if open_ends := [(outcome, said(by[status])) for status, outcome, said in _OPEN_ENDS if by[status]]:
        words = "; ".join(words for _, words in open_ends)
        return open_ends[0][0], f"{done} of {plural(total, 'task')} complete; {words}{skipped}"
    ticked = sum(task.id in by[Status.COMPLETE] and task.spec.done and not task.commit for task in state.tasks.values())
    before = f", {ticked} ticked off in the plan beforehand" if ticked else ""
    if ticked == done and not skipped:
        return Outcome.DONE, f"Nothing to do: {plural(done, 'task')} ticked off in the plan beforehand."
    if skipped:
        return Outcome.DONE, f"{plural(done - ticked, 'task')} implemented{before}{skipped}."
    return Outcome.DONE, f"All tasks complete. {plural(done - ticked, 'task')} implemented{before}."


def _questions(tasks: list[str]) -> str:
    return f"{plural(len(tasks), 'question')} for you about {', '.join(tasks)}: devteam questions"


_OPEN_ENDS: tuple[tuple[Status, Outcome, Callable[[list[str]], str]], ...] = (
    (Status.HALTED, Outcome.FAILED, lambda tasks: f"halted: {', '.join(tasks)}"),
    (Status.BUDGET_EXHAUSTED, Outcome.LIMIT, lambda tasks: f"out of budget: {', '.join(tasks)}"),
    (Status.PARKED, Outcome.BLOCKED, _questions),
    (Status.BLOCKED, Outcome.BLOCKED, lambda tasks: f"blocked: {', '.join(tasks)}"),
)
"""Every task that is not complete is named; the first kind there is decides how the run is called."""
