"""What opening, asking and answering a gate mean for state. An answer that means nothing here changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from msgspec.structs import replace

from engine.core import disputes, fold_planning, fold_sprint_review, gates, repeats
from engine.core import events as ev
from engine.core.effects import CallAgent
from engine.core.grant_places import answers
from engine.core.model import Decision, Question
from engine.core.state import GateState, State, TaskState
from engine.core.task_state import Step
from engine.core.vocabulary import Choice, Council, GateKind, Outcome, Stopping

KEPT_GATES = 40
KEPT_COMMENTS = 20


def opened(state: State, event: ev.GateOpened) -> State:
    gate = GateState(
        id=event.gate,
        task=event.task,
        kind=event.kind,
        title=event.title,
        body=event.body,
        attempt=event.attempt,
        choices=event.choices,
        tree=event.tree,
        evidence=event.evidence,
        forced=event.forced,
        opened_at=state.now,
    )
    known = {**state.gates, event.gate: gate}
    if len(known) > KEPT_GATES:
        oldest = next((name for name, kept in known.items() if not kept.open), "")
        known.pop(oldest, None)
    state = replace(state, gates=known, gate_count=state.gate_count + 1)
    if event.kind is GateKind.SPRINT:
        return fold_sprint_review.gate_opened(state, event)
    if event.kind is GateKind.LEARNING:
        return disputes.gate_opened(state, event)
    if not event.task:
        return fold_planning.gate_opened(state, event)
    task = state.tasks.get(event.task)
    return state if task is None else state.with_task(replace(task, gate=event.gate))


def answered(state: State, event: ev.GateAnswered) -> State:
    gate = state.gates.get(event.gate)
    if gate is None or not gate.open:
        return state
    gate = replace(gate, choice=event.choice, text=event.text, by=event.by)
    state = replace(state, gates={**state.gates, event.gate: gate})
    if not state.running and state.outcome is Outcome.BLOCKED and not state.open_gates():
        state = replace(state, outcome=None, outcome_reason="")  # what the run ended for is there now
    if event.choice == Choice.AUTO:
        state = replace(state, auto={**state.auto, gate.kind: True})
    if event.choice == Choice.STOP:
        state = replace(state, stopping=Stopping.GRACEFUL)
    if gate.kind is GateKind.SPRINT:
        return fold_sprint_review.gate_answered(state, gate)
    if gate.kind is GateKind.LEARNING:
        return disputes.gate_answered(state, gate)
    if not gate.task:
        return fold_planning.gate_answered(state, gate)
    task = state.tasks.get(gate.task)
    if task is None or task.gate != gate.id:
        return state
    comments = (*task.comments, gate.text)[-KEPT_COMMENTS:] if gate.text.strip() else task.comments
    task = replace(task, gate="", comments=comments)
    if gates.approves(gate.kind, event.choice) and gate.tree != task.tree:
        return state.with_task(task)  # Void: the step stands, so the question is put again for the tree there is now.
    match gate.kind:
        case GateKind.FIX:
            task = _fix(state, task, event.choice, gate.by or "you")
        case GateKind.TASK:
            task = _task(state, task, event.choice)
        case GateKind.BLOCKED:
            task = _blocked(state, task, event.choice, gate.by or "you")
        case GateKind.PERMISSION:
            task = _permission(state, task, event.choice)
        case GateKind.QUESTION | GateKind.PLAN | GateKind.PRD | GateKind.SPRINT | GateKind.LEARNING:
            pass
        case _:
            assert_never(gate.kind)
    return state.with_task(task)


def to_train(state: State, task: TaskState) -> TaskState:
    """Approved: it queues for its commit, behind those that were there before it."""
    return replace(task, step=Step.COMMIT, approved=True, queued_at=task.queued_at or state.now)


def after_fix(task: TaskState) -> Step:
    """Where a task goes whose review the human has passed on: as it was decided."""
    match task.decision:
        case Decision.ITERATE | Decision.ESCALATE | None:
            return Step.NEXT
        case Decision.COUNCIL:
            return Step.COUNCIL
        case Decision.BLOCKED:
            return Step.BLOCKED_GATE
        case Decision.HALT | Decision.BUDGET_EXHAUSTED | Decision.PARKED | Decision.SKIPPED:
            return Step.END
        case Decision.COMPLETE:
            return Step.TASK_GATE
        case _:
            assert_never(task.decision)


def another_round(state: State, task: TaskState) -> TaskState:
    """The human's own words start an iteration, whatever was decided before them."""
    council = Council.NONE if task.council is Council.SITTING else task.council
    granted = task.granted + (task.iteration >= limit(state, task))
    return replace(task, step=Step.NEXT, council=council, granted=granted, blocker="", action="")


def _fix(state: State, task: TaskState, choice: Choice, by: str) -> TaskState:
    match choice:
        case Choice.YES | Choice.AUTO:
            return replace(task, step=after_fix(task))
        case Choice.COMMENT:
            return another_round(state, task)
        case Choice.SKIP:
            council = Council.NONE if task.council is Council.SITTING else task.council
            override = f"{by} overrode the reviewer"
            return replace(task, step=Step.TASK_GATE, overridden=True, override=override, council=council)
        case (
            Choice.ASK
            | Choice.RETRY
            | Choice.STOP
            | Choice.ACCEPT
            | Choice.REPLAN
            | Choice.BLOCKED
            | Choice.EDITED
            | Choice.WITHDRAWN
            | Choice.UNKNOWN
        ):
            return task  # No answer to this gate: the step stands, and the question is put again.
        case _:
            assert_never(choice)


def _task(state: State, task: TaskState, choice: Choice) -> TaskState:
    match choice:
        case Choice.YES | Choice.AUTO:
            return to_train(state, task)
        case Choice.COMMENT:
            said = task.comments[-1] if task.comments else ""
            sent_back = (*task.sent_back, task.tree)[-KEPT_COMMENTS:]
            task = replace(task, sent_back=sent_back, objection=said, judged=repeats.with_present(task))
            return another_round(state, task)
        case (
            Choice.SKIP
            | Choice.ASK
            | Choice.RETRY
            | Choice.STOP
            | Choice.ACCEPT
            | Choice.REPLAN
            | Choice.BLOCKED
            | Choice.EDITED
            | Choice.WITHDRAWN
            | Choice.UNKNOWN
        ):
            return task
        case _:
            assert_never(choice)


def _blocked(state: State, task: TaskState, choice: Choice, by: str) -> TaskState:
    match choice:
        case Choice.RETRY if task.again is not None:
            return replace(task, step=task.again, again=None, blocker="", action="", mend=False, tries=0, limit_waits=0)
        case Choice.RETRY:
            granted = task.granted + (task.iteration >= limit(state, task))
            # What stood in the way may be mended outside the tree: it is judged anew.
            again = replace(task, step=Step.NEXT, blocker="", action="", failures={}, granted=granted)
            return replace(again, session="", judged=())
        case Choice.SKIP:
            return replace(task, step=Step.END, blocker="", decision=Decision.SKIPPED, reason=f"skipped by {by}")
        case Choice.ACCEPT:
            return accept(state, task, by)
        case Choice.REPLAN:
            said = f"{by} has it planned anew; {task.blocker or task.reason}"
            return replace(task, step=Step.END, blocker=said, decision=Decision.BLOCKED, mend=False, again=None)
        case (
            Choice.YES
            | Choice.AUTO
            | Choice.ASK
            | Choice.COMMENT
            | Choice.STOP
            | Choice.BLOCKED
            | Choice.EDITED
            | Choice.WITHDRAWN
            | Choice.UNKNOWN
        ):
            # Stopped, or withdrawn because nobody attends any more: the step stands, and the next turn sees to it.
            return task
        case _:
            assert_never(choice)


def accept(state: State, task: TaskState, by: str) -> TaskState:
    """Committed as it is: the checks are green, and what else objected is the human's to answer for."""
    past = task.blocker or task.reason
    override = f"accepted as it is by {by}" + (f" (past: {past})" if past else "")
    task = replace(task, overridden=True, override=override, reason=override, blocker="", action="", mend=False)
    return to_train(state, replace(task, again=None))


def _permission(state: State, task: TaskState, choice: Choice) -> TaskState:
    match choice:
        case Choice.YES:
            return granted(task, tuple(question.allow for question in task.questions))
        case Choice.COMMENT:
            return another_round(state, replace(task, questions=()))
        case Choice.SKIP:
            return replace(task, step=Step.END, decision=Decision.PARKED, reason=gates.question_words(task))
        case (
            Choice.AUTO
            | Choice.ASK
            | Choice.RETRY
            | Choice.STOP
            | Choice.ACCEPT
            | Choice.REPLAN
            | Choice.BLOCKED
            | Choice.EDITED
            | Choice.WITHDRAWN
            | Choice.UNKNOWN
        ):
            return task
        case _:
            assert_never(choice)


def granted(task: TaskState, entries: tuple[str, ...]) -> TaskState:
    """The entries join the task's permissions; its tree is checked again, without a new attempt."""
    new = tuple(entry for entry in dict.fromkeys(entries) if entry and entry not in task.spec.allow)
    spec = replace(task.spec, allow=(*task.spec.allow, *new))
    return replace(
        task,
        spec=spec,
        allowed=(*task.allowed, *new),
        questions=(),
        check_errors=0,
        judged=(),
        step=Step.CHECKS,
        gate="",
    )


def still_asked(task: TaskState, entries: Sequence[str]) -> tuple[Question, ...]:
    """Questions that stay open beside those that these entries answer.

    None where they answer none of them by name: a wider permission may answer them all, and only a check can tell.
    """
    given = (*task.spec.allow, *entries)
    left = tuple(one for one in task.questions if not any(answers(entry, one.allow) for entry in given))
    return left if len(left) < len(task.questions) else ()


def asked(state: State, event: ev.GateAsked) -> State:
    return _talk(state, event.gate, lambda gate: (*gate.questions, (event.question, "")))


def replied(state: State, gate_id: str, answer: str) -> State:
    return _talk(state, gate_id, lambda gate: _answer(gate, answer))


def unanswered(state: State, effect_id: str, reason: str) -> State:
    """A question is asked once: an agent that cannot answer it has said so."""
    effect = state.inflight.get(effect_id)
    return replied(state, effect.gate, f"(no answer: {reason})") if isinstance(effect, CallAgent) else state


def limit(state: State, task: TaskState) -> int:
    """Iterations the task may take, with those a human added."""
    return state.policy.max_iterations + task.granted


def _talk(state: State, gate_id: str, talk: Callable[[GateState], tuple[tuple[str, str], ...]]) -> State:
    gate = state.gates.get(gate_id)
    if gate is None:
        return state
    return replace(state, gates={**state.gates, gate_id: replace(gate, questions=talk(gate))})


def _answer(gate: GateState, answer: str) -> tuple[tuple[str, str], ...]:
    asked = list(gate.questions)
    for index, (question, known) in enumerate(asked):
        if not known:
            asked[index] = (question, answer or "(no answer)")
            break
    return tuple(asked)
