"""Learnings: what the repository's sprints decided and what failed, with what agents say against it."""

from __future__ import annotations

from engine.core.wording import plural
from engine.link.protocol import Answered, GetLearnings, LearningLine
from tui.kit.paint import BLANK, Line, Span, crop, outside, spread, wrap
from tui.kit.view import View
from tui.screens.list_page import ListPage


def learning_lines(view: View, one: LearningLine, width: int) -> list[Line]:
    glyphs = view.glyphs
    kind = "dropped: not in prompts any more" if one.dropped else "avoid" if one.avoid else "decided"
    lines: list[Line] = [*wrap(outside(one.title), width, "fg bold"), crop([(kind, "muted")], width)]
    if one.disputes:
        said = f"contradicted {plural(len(one.disputes), 'time')} since a human last decided"
        lines += [BLANK, *wrap(said, width, "warn", first=f"{glyphs.warn} ")]
        for words in one.disputes:
            lines += wrap(outside(words), width, "fg", first="  ")
    lines.append(BLANK)
    for row in one.text.split("\n")[1:]:
        indent = " " * (len(row) - len(row.lstrip(" ")))
        lines += wrap(outside(row), width, "fg", first=indent) if row.strip() else [BLANK]
    if one.files:
        lines += [BLANK, *wrap(", ".join(outside(path) for path in one.files), width, "muted", first="about  ")]
    if not one.dropped:
        lines += [BLANK, *wrap(f"devteam learnings drop {outside(one.name)}", width, "accent", first="to drop it: ")]
    return lines


class Learnings(ListPage):
    NAME = "learnings"
    LIST_TITLE = "LEARNINGS"
    QUERY = GetLearnings()

    def __init__(self) -> None:
        super().__init__()
        self._learnings: tuple[LearningLine, ...] = ()

    def taken(self, answer: Answered) -> None:
        found = reversed(answer.learnings)  # what is doubted needs somebody first
        self._learnings = tuple(sorted(found, key=lambda one: (one.dropped, not one.disputes)))

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        if not self._learnings:
            return wrap(self.without("no learnings yet"), width, "muted"), [0]
        return [_row(view, one, width) for one in self._learnings], []

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        at = self.menu.cursor
        if not 0 <= at < len(self._learnings):
            words = "Decisions that agents write down, and what failed and why, are kept for later prompts."
            return wrap(words, width, "muted")
        one = self._learnings[at]
        self.sheet.set_title(outside(one.name))
        return learning_lines(view, one, width)


def _row(view: View, one: LearningLine, width: int) -> Line:
    glyphs = view.glyphs
    sign, style = (
        (glyphs.none, "muted")
        if one.dropped
        else (glyphs.warn, "warn")
        if one.disputes
        else (glyphs.bad, "bad")
        if one.avoid
        else (glyphs.ok, "good")
    )
    left: list[Span] = [(f" {sign} ", style), (outside(one.title), "muted" if one.dropped else "fg")]
    return spread(left, [], width)
