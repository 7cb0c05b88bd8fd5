"""What the planning conversation has come to, while there is no plan to show tasks of."""

from __future__ import annotations

from engine.core.planning_state import Planning, Stage
from engine.core.wording import plural
from tui.kit.paint import BLANK, Line, fit, outside, wrap
from tui.kit.view import View

STEPS = (
    (Stage.GATHER, "read the repository"),
    (Stage.PRD, "write the requirements"),
    (Stage.PRD_GATE, "your approval of the requirements"),
    (Stage.DRAFT, "draft a plan"),
    (Stage.QUESTIONS, "ask you questions"),
    (Stage.CHECK, "check the draft"),
    (Stage.REVIEW, "review the draft"),
    (Stage.GATE, "your approval of the plan"),
)
"""In the order in which they come; a draft that is objected to goes back."""


def planning_title(view: View) -> str:
    """The request, for where a plan's title stands once there is one."""
    planning = view.state.planning
    if planning is None:
        return "no sprint yet"
    return f"planning: {outside(planning.request.strip().splitlines()[0] if planning.request.strip() else '')}"


def planning_step(view: View) -> str:
    """What the conversation is at, in words."""
    planning = view.state.planning
    return dict(STEPS).get(planning.stage, "planning") if planning is not None else ""


def planning_rows(view: View, width: int) -> list[Line]:
    """The steps with where it stands, what was answered, what is objected to, and the draft's tasks."""
    planning = view.state.planning
    if planning is None:
        return [((fit("no plan yet", width), "muted"),)]
    rows: list[Line] = []
    steps = [(stage, words) for stage, words in STEPS if planning.with_prd or stage not in (Stage.PRD, Stage.PRD_GATE)]
    order = [stage for stage, _ in steps]
    at = order.index(planning.stage) if planning.stage in order else len(order)
    for place, (stage, words) in enumerate(steps):
        here = stage is planning.stage
        sign = view.glyphs.cursor if here else view.glyphs.ok if place < at else " "
        style = "fg bold" if here else "muted"
        rows.append(((f"{sign} ", "accent" if here else "good"), (fit(words, width - 2), style)))
    rows += [BLANK, *_facts(planning, width)]
    return rows


def _facts(planning: Planning, width: int) -> list[Line]:
    rows: list[Line] = []
    for one in planning.answers:
        rows += wrap(f"{outside(one.question)} → {outside(one.answer) or '(none)'} ({outside(one.by)})", width, "fg")
    for issue in planning.issues:
        rows += wrap(f"objection: {outside(issue.words())}", width, "warn")
    if planning.plan is not None:
        tasks = planning.plan.tasks()
        rows.append(((fit(f"draft {planning.version}: {plural(len(tasks), 'task')}", width), "muted bold"),))
        rows += [((fit(f"  {outside(task.id)} {outside(task.title)}", width), "fg"),) for task in tasks]
    return rows
