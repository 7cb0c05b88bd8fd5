"""One table for what people read of a task's status, a run's outcome and a health: mark, word, sign and style.

Plan file, views, reports, command line and dashboard all read it. A sign is the name of a glyph of the dashboard's set.
"""

from __future__ import annotations

from typing import assert_never

from engine.core.model import Health, Struct
from engine.core.state import State, Status
from engine.core.vocabulary import Outcome


class Words(Struct, frozen=True, kw_only=True):
    """How one member is shown."""

    word: str
    sign: str
    style: str
    mark: str = " "
    """In a text view's checkbox, and alone on a plain line (a space is shown as a dot there)."""
    plan: str = "open"
    """The state of the plan file's checkbox."""
    said: str = ""
    """Of a health, in a sentence: the task is …"""


def _of_status(status: Status) -> Words:
    match status:
        case Status.PENDING:
            return Words(word="next", sign="wait", style="muted")
        case Status.RUNNING:
            return Words(word="run", sign="run", style="accent", mark="~", plan="in_progress")
        case Status.COMPLETE:
            return Words(word="done", sign="ok", style="good", mark="x", plan="done")
        case Status.SKIPPED:
            return Words(word="skipped", sign="skip", style="muted", mark="-", plan="skipped")
        case Status.PARKED:
            return Words(word="parked", sign="gate", style="gate", mark="?", plan="blocked")
        case Status.BLOCKED:
            return Words(word="blocked", sign="stop", style="bad", mark="!", plan="blocked")
        case Status.HALTED:
            return Words(word="halted", sign="stop", style="bad", mark="!", plan="blocked")
        case Status.BUDGET_EXHAUSTED:
            return Words(word="budget", sign="stop", style="warn", mark="!", plan="blocked")
        case _:
            assert_never(status)


_STATUSES = {status: _of_status(status) for status in Status}


def of_status(status: Status) -> Words:
    return _STATUSES[status]


def of_outcome(outcome: Outcome) -> Words:
    match outcome:
        case Outcome.DONE:
            return Words(word="DONE", sign="ok", style="good")
        case Outcome.FAILED:
            return Words(word="FAILED", sign="bad", style="bad")
        case Outcome.LIMIT:
            return Words(word="LIMIT", sign="stop", style="warn")
        case Outcome.BLOCKED:
            return Words(word="BLOCKED", sign="stop", style="bad")
        case Outcome.STOPPED:
            return Words(word="STOPPED", sign="stop", style="muted")
        case Outcome.CANCELLED:
            return Words(word="CANCELLED", sign="stop", style="muted")
        case Outcome.INTERRUPTED:
            return Words(word="INTERRUPTED", sign="stop", style="warn")
        case Outcome.ERROR:
            return Words(word="ERROR", sign="bad", style="bad")
        case _:
            assert_never(outcome)


def of_sprint(state: State) -> str:
    """How a sprint stands, in a word. A run that was only to plan may be done; its sprint is not."""
    if state.running:
        return "running"
    if state.outcome is Outcome.DONE and not all(task.ended for task in state.tasks.values()):
        return "planned"
    if state.outcome is Outcome.DONE and state.plan is None:
        return "prd"
    if state.outcome is None and state.iterations:
        return "open"  # something was opened again, and nothing runs
    return state.outcome.value if state.outcome is not None else ""


def of_phase(state: State, phase: int) -> str:
    """How a phase stands, in a word: complete only when every task of it is."""
    mine = [task.status for task in state.tasks.values() if task.phase == phase]
    if not mine or all(status is Status.PENDING for status in mine):
        return "pending"
    if all(status is Status.COMPLETE for status in mine):
        return "complete"
    if any(status in (Status.PENDING, Status.RUNNING) for status in mine):
        return "in-progress"
    return "over"  # every task has ended, and not every one is complete


def of_health(health: Health) -> Words:
    match health:
        case Health.PROGRESSING:
            sign, style, said = "dot", "good", "progressing"
        case Health.STALLED:
            sign, style, said = "half", "warn", "stuck"
        case Health.FLIP_FLOPPING:
            sign, style, said = "flip", "warn", "going in circles"
        case Health.REGRESSING:
            sign, style, said = "down", "bad", "losing ground"
        case Health.BLOCKED:
            sign, style, said = "stop", "bad", "blocked"
        case _:
            assert_never(health)
    return Words(word=health.value, sign=sign, style=style, said=said)
