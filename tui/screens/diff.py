"""The diff of a task: files at the left, code in colour at the right, side by side where there is room."""

from __future__ import annotations

from engine.link.protocol import GetDiff
from tui.kit.diffing import DiffRow, FileDiff, coloured, pairs, parse
from tui.kit.paint import BLANK, Line, Span, crop, end_of_path, outside, spread, width_of
from tui.kit.view import View
from tui.screens.list_page import ListPage

SIDE_BY_SIDE = 110
"""Cells from which two columns are drawn."""

GROUNDS = {"+": " on-added-ground", "-": " on-removed-ground"}


def diff_lines(view: View, file: FileDiff, width: int) -> list[Line]:
    code = _code(file)
    if width >= SIDE_BY_SIDE:
        half = (width - 1) // 2
        lines: list[Line] = []
        for left, right in pairs(file.rows):
            if left is right and left is not None and left.kind in "@!":
                lines.append(_heading(view, left, width))
                continue
            first = _cell(left, code, half, "old", view)
            second = _cell(right, code, width - half - 1, "new", view)
            lines.append((*first, (view.glyphs.bar, "line"), *second))
        return lines
    return [_heading(view, row, width) if row.kind in "@!" else _cell(row, code, width, "", view) for row in file.rows]


def _code(file: FileDiff) -> dict[tuple[str, int], tuple[Span, ...]]:
    """Coloured text of both sides, by side and line number."""
    out: dict[tuple[str, int], tuple[Span, ...]] = {}
    for side, kinds in (("old", " -"), ("new", " +")):
        rows = [row for row in file.rows if row.kind in kinds]
        spans = coloured(file.path, tuple(row.text for row in rows))
        out.update({(side, row.old if side == "old" else row.new): line for row, line in zip(rows, spans, strict=True)})
    return out


def _heading(view: View, row: DiffRow, width: int) -> Line:
    if row.kind == "!":
        return crop([(f"  {outside(row.text)}", "muted")], width)
    words = f"line {row.new}  {outside(row.text)}"
    head = f"{view.glyphs.rule * 2} {words.strip()} "
    return crop([(head, "accent"), (view.glyphs.rule * max(0, width - len(head)), "line")], width)


def _cell(
    row: DiffRow | None, code: dict[tuple[str, int], tuple[Span, ...]], width: int, side: str, view: View
) -> Line:
    """One line of one side, filled to its width so that the ground is even."""
    if row is None:
        return ((" " * width, ""),)
    ground = GROUNDS.get(row.kind, "")
    of = side or ("old" if row.kind == "-" else "new")
    number = row.old if of == "old" else row.new
    sign = row.kind if row.kind != "-" else view.glyphs.minus
    style = {"+": "added", "-": "removed"}.get(row.kind, "muted")
    head: list[Span] = [
        (f"{number:>4} ", f"muted{ground}" if not ground else f"{style}{ground}"),
        (f"{sign} ", f"{style} bold{ground}"),
    ]
    text = code.get((of, number), ((row.text, ""),))
    line = crop(
        [*head, *((piece, f"{words}{ground}".strip() if words else f"fg{ground}") for piece, words in text)], width
    )
    return (*line, (" " * max(0, width - width_of(line)), f"fg{ground}"))


class Diff(ListPage):
    NAME = "diff"
    LIST_TITLE = "FILES"

    def __init__(self) -> None:
        super().__init__()
        self._key: tuple[str, str] = ("", "?")
        self._files: list[FileDiff] = []
        self._error = ""
        self._text = ""
        self.loaded = False

    def update_view(self, view: View) -> None:
        task = view.task
        if task is None:
            self.loaded = True  # there is nothing to ask for
        elif (task.id, task.tree) != self._key:
            self._key = (task.id, task.tree)
            self._files, self._error, self._text, self.loaded = [], "", "", False  # never another task's change
            self.run_worker(self._load(task.id), group="diff", exclusive=True, exit_on_error=False)
        super().update_view(view)

    async def _load(self, task: str) -> None:
        key = self._key
        answer = await self.ask(GetDiff(task=task))
        if key != self._key:
            return
        self._error, self._text = answer.error, answer.text
        self._files = parse(answer.text) if answer.text else []
        self.loaded = True
        self.dev.redraw()

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        if not self._files:
            task = view.task
            changes = task.changes if task is not None else ()
            rows: list[Line] = [
                spread(
                    [(outside(change.path), "fg")],
                    [(f"+{change.added}", "added"), (f" {view.glyphs.minus}{change.removed}", "removed")],
                    width,
                    1,
                )
                for change in changes
            ]
            return rows or [(("nothing is changed", "muted"),)], [] if rows else [0]
        out: list[Line] = []
        for file in self._files:
            right: list[Span] = [(f"+{file.added}", "added"), (f" {view.glyphs.minus}{file.removed}", "removed")]
            name = end_of_path(outside(file.path), width - width_of(right) - 1, view.glyphs.ellipsis)
            out.append(spread([(name, "fg")], right, width, gap=1))
        return out, []

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        task = view.task
        at = self.menu.cursor
        if not self._files or not 0 <= at < len(self._files):
            why = outside(self._error) if self._error else "no change to show" if self.loaded else "reading the diff"
            return [((why, "muted"),)]
        file = self._files[at]
        note = f" {view.glyphs.sep} {file.note}" if file.note else ""
        self.sheet.set_title(
            f"T{outside(task.id) if task else ''} {outside(file.path)}{note}", f"{at + 1} of {len(self._files)}"
        )
        return diff_lines(view, file, width) or [BLANK]

    def shown_task(self) -> str:
        """Whose change is on screen; empty while it is read."""
        return self._key[0] if self._files else ""

    def text_to_save(self) -> tuple[str, str]:
        return f"diff-{self._key[0]}.patch", self._text
