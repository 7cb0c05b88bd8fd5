"""The Bug Council's report: the seats, the synthesis, and the test cases it asks for."""

from __future__ import annotations

from engine.core.council import SEATS
from engine.core.state import TaskState
from tui.kit.paint import BLANK, Line, outside, wrap
from tui.kit.view import View
from tui.kit.wording import seat_name
from tui.screens.list_page import SheetPage


def council_lines(view: View, task: TaskState, width: int) -> list[Line]:
    glyphs = view.glyphs
    lines: list[Line] = [((f"T{outside(task.id)} {outside(task.spec.title)}", "fg bold"),)]
    lines += wrap(outside(task.reason), width, "muted")
    if task.diagnosis is not None:
        found = task.diagnosis
        for label, words in (
            ("ROOT CAUSE", found.root_cause),
            ("RECOMMENDED FIX", found.recommended_fix),
            ("ARCHITECTURAL INSIGHT", found.insight),
        ):
            if words:
                lines += [BLANK, ((label, "accent bold"),), *_paragraphs(words, width)]
        if found.test_cases:
            lines += [BLANK, (("TEST CASES", "accent bold"),)]
            for case in found.test_cases:
                lines += wrap(outside(case), width, "fg", first=f"{glyphs.sep} ")
    lines += [BLANK, (("DIAGNOSES", "muted bold"),)]
    for seat in (*SEATS, *(name for name in task.seats if name not in SEATS)):
        text = task.seats.get(seat)
        sign, style = (
            (glyphs.ok, "good")
            if text
            else (glyphs.run, "accent")
            if task.council == "sitting"
            else (glyphs.none, "muted")
        )
        lines.append(((f"{sign} ", style), (seat_name(outside(seat)), "fg bold")))
        said: str = text or ("working" if task.council == "sitting" else "no diagnosis")
        lines += _paragraphs(said, width, "fg" if text else "muted", "  ")
    return lines


def _paragraphs(text: str, width: int, style: str = "fg", indent: str = "") -> list[Line]:
    return [line for part in text.split("\n") for line in wrap(outside(part), width, style, first=indent, rest=indent)]


class Council(SheetPage):
    NAME = "council"
    HEADING = "BUG COUNCIL"

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        sat = [task for task in view.state.tasks.values() if task.council]
        if not sat:
            return wrap(
                "No council yet. It is called when the top rung fails three times or is stuck.",
                width,
                "muted",
            )
        sat.sort(key=lambda task: task.id != view.selected)
        lines: list[Line] = []
        for number, task in enumerate(sat):
            if number:
                lines += [BLANK, ((view.glyphs.rule * width, "line"),), BLANK]
            lines += council_lines(view, task, min(width, 110))
        return lines
