"""The ladder by outcome: what each rung tried and passed and what a pass costs; what the next failure leads to and
costs; what a finished task cost beside the other policy; every escalation and why."""

from __future__ import annotations

from typing import assert_never

from engine.core.model import Decision
from engine.core.outcomes import COUNCIL, REVIEWERS, NextStep, RungOutcome, next_step, receipt, rung_outcomes, spent_on
from engine.core.state import TaskState
from engine.core.wording import plural
from tui.kit.paint import BLANK, Line, Span, crop, outside, pad, spread, wrap
from tui.kit.view import View
from tui.kit.wording import money
from tui.panels.panel import Panel

WIDE = 42
"""Cells from which a rung's spend has a column of its own."""


def ladder_lines(view: View, width: int, height: int) -> list[Line]:
    return [*rung_lines(view, width), *_stand(view, width), *_receipt(view, width), *_escalations(view, width)]


def rung_lines(view: View, width: int) -> list[Line]:
    """Each rung by its outcome, the highest first; reviewers and councils apart."""
    rungs = rung_outcomes(view.state)
    task = view.task
    here = task.rung if task is not None and task.iteration and not task.ended else -1
    names = 9 if width >= 31 else 7
    lines: list[Line] = [
        crop([(" " * (names + 2), ""), (_columns("tried", "pass", "spent", "$/pass", width, names), "muted")], width)
    ]
    for place, rung in reversed(list(enumerate(rungs))):
        lines.append(_rung(view, rung, place, place == here, width, names))
    return [*lines, *_apart(view, width, names)]


def _columns(tried: str, passed: str, spent: str, each: str, width: int, names: int) -> str:
    middle = f"{tried:>6}{passed:>5}" + (f"{spent:>9}" if width >= WIDE else "")
    return f"{middle}{each:>{max(8, width - 2 - names - len(middle))}}"


def _rung(view: View, rung: RungOutcome, place: int, here: bool, width: int, names: int) -> Line:
    glyphs = view.glyphs
    style = f"rung-{min(place, 3) + 1}"
    each = money(rung.usd_per_pass) if rung.usd_per_pass is not None else glyphs.none
    mark: Span = (f"{glyphs.run} ", "accent") if here else ("  ", "")
    words = _columns(str(rung.attempts), str(rung.passed), money(rung.usd), each, width, names)
    name: Span = (pad(outside(rung.name), names), f"{style} bold" if here else style)
    return crop([mark, name, (words, "fg" if rung.attempts else "muted")], width)


def _apart(view: View, width: int, names: int) -> list[Line]:
    """Reviewers and councils: paid at some rung, but no attempt of it."""
    lines: list[Line] = []
    for label, roles in (("reviews", REVIEWERS), ("council", COUNCIL)):
        usage = spent_on(view.state, roles)
        if usage.calls:
            left: list[Span] = [("  ", ""), (pad(label, names), "muted"), (f"  {plural(usage.calls, 'call')}", "muted")]
            lines.append(spread(left, [(money(usage.cost_usd), "muted")], width, gap=1))
    return lines


def _stand(view: View, width: int) -> list[Line]:
    """Where the present task stands, and the forecast of the step after another failure."""
    task = view.task
    if task is None or not task.iteration or task.ended:
        return []
    if task.council:
        said = "Bug Council in session" if task.council == "sitting" else "attempt after the council"
        return [BLANK, *wrap(f"T{outside(task.id)} at {view.rung_name(task.rung)}: {said}", width, "fg")]
    step = next_step(view.state, task)
    if step is None:
        return []
    head = f"T{outside(task.id)} at {view.rung_name(task.rung)}; if it fails: "
    return [BLANK, *wrap(head + step_words(view, task, step), width, "fg")]


def step_words(view: View, task: TaskState, step: NextStep) -> str:
    """What comes after a failure, and what that costs."""
    name = outside(view.rung_name(step.rung))
    match step.decision:
        case Decision.COUNCIL:
            return "the Bug Council"
        case Decision.BLOCKED:
            return f"you are asked ({outside(step.reason)})"
        case Decision.ITERATE:
            where = f"{name} again" if step.rung == task.rung else f"down to {name}"
        case (
            Decision.ESCALATE
            | Decision.COMPLETE
            | Decision.HALT
            | Decision.PARKED
            | Decision.SKIPPED
            | Decision.BUDGET_EXHAUSTED
        ):
            where = f"up to {name}"
        case _:
            assert_never(step.decision)
    about = "~" if view.glyphs.ascii else "≈"
    passes = f"{about}{step.chance * 100:.0f}% pass"
    return f"{where}, {money(step.usd)} a try, {passes}, {about}{money(step.usd_per_pass)} a pass"


def _receipt(view: View, width: int) -> list[Line]:
    """What the chosen task cost; while it is at work, the one that ended last."""
    task = view.task
    if task is None or not task.ended:
        ended = [one for one in view.state.tasks.values() if one.ended and one.history]
        task = max(ended, key=lambda one: one.ended_at, default=None)
    found = receipt(view.state, task) if task is not None else None
    if found is None or task is None:
        return []
    return [BLANK, *wrap(f"T{outside(task.id)}: {found.words()}", width, "muted")]


def _escalations(view: View, width: int) -> list[Line]:
    state, glyphs = view.state, view.glyphs
    lines: list[Line] = []
    for step in reversed(state.escalations[-20:]):
        head = f"{glyphs.up} {outside(step.source)}{glyphs.arrow}{outside(step.target)}"
        place = f"T{outside(step.task)} it {step.iteration}"
        lines.append(spread([(head, "warn")], [(place, "muted")], width, gap=1))
        lines.append(crop([("  ", ""), (outside(step.reason), "muted")], width))
    sat = [task for task in state.tasks.values() if task.council]
    for task in sat:
        word = "in session" if task.council == "sitting" else "has diagnosed"
        lines.append(
            spread([(f"{glyphs.knob} council {word}", "warn")], [(f"T{outside(task.id)}", "muted")], width, gap=1)
        )
    if lines:
        head = f"{plural(len(state.escalations), 'escalation')}"
        if state.councils or sat:
            head += f", {plural(max(state.councils, len(sat)), 'council')}"
        lines = [BLANK, ((head, "muted bold"),), *lines]
    return lines


class LadderPanel(Panel):
    def __init__(self) -> None:
        super().__init__(id="ladder")
        self._drawn: tuple[View, int, list[Line]] | None = None

    def title(self, view: View) -> tuple[str, str]:
        policy = view.state.policy.ladder
        how = "/".join(str(number) for number in policy.failures) if policy.policy == "classic" else "by index"
        return f"LADDER {view.glyphs.sep} {how}", ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        """No line tells the time, so a tick of the clock draws none anew."""
        if self._drawn is not None:
            known, room, lines = self._drawn
            same = known.state is view.state and known.selected == view.selected
            if same and room == width and known.glyphs is view.glyphs:
                return lines
        lines = ladder_lines(view, width, height)
        self._drawn = (view, width, lines)
        return lines
