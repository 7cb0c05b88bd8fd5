"""What the user is told while they are away: which facts are news, in which words, and when they want quiet. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from engine.core import events as ev
from engine.core.effects import Wait
from engine.core.model import Decision, Struct
from engine.core.state import State
from engine.core.vocabulary import GateKind, Outcome

DAY = 86_400.0
MINUTE = 60.0


class NoticeKind(StrEnum):
    GATE = "gate"
    """Something waits for your answer."""
    QUESTION = "question"
    """Only you know, or may permit it."""
    DONE = "done"
    BLOCKED = "blocked"
    """A task, or the run, needs you."""
    LIMIT = "limit"
    """A provider's limit, or the calls of the hour: it waits, or has ended on it."""
    BREAKER = "breaker"
    """An agent failed so often that it is left alone for a while."""
    BUDGET = "budget"
    """Money is running out, or has."""
    ENDED = "ended"
    """The run is over in another way: failed, stopped, an error."""


class Notice(Struct, frozen=True, kw_only=True):
    """One piece of news; its JSON is what notify_command gets on stdin."""

    kind: NoticeKind
    message: str
    sprint: str = ""
    task: str = ""
    gate: str = ""
    action: str = ""
    """What to type about it."""
    at: float = 0.0
    repository: str = ""


def notice_of(envelope: ev.Envelope, state: State) -> Notice | None:
    """What a fact means to somebody who is not looking; None: nothing."""
    event = envelope.event

    def say(kind: NoticeKind, message: str, *, task: str = "", gate: str = "", action: str = "") -> Notice:
        about = {"task": task, "gate": gate, "action": action}
        return Notice(kind=kind, message=message, sprint=state.sprint, at=envelope.at, **about)

    match event:
        case ev.GateOpened():
            action = f"devteam answer {event.gate} {'|'.join(event.choices)}"
            said = f"{event.gate}: {event.title}"
            return say(_of_gate(event.kind), said, task=event.task, gate=event.gate, action=action)
        case ev.TaskEnded(decision=Decision.BLOCKED | Decision.HALT):
            waiting = state.tasks[event.task].questions if event.task in state.tasks else ()
            kind = NoticeKind.QUESTION if waiting else NoticeKind.BLOCKED
            return say(kind, f"task {event.task}: {event.reason}", task=event.task, action=event.action)
        case ev.TaskEnded(decision=Decision.BUDGET_EXHAUSTED):
            return say(NoticeKind.BUDGET, f"task {event.task}: {event.reason}", task=event.task, action=event.action)
        case ev.BudgetWarned():
            said = f"${event.spent_usd:.2f} of ${event.limit_usd:.2f} ({event.scope}) are spent"
            return say(NoticeKind.BUDGET, said, action="devteam cost")
        case ev.EffectStarted(effect=Wait(dependency=dependency) as wait) if dependency:
            known = state.breakers.get(dependency)
            limited = dependency == "calls" or state.limits.get(dependency, 0.0) >= wait.until
            kind = NoticeKind.LIMIT if limited or known is None or not known.opened_at else NoticeKind.BREAKER
            minutes = max(1, round((wait.until - envelope.at) / MINUTE))
            return say(kind, f"{wait.reason}; it goes on in {minutes} min", task=wait.task)
        case ev.MachineProbed(ok=False) if state.probes == 1:  # it did not pass by itself within a moment
            return say(NoticeKind.BLOCKED, f"the run is suspended: {state.suspended_reason}", action="devteam status")
        case ev.RunEnded():
            return say(_of_outcome(event.outcome), f"{event.outcome}: {event.reason}", action="devteam status")
        case _:
            return None


def _of_gate(kind: GateKind) -> NoticeKind:
    match kind:
        case GateKind.QUESTION | GateKind.PERMISSION:
            return NoticeKind.QUESTION
        case GateKind.BLOCKED:
            return NoticeKind.BLOCKED
        case GateKind.FIX | GateKind.TASK | GateKind.PLAN | GateKind.PRD | GateKind.SPRINT | GateKind.LEARNING:
            return NoticeKind.GATE
        case _:
            assert_never(kind)


def _of_outcome(outcome: Outcome) -> NoticeKind:
    match outcome:
        case Outcome.DONE:
            return NoticeKind.DONE
        case Outcome.BLOCKED:
            return NoticeKind.BLOCKED
        case Outcome.LIMIT:
            return NoticeKind.LIMIT
        case Outcome.FAILED | Outcome.STOPPED | Outcome.CANCELLED | Outcome.INTERRUPTED | Outcome.ERROR:
            return NoticeKind.ENDED
        case _:
            assert_never(outcome)


def quiet_for(hours: str, at: float, utc_offset: float) -> float:
    """Seconds until the quiet hours ("22:00-07:00", the user's clock) end; 0: it is not quiet now."""
    first, _, last = hours.partition("-")
    if not last:
        return 0.0
    begin, end = _seconds(first), _seconds(last)
    now = (at + utc_offset) % DAY
    if (now - begin) % DAY < (end - begin) % DAY:
        return (end - now) % DAY
    return 0.0


def together(held: tuple[Notice, ...]) -> Notice:
    """What came in the quiet hours, as one piece of news: of the kind of the last."""
    last = held[-1]
    if len(held) == 1:
        return last
    said = f"{len(held)} things in your quiet hours: " + "; ".join(one.message for one in held)
    return Notice(
        kind=last.kind, message=said, sprint=last.sprint, at=last.at, action=last.action, repository=last.repository
    )  # fmt: skip


def _seconds(text: str) -> float:
    hour, _, minute = text.strip().partition(":")
    return int(hour) * 3600.0 + int(minute) * MINUTE
