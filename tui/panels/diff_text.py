"""One file's change as lines: in two columns where there is room and something to compare, else in one. Pure.

Own code, looked at against textual-diff-view: that one is under the AGPL, which devteam's MIT licence cannot take in,
and it takes two whole texts where we have a diff of trees.
"""

from __future__ import annotations

from tui.kit.diffing import DiffRow, FileDiff, pairs
from tui.kit.hunks import Look, code_of, row_lines, word_marks
from tui.kit.paint import BLANK, Line, Span, crop, outside
from tui.kit.view import View

SIDE_BY_SIDE = 110
"""Cells from which two columns are drawn."""
Marks = dict[int, tuple[tuple[int, int], ...]]


def one_sided(file: FileDiff) -> bool:
    """New, deleted, or only added to: nothing would stand in the other column."""
    return not file.added or not file.removed


def diff_lines(view: View, file: FileDiff, width: int, look: Look) -> tuple[list[Line], list[int]]:
    """The lines, and which of them begin a hunk."""
    code, marks = code_of(file), word_marks(file.rows)
    lines: list[Line] = []
    hunks: list[int] = []
    if width < SIDE_BY_SIDE or one_sided(file):
        for place, row in enumerate(file.rows):
            if row.kind in "@!":
                hunks += [len(lines)] if row.kind == "@" else []
                lines.append(_heading(view, row, width))
            else:
                lines += row_lines(row, code, marks.get(place, ()), width, view.glyphs, look)
        return lines, hunks
    place_of = {id(row): place for place, row in enumerate(file.rows)}
    half = (width - 1) // 2
    for left, right in pairs(file.rows):
        if left is right and left is not None and left.kind in "@!":
            hunks += [len(lines)] if left.kind == "@" else []
            lines.append(_heading(view, left, width))
            continue
        first = _side(view, left, "old", code, marks, place_of, half, look)
        second = _side(view, right, "new", code, marks, place_of, width - half - 1, look)
        rows = max(len(first), len(second))
        blank: Line = ((" " * half, ""),)
        for at in range(rows):
            one = first[at] if at < len(first) else blank
            other = second[at] if at < len(second) else BLANK
            lines.append((*one, (view.glyphs.bar, "line"), *other))
    return lines, hunks


def _side(
    view: View,
    row: DiffRow | None,
    side: str,
    code: dict[tuple[str, int], tuple[Span, ...]],
    marks: Marks,
    place_of: dict[int, int],
    width: int,
    look: Look,
) -> list[Line]:
    if row is None:
        return [((" " * width, ""),)]
    return row_lines(row, code, marks.get(place_of[id(row)], ()), width, view.glyphs, look, side=side)


def _heading(view: View, row: DiffRow, width: int) -> Line:
    if row.kind == "!":
        return crop([(f"  {outside(row.text)}", "muted")], width)
    words = f"line {row.new}  {outside(row.text)}"
    head = f"{view.glyphs.rule * 2} {words.strip()} "
    return crop([(head, "accent"), (view.glyphs.rule * max(0, width - len(head)), "line")], width)
