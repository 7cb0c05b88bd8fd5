"""What the end of an agent call means: accounting first, then by role."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from engine.core import budget
from engine.core.events import AgentFinished
from engine.core.failures import PROVIDER_KINDS, Response, backoff, response_to
from engine.core.fold_spend import UNKNOWN_RESET, account
from engine.core.model import AgentResult, Decision, Diagnosis, ResultKind, Role, Rung, Verdict
from engine.core.state import State, TaskState
from engine.core.task_state import Step
from engine.core.vocabulary import Council

MAX_LIMIT_WAITS = 50
"""A provider that says "limit" for ever must not hold a sprint for ever."""
SESSION_CALLS = 8
"""Calls of one session that are remembered for its summary."""


def finished(state: State, event: AgentFinished) -> State:
    """Counted once; what it cost is shared by the tasks it was about."""
    state = account(state, event)
    members = event.tasks or (event.task,)
    share = budget.sane(event.charged_usd, event.reserved_usd) / len(members)
    for name in members:
        if name in state.tasks:
            state = _finished_for(state, state.tasks[name], event, share)
    return state


def _finished_for(state: State, task: TaskState, event: AgentFinished, share_usd: float) -> State:
    rung_name = event.rung.name
    counted = task.calls.get(rung_name, 0) + (task.id == event.task)
    task = replace(
        task,
        calls={**task.calls, rung_name: counted},
        spent_usd=task.spent_usd + share_usd,
        attempts_usd=task.attempts_usd + (share_usd if event.role is Role.IMPLEMENTER else 0.0),
    )
    match event.role:
        case Role.IMPLEMENTER:
            task = _implementer(state, task, event)
        case Role.REVIEWER:
            task = _reviewer(state, task, event)
        case Role.SCOPE_JUDGE:
            task = _scope_judge(state, task, event)
        case Role.COUNCILLOR:
            task = _councillor(state, task, event)
        case Role.SYNTHESIST:
            task = _synthesist(state, task, event)
        case Role.ANSWERER | Role.PLANNER | Role.PLAN_REVIEWER | Role.GATHERER | Role.PRD_WRITER | Role.SPRINT_REVIEWER:
            pass
        case _:
            assert_never(event.role)
    return state.with_task(task)


# ── accounting ─────────────────────────────────────────────────────────────────────────────────────────────────────


# ── roles ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _implementer(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    result = event.result
    words = _words(event.rung.agent, result)
    tries = task.tries + 1
    response = response_to(result.kind)
    match response:
        case Response.GOOD:
            return replace(
                task,
                step=Step.SCOPE,
                session=result.session,
                session_rung=_index(state, event.rung),
                session_calls=_session_calls(task, event),
                earlier=None,
                claim=result.claim,
                claim_text=result.claim_text,
                summary=result.text,
                tries=0,
                long=False,
                limit_waits=0,
            )
        case Response.WAIT:
            return _go_on(state, _limit_wait(task, words), event) if _worked(result) else _limit_wait(task, words)
        case Response.RETRY if tries < state.policy.retry.attempts:
            return replace(
                task,
                step=Step.PREPARE,
                tries=tries,
                not_before=state.now + backoff(state.policy.retry, tries, event.id),
            )
        case Response.FRESH:
            # The work so far is kept in scope for a fresh session that is told of it; too often, the iteration fails.
            overflows = task.overflows + 1
            again = overflows < state.policy.retry.attempts
            return replace(
                task,
                step=Step.SCOPE,
                overflows=overflows,
                overflowed=again,
                earlier=event.summary,
                session="",
                error="" if again else words,
                tries=0,
                long=False,
            )
        case Response.LONGER if not task.long:
            return _go_on(state, replace(task, long=True), event)
        case Response.MEND:
            return mend(task, words, result.hint, Step.PREPARE)
        case Response.FAIL if result.kind is ResultKind.DENIED and task.feedback and task.feedback.error == words:
            # No rung and no council can grant what was refused twice: that is a human's to give.
            return mend(task, words, result.hint, Step.PREPARE)
        case Response.AGAIN:
            return replace(task, step=Step.PREPARE)
        case Response.RETRY if result.kind in PROVIDER_KINDS:
            return _wait_out(state, task, words)
        case Response.RETRY if result.silent:
            return mend(
                task,
                words,
                result.hint or f"run {event.rung.agent} by hand: it ends before it says a word",
                Step.PREPARE,
            )
        case Response.RETRY:
            return replace(task, step=Step.DECIDE, error=words, tries=0, session="")
        case Response.LONGER | Response.FAIL:
            # What a failed attempt left is looked at and kept in scope; the iteration fails all the same.
            return replace(task, step=Step.SCOPE, error=words, tries=0, long=False, session="")
        case _:
            assert_never(response)


def _session_calls(task: TaskState, event: AgentFinished) -> tuple[str, ...]:
    resumed = bool(task.session) and event.result.session == task.session
    return (*task.session_calls, event.id)[-SESSION_CALLS:] if resumed else (event.id,)


def _reviewer(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    """A valid review follows as a fact of its own; an ending without one is a failed try."""
    result = event.result
    words = _words(event.rung.agent, result)
    response = response_to(result.kind)
    if response is Response.WAIT:
        return _limit_wait(task, words, Step.REVIEW)
    if response is Response.MEND:
        return mend(task, words, result.hint, Step.REVIEW)
    if response is Response.AGAIN:
        return task
    tries = task.tries + 1
    role = Role.REVIEWER.value
    if tries < state.policy.retry.attempts:
        wait = backoff(state.policy.retry, tries, event.id) if response is Response.RETRY else 0.0
        return replace(task, tries=tries, long=response is Response.LONGER, not_before=state.now + wait)
    rung = state.rung_for(task, Role.REVIEWER)
    if rung < len(state.policy.ladder.rungs) - 1:
        return replace(task, tries=0, role_rungs={**task.role_rungs, role: rung + 1})
    failures = {**task.failures, role: task.failures.get(role, 0) + 1}
    said = f"no valid review after {tries} tries: {words}"
    return _judge_is_silent(replace(task, failures=failures), said, Step.REVIEW)


def _scope_judge(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    """Its answer follows as a fact of its own; without one the scope is not known, and the iteration fails."""
    result = event.result
    words = _words(event.rung.agent, result)
    response = response_to(result.kind)
    match response:
        case Response.WAIT:
            return _limit_wait(task, words, Step.SCOPE_JUDGE)
        case Response.MEND:
            return mend(task, words, result.hint, Step.SCOPE_JUDGE)
        case Response.AGAIN:
            return task
        case Response.GOOD | Response.RETRY | Response.FRESH | Response.LONGER | Response.FAIL:
            tries = task.tries + 1
            if tries < state.policy.retry.attempts:
                wait = backoff(state.policy.retry, tries, event.id)
                return replace(task, tries=tries, not_before=state.now + wait)
            said = f"no answer of the scope judge after {tries} tries: {words}"
            return _judge_is_silent(replace(task, scope_verdict=Verdict.ERROR), said, Step.SCOPE_JUDGE)
        case _:
            assert_never(response)


def _councillor(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    """A diagnosis follows as a fact of its own; a seat that gives none twice stays empty."""

    def no_diagnosis(wait: float) -> TaskState:
        tries = task.seat_tries.get(event.seat, 0) + 1
        waiting = replace(
            task,
            seat_tries={**task.seat_tries, event.seat: tries},
            not_before=max(task.not_before, state.now + wait),
        )
        return replace(waiting, seats={**waiting.seats, event.seat: ""}) if tries >= 2 else waiting

    return _at_the_council(state, task, event, task.seat_tries.get(event.seat, 0) + 1, no_diagnosis)


def _synthesist(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    tries = task.tries + 1

    def no_synthesis(wait: float) -> TaskState:
        if tries < state.policy.retry.attempts:
            return replace(task, tries=tries, not_before=state.now + wait)
        return replace(task, tries=0, diagnosis=_unsynthesised(task), council=Council.DONE, step=Step.NEXT)

    return _at_the_council(state, task, event, tries, no_synthesis)


def _at_the_council(
    state: State, task: TaskState, event: AgentFinished, tries: int, without: Callable[[float], TaskState]
) -> TaskState:
    """A call of the council: `without` says what follows when it gave nothing, and the wait before another try."""
    words = _words(event.rung.agent, event.result)
    response = response_to(event.result.kind)
    match response:
        case Response.AGAIN:
            return task
        case Response.WAIT:
            return _limit_wait(task, words, Step.COUNCIL)
        case Response.MEND:
            return mend(task, words, event.result.hint, Step.COUNCIL)
        case Response.GOOD | Response.RETRY | Response.FRESH | Response.LONGER | Response.FAIL:
            return without(backoff(state.policy.retry, tries, event.id) if response is Response.RETRY else 0.0)
        case _:
            assert_never(response)


def _unsynthesised(task: TaskState) -> Diagnosis:
    said = "\n\n".join(f"{seat}: {text}" for seat, text in task.seats.items() if text)
    return Diagnosis(root_cause=said or "the council gave no diagnosis", recommended_fix="see the diagnoses above")


def _limit_wait(task: TaskState, words: str, step: Step = Step.PREPARE) -> TaskState:
    waits = task.limit_waits + 1
    if waits > MAX_LIMIT_WAITS:
        return mend(task, f"{words} ({waits} times)", "", step)
    return replace(task, step=step, limit_waits=waits)


def _worked(result: AgentResult) -> bool:
    """The call had begun before it was cut short: there may be something in the tree."""
    return bool(result.session) or result.tokens.total() > 0


def _go_on(state: State, task: TaskState, event: AgentFinished) -> TaskState:
    """Cut short in the middle: what it left is held to the scope, and the same session goes on from there."""
    if task.step is Step.BLOCKED_GATE:
        return task
    session = event.result.session or task.session
    return replace(
        task,
        step=Step.SCOPE,
        overflowed=True,
        cut_short=task.cut_short + 1,
        session=session,
        session_rung=_index(state, event.rung) if session else task.session_rung,
        session_calls=_session_calls(task, event) if session else (),
    )


def _wait_out(state: State, task: TaskState, words: str) -> TaskState:
    """The provider is down for longer than a few tries: waited for, at growing intervals, and charged to nobody."""
    waits = task.limit_waits + 1
    if waits > MAX_LIMIT_WAITS:
        return mend(task, f"{words} ({waits} times)", "", Step.PREPARE)
    pause = min(UNKNOWN_RESET, 30.0 * 2 ** min(waits, 6))
    return replace(task, step=Step.PREPARE, limit_waits=waits, tries=0, not_before=state.now + pause)


def _judge_is_silent(task: TaskState, said: str, again: Step) -> TaskState:
    """The judge's fault: the tree stays as it is, nobody else is asked to do anything about it."""
    action = f"give the role another rung in [ladder.roles], or: devteam retry {task.id} --from-tree"
    return replace(
        task, step=Step.BLOCKED_GATE, blocker=said, action=action, again=again, decision=Decision.BLOCKED, tries=0
    )


def mend(task: TaskState, words: str, hint: str, again: Step) -> TaskState:
    """Blocked by something outside the task; mended, it goes on at that step."""
    return replace(task, step=Step.BLOCKED_GATE, blocker=words, action=hint, mend=True, again=again, tries=0)


def _index(state: State, rung: Rung) -> int:
    """Where the ladder has the rung that was called, which during a fall-over is not the task's own."""
    return next((index for index, own in enumerate(state.policy.ladder.rungs) if own.name == rung.name), -1)


def _words(agent: str, result: AgentResult) -> str:
    return f"{agent}: {result.error or result.kind.value}"
