"""The diff of a task: files at the left, code in colour at the right. Wraps, scrolls sideways, fills the screen."""

from __future__ import annotations

from textual.binding import Binding

from engine.link.protocol import GetDiff
from tui.kit.diffing import FileDiff, parse
from tui.kit.hunks import Look, same
from tui.kit.paint import BLANK, Line, Span, end_of_path, outside, spread, width_of
from tui.kit.view import View
from tui.panels.diff_text import diff_lines
from tui.screens.list_page import ListPage

SIDEWAYS = 16
CONTEXTS = (3, 12, 100_000)
"""Lines around a change: few, more, all of the file."""


class Diff(ListPage):
    NAME = "diff"
    LIST_TITLE = "FILES"
    STACKED = True
    BINDINGS = [
        Binding("right", "sideways(1)", "right", show=False),
        Binding("left", "sideways(-1)", "left", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._key: tuple[str, str, int] = ("", "?", 0)
        self._around = 0
        self._look = Look()
        self._hunks: list[int] = []
        self._files: list[FileDiff] = []
        self._error = ""
        self._text = ""
        self._laid: tuple[object, ...] = ()
        """What the lines were drawn from: a long file is not laid out anew for a clock."""
        self._lines: list[Line] = []
        self.loaded = False

    def update_view(self, view: View) -> None:
        task = view.task
        if task is None:
            self.loaded = True  # there is nothing to ask for
        elif (task.id, task.tree, self._around) != self._key:
            if (task.id, task.tree) != self._key[:2]:
                self._files, self._error, self._text = [], "", ""  # never another task's change
                self._look = Look()
            self._key, self.loaded = (task.id, task.tree, self._around), False
            self.run_worker(self._load(task.id), group="diff", exclusive=True, exit_on_error=False)
        super().update_view(view)

    async def _load(self, task: str) -> None:
        key = self._key
        context = CONTEXTS[self._around]
        answer = await self.ask(GetDiff(task=task, context=0 if context == CONTEXTS[0] else context))
        if answer.error and context != CONTEXTS[0]:  # a recording knows the usual one
            self.dev.tell("more context is not available here")
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
                    [(" ", ""), (outside(change.path), "fg")],
                    [(f"+{change.added}", "added"), (f" {view.glyphs.minus}{change.removed}", "removed")],
                    width,
                    1,
                )
                for change in changes
            ]
            return rows or [(("no changes", "muted"),)], [] if rows else [0]
        out: list[Line] = []
        for file in self._files:
            right: list[Span] = [(f"+{file.added}", "added"), (f" {view.glyphs.minus}{file.removed}", "removed")]
            name = end_of_path(outside(file.path), width - width_of(right) - 2, view.glyphs.ellipsis)
            out.append(spread([(" ", ""), (name, "fg")], right, width, gap=1))
        return out, []

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        task = view.task
        at = self.menu.cursor
        if not self._files or not 0 <= at < len(self._files):
            why = outside(self._error) if self._error else "no change to show" if self.loaded else "loading the diff"
            return [((why, "muted"),)]
        file = self._files[at]
        note = f" {view.glyphs.sep} {file.note}" if file.note else ""
        sep = view.glyphs.sep
        how = "wrapped" if self._look.wrapped else f"from column {self._look.left + 1}" if self._look.left else ""
        more = f"{CONTEXTS[self._around]} lines around" if self._around == 1 else "whole file" if self._around else ""
        said = f" {sep} ".join(words for words in (f"{at + 1} of {len(self._files)}", how, more) if words)
        self.sheet.set_title(f"T{outside(task.id) if task else ''} {outside(file.path)}{note}", said)
        laid = (self._files, at, width, view.glyphs, self._look)
        if not same(laid, self._laid):
            self._laid = laid
            self._lines, self._hunks = diff_lines(view, file, width, self._look)
        return self._lines or [BLANK]

    # ── how it is looked at ──

    def do_wrap(self) -> None:
        self._look = Look(wrapped=not self._look.wrapped)
        self.dev.redraw()

    def action_sideways(self, step: int) -> None:
        self._look = Look(left=max(0, self._look.left + step * SIDEWAYS))
        self.dev.redraw()

    def do_zoom(self) -> None:
        """The code takes the whole screen, and gives it back."""
        side = self.query_one("#side")
        side.display = not side.display
        (self.menu if side.display else self.sheet).focus()
        self.call_after_refresh(self.dev.redraw)

    def do_context(self) -> None:
        self._around = (self._around + 1) % len(CONTEXTS)
        self.dev.redraw()

    def do_match_next(self) -> None:
        self._step_hunk(1)

    def do_match_previous(self) -> None:
        self._step_hunk(-1)

    def _step_hunk(self, step: int) -> None:
        top = round(self.sheet.scroll_offset.y)
        rows = [row for row in self._hunks if (row > top if step > 0 else row < top)]
        if rows:
            self.sheet.scroll_to(y=rows[0] if step > 0 else rows[-1], animate=False)

    def cited(self) -> str:
        """The place a comment or a question is about: the hunk in sight."""
        at = self.menu.cursor
        if not 0 <= at < len(self._files) or not self._hunks:
            return ""
        top = round(self.sheet.scroll_offset.y)
        seen = [number for number, row in enumerate(self._hunks) if row <= top + 1]
        heads = [row for row in self._files[at].rows if row.kind == "@"]
        return f"{self._files[at].path}:{heads[seen[-1] if seen else 0].new}"

    def shown_task(self) -> str:
        """Whose change is on screen; empty while it is read."""
        return self._key[0] if self._files else ""

    def text_to_save(self) -> tuple[str, str]:
        return f"diff-{self._key[0]}.patch", self._text
