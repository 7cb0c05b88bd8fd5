"""What the repository's sprints show together: first-pass rate, attempts, who resolved what, claims, costs."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core import events as ev
from engine.core.fold import apply
from engine.core.forecast import Forecast, forecast
from engine.core.model import Decision, Role, Struct
from engine.core.state import State, Status
from engine.core.vocabulary import Council
from engine.core.wording import plural


class Statistics(Struct, frozen=True, kw_only=True):
    """Sums over sprints; shares are made when they are shown, so that sums can be added."""

    sprints: int = 0
    tasks: int = 0
    complete: int = 0
    first_pass: int = 0
    """Complete in their first iteration."""
    iterations: int = 0
    """Of the complete ones."""
    resolved_by: dict[str, int] = {}
    """Complete tasks by the rung that made them so; council, human: where those had to help."""
    councils: int = 0
    council_successes: int = 0
    claims: int = 0
    """Iterations an agent called complete."""
    contradicted: int = 0
    """Of those, how many the evidence did not bear out."""
    usd: float = 0.0
    usd_complete: float = 0.0
    seconds_complete: float = 0.0
    forecast_usd: float = 0.0
    forecast_seconds: float = 0.0
    forecast_tasks: int = 0
    """Complete tasks that had been forecast before their sprint began; the forecast of those, and what they took."""
    forecast_spent: float = 0.0
    forecast_took: float = 0.0

    def rows(self) -> list[tuple[str, str]]:
        """In words, for people."""
        share = f"{100 * self.first_pass / self.complete:.0f}%" if self.complete else "–"
        wrong = f"{100 * self.contradicted / self.claims:.0f}%" if self.claims else "–"
        minutes = self.seconds_complete / 60 / max(1, self.complete)
        by = ", ".join(f"{name} {count}" for name, count in sorted(self.resolved_by.items(), key=lambda one: -one[1]))
        rows = [
            ("sprints", str(self.sprints)),
            ("tasks complete", f"{self.complete} of {self.tasks}"),
            ("first-pass rate", f"{share} ({self.first_pass} of {self.complete})"),
            ("attempts to done", f"{self.iterations / self.complete:.1f}" if self.complete else "–"),
            ("resolved by", by or "–"),
            ("council success", f"{self.council_successes} of {self.councils}"),
            ("claims contradicted by evidence", f"{wrong} ({self.contradicted} of {self.claims})"),
            ("cost per completed task", f"${self.usd_complete / self.complete:.2f}" if self.complete else "–"),
            ("minutes per completed task", f"{minutes:.1f}" if self.complete else "–"),
            ("spent in all", f"${self.usd:.2f}"),
        ]
        if self.forecast_tasks:
            said = f"${self.forecast_usd:.2f} and {self.forecast_seconds / 60:.0f} min forecast"
            was = f"${self.forecast_spent:.2f} and {self.forecast_took / 60:.0f} min"
            rows.append(("forecast against outcome", f"{said}, {was} for {plural(self.forecast_tasks, 'task')}"))
        return rows


class SprintStatistics(Struct, frozen=True, kw_only=True):
    """One sprint's own figures: a point of a plot over sprints."""

    sprint: str
    title: str = ""
    at: float = 0.0
    """When it was last worked on."""
    figures: Statistics


def of_sprint(envelopes: Iterable[ev.Envelope]) -> SprintStatistics:
    """One sprint, from its events."""
    state = State()
    claimed: dict[tuple[str, int], bool] = {}
    claims = contradicted = 0
    expected: dict[str, Forecast] = {}
    for envelope in envelopes:
        event = envelope.event
        if isinstance(event, ev.RunStarted) and not expected and state.plan is not None:
            rungs = event.policy.ladder.rungs
            expected = {task.id: forecast((task,), event.history, rungs) for task in state.plan.tasks()}
        match event:
            case ev.AgentFinished(role=Role.IMPLEMENTER):
                claimed[event.task, event.iteration] = event.result.claim == "complete"
            case ev.Decided() if claimed.pop((event.task, event.iteration), False):
                claims += 1
                contradicted += event.decision is not Decision.COMPLETE
            case _:
                pass
        state = apply(state, envelope)
    done = [task for task in state.tasks.values() if task.status is Status.COMPLETE and task.iteration]
    by: dict[str, int] = {}
    for task in done:
        name = "human" if task.overridden else "council" if task.council is Council.DONE else state.rung_name(task.rung)
        by[name or "?"] = by.get(name or "?", 0) + 1
    foreseen = [task for task in done if task.id in expected]
    sat = [task for task in state.tasks.values() if task.council is Council.DONE]
    title = state.plan.title if state.plan is not None else ""
    figures = Statistics(
        sprints=1,
        tasks=len(state.tasks),
        complete=len(done),
        first_pass=sum(task.iteration == 1 for task in done),
        iterations=sum(task.iteration for task in done),
        resolved_by=by,
        councils=len(sat),
        council_successes=sum(task.status is Status.COMPLETE for task in sat),
        claims=claims,
        contradicted=contradicted,
        usd=state.spent_usd,
        usd_complete=sum(task.spent_usd for task in done),
        seconds_complete=sum(task.worked_seconds for task in done),
        forecast_usd=sum(expected[task.id].usd for task in foreseen),
        forecast_seconds=sum(expected[task.id].seconds for task in foreseen),
        forecast_tasks=len(foreseen),
        forecast_spent=sum(task.spent_usd for task in foreseen),
        forecast_took=sum(task.worked_seconds for task in foreseen),
    )
    return SprintStatistics(sprint=state.sprint, title=title, at=state.now, figures=figures)


def together(several: Iterable[Statistics]) -> Statistics:
    """The sum of several sprints."""
    total = Statistics()
    for one in several:
        by = dict(total.resolved_by)
        for name, count in one.resolved_by.items():
            by[name] = by.get(name, 0) + count
        sums = {
            name: getattr(total, name) + getattr(one, name)
            for name in Statistics.__struct_fields__
            if name != "resolved_by"
        }
        total = Statistics(resolved_by=by, **sums)
    return total
