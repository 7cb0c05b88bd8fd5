"""A plan that waits for approval, drawn task by task; the requirements; what the planner asks and why. Pure."""

from __future__ import annotations

from engine.core.forecast import forecast
from engine.core.model import Plan, TaskSpec
from engine.core.planning_state import Goal, Planning
from engine.core.state import GateState, State
from engine.core.vocabulary import GateKind
from engine.core.wording import plural
from tui.kit.paint import BLANK, Line, Span, outside, spread, wrap
from tui.kit.view import View
from tui.kit.wording import duration, money
from tui.panels.gate_text import said_lines

PLANNING = (GateKind.QUESTION, GateKind.PLAN, GateKind.PRD)


def about_planning(state: State, gate: GateState | None) -> bool:
    """The gate in sight belongs to the conversation, not to a task."""
    return gate is not None and gate.kind in PLANNING and state.planning is not None


def asked_lines(view: View, gate: GateState, width: int) -> list[Line]:
    """What is asked, what has been answered, what is objected to; what the plan will cost."""
    planning = view.state.planning
    if planning is None:
        return said_lines(view, gate, None, width)
    lines: list[Line] = [(("REQUEST", "muted bold"),), *_paragraphs(planning.request, width, "fg", 6)]
    if gate.kind is GateKind.QUESTION:
        lines += [BLANK, (("THE PLANNER ASKS", "gate bold"),), *wrap(outside(gate.title), width, "fg bold")]
        lines += said_lines(view, gate, None, width)
        found = next((one for one in planning.questions if one.text == gate.title), None)
        if found is not None and found.assumption and found.assumption not in gate.body:
            lines += wrap(outside(found.assumption), width, "accent", first="default: ")
    elif gate.kind is GateKind.PLAN:
        lines += _worth(view, planning, width)
    lines += _answered(view, planning, width)
    lines += _talked(gate, width)
    return lines


def _worth(view: View, planning: Planning, width: int) -> list[Line]:
    """Cost and time, who looked at it, what speaks against it."""
    plan = planning.plan
    if plan is None:
        return []
    state = view.state
    expected = forecast(plan.tasks(), state.past, state.policy.ladder.rungs)
    lines: list[Line] = [BLANK, (("EXPECTED", "muted bold"),), *wrap(expected.words(), width, "fg")]
    lines += wrap(f"budget {money(state.policy.budget.session_usd)}", width, "muted")
    if planning.issues:
        lines += [BLANK, ((f"{plural(len(planning.issues), 'objection')}", "warn bold"),)]
        for issue in planning.issues:
            lines += wrap(outside(issue.words()), width, "warn", first=f"{view.glyphs.warn} ")
    reviewed = planning.reviewed == planning.version
    word = "approved by the plan reviewer" if reviewed else "not approved by the plan reviewer"
    lines += [BLANK, *wrap(word, width, "good" if reviewed else "warn")]
    if planning.review:
        lines += wrap(outside(planning.review), width, "muted")
    for note in planning.notes:
        lines += wrap(outside(note), width, "muted", first="note  ")
    return lines


def _answered(view: View, planning: Planning, width: int) -> list[Line]:
    if not planning.answers:
        return []
    lines: list[Line] = [BLANK, (("ANSWERED", "muted bold"),)]
    for one in planning.answers:
        lines += wrap(outside(one.question), width, "muted", first=f"{view.glyphs.ok} ")
        assumed = one.by in ("", "assumption")
        lines += wrap(
            f"{outside(one.answer) or 'nothing'} ({'assumed' if assumed else outside(one.by)})", width, "fg", first="  "
        )
    return lines


def _talked(gate: GateState, width: int) -> list[Line]:
    lines: list[Line] = []
    for question, answer in gate.questions:
        lines += [BLANK, *wrap(outside(question), width, "fg", first="you asked  ")]
        lines += wrap(outside(answer) if answer else "the answer is on its way", width, "fg", first="answer     ")
    return lines


def draft_title(view: View) -> tuple[str, str]:
    """Words for the borders of what is judged."""
    planning = view.state.planning
    if planning is None:
        return "", ""
    if planning.plan is not None:
        tasks = plural(len(planning.plan.tasks()), "task")
        word = "NEW PLAN" if planning.goal is Goal.REPLAN else "DRAFT"
        return f"{word} {planning.version} {view.glyphs.sep} {tasks}", "E: edit in $EDITOR"
    return ("REQUIREMENTS", "") if planning.prd else ("WHAT IS KNOWN OF THE REPOSITORY", "")


def draft_lines(view: View, gate: GateState | None, width: int) -> list[Line]:
    """The draft, the requirements, or what was found in the repository: whatever there is to judge by."""
    planning = view.state.planning
    if planning is None:
        return []
    if planning.goal is Goal.REPLAN and gate is not None:
        return said_lines(view, gate, None, width)
    if planning.plan is not None and (gate is None or gate.kind is not GateKind.PRD):
        return plan_as_drafted(view, planning.plan, width)
    text = planning.prd or planning.context or planning.facts
    return _paragraphs(text, width, "fg", 2000) if text else [(("nothing written yet", "muted"),)]


def plan_as_drafted(view: View, plan: Plan, width: int) -> list[Line]:
    lines = wrap(outside(plan.title), width, "fg bold")
    if plan.summary:
        lines += wrap(outside(plan.summary), width, "muted")
    for phase in plan.phases:
        name = f"{outside(phase.id)}  {outside(phase.title).upper()}"
        note = "scaffold" if phase.scaffold else ""
        lines += [BLANK, spread([(name, "accent bold")], [(note, "muted")] if note else [], width)]
        for task in phase.tasks:
            lines += _task(view, task, width)
    return lines


def _task(view: View, task: TaskSpec, width: int) -> list[Line]:
    guess = forecast((task,), view.state.past, view.state.policy.ladder.rungs)
    about = "~" if view.glyphs.ascii else "≈"
    right: list[Span] = [(f"{about}{money(guess.usd)}  {about}{duration(guess.seconds)}", "muted")]
    head = f"{outside(task.id)} {outside(task.title)}"
    first, *rest = wrap(head, max(20, width - 20), "fg bold", rest="    ")
    lines: list[Line] = [BLANK, spread([*first[1:]], right, width), *rest]
    if task.description:
        lines += wrap(outside(task.description), width, "muted", first="    ", rest="    ")
    for criterion in task.accept:
        lines += wrap(outside(criterion), width, "fg", first=f"    {view.glyphs.wait} ", rest="      ")
    if not task.accept:
        lines += wrap("no acceptance criterion", width, "warn", first=f"    {view.glyphs.warn} ")
    for label, values in (
        ("after", task.depends_on),
        ("scope", task.scope),
        ("verify", task.verify),
        ("proof", (task.proof,) if task.proof else ()),
        ("allow", task.allow),
    ):
        if values:
            said = ", ".join(outside(str(value)) for value in values)
            lines += wrap(said, width, "muted", first=f"    {label:<7}", rest=" " * 11)
    return lines


def _paragraphs(text: str, width: int, style: str, most: int) -> list[Line]:
    """Text from outside, its indents and headings kept."""
    lines: list[Line] = []
    for row in text.strip("\n").split("\n"):
        if len(lines) >= most:
            return [*lines, (("…", "muted"),)]
        indent = " " * min(12, len(row) - len(row.lstrip(" ")))
        heading = row.lstrip().startswith("#")
        lines += (
            wrap(outside(row), width, "accent bold" if heading else style, first=indent) if row.strip() else [BLANK]
        )
    return lines
