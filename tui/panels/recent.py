"""The last events, each whole: at the foot of a column where there is room, the log screen everywhere else."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core import events as ev
from engine.core.wording import plural
from tui.kit.paint import Line, cells_of, crop, outside, wrap_to
from tui.kit.view import View
from tui.kit.wording import clock_time, money
from tui.panels.panel import Panel

ROWS = 3
"""Rows that one event may take."""


def event_words(event: ev.Fact) -> tuple[str, str]:
    """One event in words, and its style."""
    match event:
        case ev.SprintCreated(sprint=sprint):
            return f"sprint {sprint} created", "fg"
        case ev.RunStarted(run=run, sandbox=sandbox):
            return f"run {run} started, sandbox {sandbox}", "accent"
        case ev.RunEnded(outcome=outcome, reason=reason):
            return f"run ended: {outcome}; {reason}", "accent"
        case ev.TaskStarted(reason=reason, lane=lane):
            return f"started in lane {lane + 1}: {reason}", "fg"
        case ev.IterationStarted(iteration=iteration):
            return f"iteration {iteration}", "fg"
        case ev.EffectStarted(effect=effect):
            what = str(effect.__struct_config__.tag).replace("_", " ")
            role = getattr(effect, "role", "")
            rung = getattr(effect, "rung", None)
            return f"{what} {role} {rung.name if rung else ''}".strip(), "muted"
        case ev.AgentFinished(role=role, result=result, charged_usd=cost):
            return f"{role} ended: {result.kind.value}, {money(cost)}", "fg" if result.kind.value == "ok" else "warn"
        case ev.ScopeChecked(verdict=verdict, reverted=reverted):
            put_back = f", reverted: {', '.join(reverted)}" if reverted else ""
            return f"scope {verdict}{put_back}", "warn" if reverted else "muted"
        case ev.ChecksFinished(results=results, purpose=purpose):
            bad = [f"{result.name} {result.verdict}" for result in results if result.verdict != "PASS"]
            needed = [result for result in results if result.required]
            passed = sum(result.verdict == "PASS" for result in needed)
            said = ", ".join([*bad, *([f"{passed} of {len(needed)} pass"] if passed else [])])
            return f"{'' if purpose == 'task' else f'{purpose} '}checks: {said or 'none'}", "bad" if bad else "good"
        case ev.ReviewFinished(review=review):
            wants = f"review: {plural(len(review.issues), 'issue')}"
            return ("review: approved", "good") if review.approved else (wants, "warn")
        case ev.Decided(decision=decision, reason=reason):
            return f"{decision}: {reason}", "accent"
        case ev.HealthChanged(health=health, reason=reason):
            return f"{health}: {reason}", "fg" if health == "PROGRESSING" else "warn"
        case ev.GateOpened(kind=kind, gate=gate, title=title):
            return f"{kind} gate {gate}: {title}", "gate"
        case ev.GateAnswered(gate=gate, choice=choice, by=by):
            return f"{gate} answered: {choice}" + (f" by {by}" if by else ""), "gate"
        case ev.Committed(message=message, commit=commit):
            return f"{message} ({commit[:8]})", "good"
        case ev.TaskEnded(decision=decision, reason=reason):
            return f"{decision}: {reason}", "good" if decision == "COMPLETE" else "warn"
        case ev.BudgetWarned(scope=scope, spent_usd=spent, limit_usd=limit):
            return f"{scope} budget: {money(spent)} of {money(limit)}", "warn"
        case ev.WorkLost(reason=reason):
            return f"starts again: {reason}", "warn"
        case ev.EffectFailed(message=message):
            return f"failed: {message}", "bad"
        case ev.Noted(text=text, level=level):
            return text, {"error": "bad", "warning": "warn"}.get(level, "fg")
        case ev.Steered(text=text) | ev.LearningRecorded(text=text):
            return f"{ev.type_of(event).replace('_', ' ')}: {text}", "fg"
        case ev.PlanChanged(summary=summary) | ev.PolicyChanged(summary=summary):
            return f"{ev.type_of(event).replace('_', ' ')}: {summary}", "accent"
        case _:
            return ev.type_of(event).replace("_", " "), "muted"


def event_line(envelope: ev.Envelope, view: View, width: int) -> Line:
    head, words, style = _said(envelope, view)
    return crop([(head, "muted"), (words, style)], width)


def event_lines(envelope: ev.Envelope, view: View, width: int) -> list[Line]:
    """Whole, over as many rows as its words need."""
    head, words, style = _said(envelope, view)
    first, *more = wrap_to(words, width - cells_of(head), style, ROWS, ellipsis=view.glyphs.ellipsis)
    return [((head, "muted"), *first[1:]), *(((" " * cells_of(head), ""), *line[1:]) for line in more)]


def _said(envelope: ev.Envelope, view: View) -> tuple[str, str, str]:
    """When and for which task, what, and its style."""
    words, style = event_words(envelope.event)
    task = outside(getattr(envelope.event, "task", "") or getattr(getattr(envelope.event, "effect", None), "task", ""))
    at = clock_time(envelope.at, view.state.utc_offset)
    return f"{at}  {task}{' ' * max(1, 5 - cells_of(task))}", outside(words), style


class RecentPanel(Panel):
    """The newest events, the newest last: as many as there are rows, so there is nothing to scroll."""

    DEFAULT_CSS = "RecentPanel { overflow-y: hidden; }"

    def __init__(self, id: str = "recent") -> None:
        super().__init__(id=id)
        self.events: Iterable[ev.Envelope] = ()

    def title(self, view: View) -> tuple[str, str]:
        return "EVENTS", "l: open the log"

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        quiet = (ev.EffectStarted, ev.WorkspaceReady)
        told = [envelope for envelope in self.events if not isinstance(envelope.event, quiet)]
        rows: list[Line] = []
        for envelope in reversed(told[-height:]):
            lines = event_lines(envelope, view, width)
            if len(rows) + len(lines) > height:  # whole or not at all
                break
            rows = [*lines, *rows]
        return rows
