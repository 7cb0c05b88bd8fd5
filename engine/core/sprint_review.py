"""The final review: when all tasks are complete, one reviewer sees the whole change and all evidence.

Changes requested → the tasks concerned are opened again, at most `ROUNDS` times by itself; then the human. A reviewer
without an answer costs nobody anything but time: it is asked again, then the human is told.
"""

from __future__ import annotations

from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.effects import AnyEffect, Finish
from engine.core.gate_choices import offered
from engine.core.model import Role, TaskSpec
from engine.core.sprint_review_state import SPRINT_LANE, SprintReview
from engine.core.state import State, Status, TaskState
from engine.core.vocabulary import Choice, GateKind, Outcome

ROUNDS = 2
"""Times the tasks concerned are opened again before only a human may do it."""
FEWEST = 2
"""Tasks with criteria from which on the whole is more than what each task's own review saw."""


def due(state: State) -> bool:
    """The sprint's parts were judged one by one, and nobody has judged the whole as it is now."""
    policy, review = state.policy, state.sprint_review
    if not (policy.review and policy.final_review) or len(judged(state)) < FEWEST:
        return False
    return review.head != state.head or not (review.approved or review.overridden)


def judged(state: State) -> list[TaskState]:
    """The tasks whose criteria the whole sprint is held to."""
    return [task for task in state.tasks.values() if _made(task) and task.spec.accept]


def _made(task: TaskState) -> bool:
    return task.status is Status.COMPLETE and bool(task.commit)


def wants_changes(state: State) -> bool:
    review = state.sprint_review
    return bool(review.head) and review.head == state.head and not review.approved and not review.overridden


def concerned(state: State) -> tuple[str, ...]:
    """The complete tasks that the review objects to: named by it, by the file an issue is about, or by the human."""
    review = state.sprint_review
    named = [one.task for one in review.criteria if not one.criterion.met]
    named += [word.strip(".,:;()").removeprefix("T") for word in review.comment.split()]
    for one in review.issues:
        if one.task in state.tasks:
            named.append(one.task)
        elif one.issue.path:
            named += [task.id for task in state.tasks.values() if _touched(task, one.issue.path)][-1:]
    return tuple(name for name, task in state.tasks.items() if name in named and _made(task))


def _touched(task: TaskState, path: str) -> bool:
    return any(change.path == path for change in task.changes)


def consider(turn: Turn) -> None:
    """What follows from a review that wants changes: a gate, or the tasks concerned are opened again."""
    state, review = turn.state, turn.state.sprint_review
    if not wants_changes(state) or state.paused or not all(task.ended for task in state.tasks.values()):
        return
    names = concerned(state)
    if review.gate:
        _talk(turn, review)
    elif names and (review.go or (review.rounds < ROUNDS and not _asks(state))):
        by = "you" if review.go else "devteam"
        turn.say(ev.TasksReopened(head=state.head, tasks=names, text=review.comment, by=by))
    elif state.attended:
        turn.say(_gate(turn, review, names))


def _asks(state: State) -> bool:
    """As at the fix gate: every review that wants changes is shown first, unless that was set to auto."""
    return state.attended and not state.auto_mode(GateKind.FIX)


def desk(state: State) -> TaskState:
    """The sprint as what `Turn` calls agents for: no task, a lane of its own."""
    review = state.sprint_review
    return TaskState(
        spec=TaskSpec(id="", title="the whole sprint"),
        phase=-1,
        lane=SPRINT_LANE,
        iteration=review.rounds + 1,
        attempt=review.tries + 1,
        tries=review.tries,
        not_before=review.not_before,
        long=review.long,
        tree=state.head,
    )


def close(turn: Turn) -> list[AnyEffect]:
    """Everything else is done: ask for the review, or end with what stands in its way."""
    state, review = turn.state, turn.state.sprint_review
    if wants_changes(state):
        return [_finish(state, words(state))]
    if review.blocker or state.sprint_error:
        said = review.blocker or state.sprint_error
        action = review.action or "devteam run asks for it again"
        return [_finish(state, f"no final review: {said} — {action}")]
    asked = desk(state)
    if turn.rested(asked) and not turn.call(asked, Role.SPRINT_REVIEWER) and not turn.effects:
        outcome, reason = turn.ending or (Outcome.BLOCKED, "the final review cannot be made now")
        return [Finish(id=turn.name("sprint", "finish"), outcome=outcome, reason=f"the final review: {reason}")]
    return []


def _finish(state: State, reason: str) -> Finish:
    return Finish(id=f"{state.effect_count + 1:05d}-sprint-finish", outcome=Outcome.BLOCKED, reason=reason)


def words(state: State) -> str:
    """What the review wants, in a line, and what to type."""
    review = state.sprint_review
    first = next((one.issue.text for one in review.issues), "") or next(
        (f"unmet: {one.criterion.text}" for one in review.criteria if not one.criterion.met), review.summary
    )
    names = concerned(state)
    action = f'devteam retry {names[0]} "…"' if names else "devteam retry TASK"
    return f"the final review wants changes: {first} — {action}, or devteam run, and answer its gate"


def standing(state: State) -> str:
    """How the final review stands, in words for people; empty where none is wanted."""
    review = state.sprint_review
    if not review.head:
        return "not made: it comes when every task is complete" if state.head and due(state) else ""
    if review.overridden:
        return f"overridden: {review.overridden}"
    word = "approved" if review.approved else "changes wanted"
    stale = "" if review.head == state.head else " (of an earlier commit)"
    return f"{word}{stale}" + (f": {review.summary}" if review.summary else "")


def _gate(turn: Turn, review: SprintReview, names: tuple[str, ...]) -> ev.GateOpened:
    lines = []
    if review.rounds >= ROUNDS:
        lines.append(f"Tasks were opened again {review.rounds} times, and the reviewer is not satisfied.")
    lines.append(
        f"yes opens again: {', '.join(names)}"
        if names
        else "No task is named: comment with the id of the one to open again."
    )
    lines += [_issue(one.task, one.issue.text, one.issue.fix) for one in review.issues]
    lines += [f"UNMET {one.task}: {one.criterion.text}" for one in review.criteria if not one.criterion.met]
    lines += [f"Summary: {review.summary}"] if review.summary else []
    return ev.GateOpened(
        gate=turn.gate_name(),
        task="",
        kind=GateKind.SPRINT,
        title=f"Final review of {turn.state.sprint}: changes wanted",
        body="\n".join(lines),
        attempt=review.rounds + 1,
        choices=tuple(choice for choice in offered(GateKind.SPRINT) if names or choice is not Choice.YES),
        tree=turn.state.head,
        forced=True,
    )


def _issue(task: str, text: str, fix: str) -> str:
    return f"ISSUE{f' in {task}' if task else ''}: {text}" + (f"\n  FIX: {fix}" if fix else "")


def _talk(turn: Turn, review: SprintReview) -> None:
    """What the human asks at the gate is answered by a read-only agent, and changes nothing."""
    state = turn.state
    gate = state.gates.get(review.gate)
    pending = next((question for question, answer in gate.questions if not answer), "") if gate else ""
    if gate is None or not pending or any(call.gate == gate.id for call in state.calls_in_flight()):
        return
    if reason := turn.refusal(desk(state), Role.ANSWERER):
        turn.say(ev.GateReplied(gate=gate.id, id="", answer=f"(no answer now: {reason})"))
    else:
        turn.call(desk(state), Role.ANSWERER, gate=gate.id, question=pending)
