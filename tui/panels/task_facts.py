"""What the plan asks of the chosen task: its criteria with what is known of each, its scope, what waits for it."""

from __future__ import annotations

from engine.core.state import TaskState
from tui.kit.paint import BLANK, Line, cells_of, crop, outside, wrap, wrap_to
from tui.kit.view import View

LEAST = 4
"""Rows below which nothing is said."""
LABEL = 6


def task_facts(view: View, width: int, room: int) -> list[Line]:
    """At most `room` rows, a blank one first; whole criteria, the last row says how many are left out."""
    task = view.task
    if task is None or room < LEAST:
        return []
    words = f"CRITERIA {view.glyphs.sep} T{outside(task.id)}"
    heading: Line = ((" ", ""), (f"ACCEPTANCE {words}" if cells_of(words) + 12 < width else words, "muted bold"))
    criteria = [_criterion(view, task, number, width) for number in range(len(task.spec.accept))]
    if not criteria and task.spec.description:
        criteria = [wrap_to(outside(task.spec.description), width, "fg", 6, first=" ", ellipsis=view.glyphs.ellipsis)]
    if not criteria:
        criteria = [[((" ", ""), ("none: its checks decide", "fg"))]]
    lines: list[Line] = [BLANK, heading]
    for number, rows in enumerate(criteria):
        if len(lines) + len(rows) + (number + 1 < len(criteria)) > room:
            lines.append(crop([(f" {view.glyphs.ellipsis} {len(criteria) - number} more", "muted")], width))
            break
        lines += rows
    for label, words in _others(view, task):
        left = room - len(lines)
        if words and left > 0:
            lines += wrap_to(words, width, "muted", left, first=f" {label:<{LABEL}}", ellipsis=view.glyphs.ellipsis)
    return lines[:room]


def _criterion(view: View, task: TaskState, number: int, width: int) -> list[Line]:
    """A criterion with what the reviewer said of it; nothing while it was not reviewed."""
    text = task.spec.accept[number]
    answers = task.review.criteria if task.review is not None else ()
    met = next((answer.met for answer in answers if answer.text == text), None)
    glyphs = view.glyphs
    sign, style = (glyphs.wait, "muted") if met is None else (glyphs.ok, "good") if met else (glyphs.bad, "bad")
    first, *more = wrap(outside(text), width, "fg", first=f" {sign} ")
    return [((f" {sign} ", style), *first[1:]), *more]


def _others(view: View, task: TaskState) -> list[tuple[str, str]]:
    then = [other.id for other in view.state.tasks.values() if task.id in other.spec.depends_on]
    return [
        ("scope", ", ".join(outside(glob) for glob in task.spec.scope) or "the whole repository"),
        ("needs", ", ".join(outside(name) for name in task.spec.depends_on)),
        ("then", ", ".join(outside(name) for name in then)),
    ]
