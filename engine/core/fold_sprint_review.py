"""What each fact means for the final review of the sprint."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.failures import Response, backoff, response_to
from engine.core.sprint_review_state import SprintReview
from engine.core.state import GateState, State
from engine.core.vocabulary import Choice


def reviewed(state: State, event: ev.SprintReviewed) -> State:
    review = replace(
        _calm(state.sprint_review),
        head=event.head,
        approved=event.approved,
        criteria=event.criteria,
        issues=event.issues,
        summary=event.summary,
        gate="",
        go=False,
        comment="",
        overridden="",
    )
    return replace(state, sprint_review=review)


def run_started(state: State) -> State:
    """What stood in the way of the last run may be gone."""
    return replace(state, sprint_review=_calm(state.sprint_review))


def agent_finished(state: State, event: ev.AgentFinished) -> State:
    """A valid answer follows as a fact of its own; an ending without one is the judge's fault, and bounded."""
    review, result = state.sprint_review, event.result
    words = f"{event.role.value}: {event.rung.agent}: {result.error or result.kind.value}"
    response = response_to(result.kind)
    match response:
        case Response.GOOD | Response.AGAIN | Response.WAIT:
            return state
        case Response.MEND:
            return replace(state, sprint_review=replace(review, blocker=words, action=result.hint))
        case Response.RETRY | Response.FRESH | Response.LONGER | Response.FAIL:
            tries = review.tries + 1
            if tries >= state.policy.retry.attempts:
                return replace(state, sprint_review=replace(review, blocker=words, action=""))
            wait = backoff(state.policy.retry, tries, event.id) if response is Response.RETRY else 0.0
            long = response is Response.LONGER
            again = replace(review, tries=tries, not_before=state.now + wait, long=long)
            return replace(state, sprint_review=again)
        case _:
            assert_never(response)


def gate_opened(state: State, event: ev.GateOpened) -> State:
    return replace(state, sprint_review=replace(state.sprint_review, gate=event.gate, go=False, comment=""))


def gate_answered(state: State, gate: GateState) -> State:
    review = state.sprint_review
    if gate.id != review.gate:
        return state
    review = replace(review, gate="")
    if gate.tree == state.head:
        if gate.choice is Choice.SKIP:
            review = replace(review, overridden=f"{gate.by or 'you'} took the sprint as it is")
        elif gate.choice in (Choice.YES, Choice.COMMENT):
            review = replace(review, go=True, comment=gate.text, rounds=0)
    return replace(state, sprint_review=review)


def _calm(review: SprintReview) -> SprintReview:
    return replace(review, tries=0, not_before=0.0, long=False, blocker="", action="")
