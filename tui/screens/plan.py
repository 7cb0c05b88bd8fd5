"""The plan with its criteria: what was asked, what the reviewer found met, and where."""

from __future__ import annotations

from engine.core.model import Criterion
from engine.core.state import TaskState
from engine.core.status_words import of_phase
from tui.kit.glyphs import of_status
from tui.kit.paint import BLANK, Line, Span, outside, spread, wrap
from tui.kit.view import View
from tui.kit.wording import short_hash
from tui.panels.draft_text import draft_lines
from tui.screens.list_page import SheetPage


def plan_lines(view: View, width: int) -> list[Line]:
    plan = view.state.plan
    if plan is None and view.state.planning is not None:
        return draft_lines(view, None, width)
    if plan is None:
        return wrap('There is no plan yet. Type: devteam plan "what you want"', width, "muted")
    lines: list[Line] = [spread([(outside(plan.title), "fg bold")], [(outside(plan.status).lower(), "muted")], width)]
    if plan.summary:
        lines += wrap(outside(plan.summary), width, "muted")
    for index, phase in enumerate(plan.phases):
        lines += [
            BLANK,
            spread(
                [
                    (f"{outside(phase.id)}  {outside(phase.title).upper()}", "accent bold"),
                    ("  scaffold" if phase.scaffold else "", "muted"),
                ],
                [(of_phase(view.state, index), "muted")],
                width,
            ),
        ]
        for task in view.state.tasks.values():
            if task.phase == index:
                lines += task_lines(view, task, width)
    return lines


def task_lines(view: View, task: TaskState, width: int) -> list[Line]:
    sign, word, style = of_status(task.status, view.glyphs)
    spec = task.spec
    right: list[Span] = [(f"{word}", style)]
    if task.commit:
        right.append((f"  {short_hash(task.commit)}", "muted"))
    lines: list[Line] = [
        BLANK,
        spread([(f"{sign} ", style), (f"{outside(spec.id)} {outside(spec.title)}", "fg bold")], right, width),
    ]
    if spec.description:
        lines += wrap(outside(spec.description), width, "muted", first="    ", rest="    ")
    for text in spec.accept:
        lines += _criterion(view, task, text, width)
    facts = []
    if spec.scope:
        facts.append(f"scope {', '.join(outside(glob) for glob in spec.scope)}")
    if spec.depends_on:
        facts.append(f"after {', '.join(outside(name) for name in spec.depends_on)}")
    if spec.verify:
        facts.append(f"verify {'; '.join(outside(command) for command in spec.verify)}")
    if facts:
        lines += wrap("   ".join(facts), width, "muted", first="    ", rest="    ")
    return lines


def _criterion(view: View, task: TaskState, text: str, width: int) -> list[Line]:
    answers: tuple[Criterion, ...] = task.review.criteria if task.review is not None else ()
    found = next((item for item in answers if item.text == text), None)
    glyphs = view.glyphs
    sign, style = (glyphs.wait, "muted")
    if found is not None:
        sign, style = (glyphs.ok, "good") if found.met else (glyphs.bad, "bad")
    where = f"  {outside(found.reference)}" if found is not None and found.reference else ""
    first, *rest = wrap(outside(text), max(20, width - len(where) - 6), "fg", first="      ")
    return [(("    ", ""), (f"{sign} ", style), *first[1:], (where, "muted")), *rest]


class PlanPage(SheetPage):
    NAME = "plan"
    HEADING = "PLAN"

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return plan_lines(view, width)
