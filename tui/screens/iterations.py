"""Iterations: every iteration of every task, and the report of the one under the cursor, drawn."""

from __future__ import annotations

from engine.core.model import Verdict
from engine.core.task_state import Record
from tui.kit.glyphs import of_decision, of_verdict
from tui.kit.iteration_facts import Iterated
from tui.kit.paint import Line, crop, outside, spread, width_of
from tui.kit.view import View
from tui.kit.wording import clock_time
from tui.panels.report_text import report_lines
from tui.screens.list_page import ListPage

WIDEST = 140
"""Cells beyond which a report is no easier to read."""


class Iterations(ListPage):
    NAME = "iterations"
    LIST_TITLE = "ITERATIONS"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[tuple[str, int] | None] = []
        self._facts = Iterated()
        self._placed = False
        self.loaded = False

    def mounted(self) -> None:
        super().mounted()
        self.run_worker(self._load(), exit_on_error=False)

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        rows: list[Line] = []
        self._entries = []
        for task in view.state.tasks.values():
            if not task.history:
                continue
            rows.append(crop([(f"{outside(task.id)} ", "muted bold"), (outside(task.spec.title), "muted bold")], width))
            self._entries.append(None)
            for record in task.history:
                rows.append(_row(view, record, width))
                self._entries.append((task.id, record.iteration))
        headings = [at for at, entry in enumerate(self._entries) if entry is None]
        if not rows:
            rows, headings = [(("no iteration has ended yet", "muted"),)], [0]
        elif not self._placed:
            self._placed = True
            own = [at for at, entry in enumerate(self._entries) if entry and entry[0] == view.selected]
            self.menu.cursor = own[-1] if own else len(rows) - 1
        return rows, headings

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        entry = self._entry()
        if entry is None:
            return [(("choose an iteration to see its report", "muted"),)]
        for envelope in self.dev.feed.events:
            self._facts.take(envelope)
        self.sheet.set_title(f"REPORT {view.glyphs.sep} T{outside(entry[0])} iteration {entry[1]}")
        facts = self._facts.found.get(entry)
        if facts is None:
            return [(("loading the report" if not self.loaded else "the journal has no record of it", "muted"),)]
        return report_lines(
            view, view.state.tasks[entry[0]], entry[1], facts, self._facts.before(*entry), min(width, WIDEST)
        )

    def _entry(self) -> tuple[str, int] | None:
        at = self.menu.cursor
        return self._entries[at] if 0 <= at < len(self._entries) else None

    async def _load(self) -> None:
        """From the run's beginning, page by page; what happens now is taken from the feed."""
        facts = Iterated()
        async for page in self.recorded():
            for envelope in page:
                facts.take(envelope)
        self._facts, self.loaded = facts, True
        self.dev.redraw()


def _row(view: View, record: Record, width: int) -> Line:
    sign, _, style = of_verdict(Verdict.PASS if record.green else Verdict.FAIL, view.glyphs)
    word = record.decision.value if record.decision else ""
    left = [
        (f" {sign} ", style),
        (f"it {record.iteration:<3}", "fg"),
        (f"{view.rung_name(record.rung):<7}", f"rung-{min(record.rung, 3) + 1}"),
    ]
    counted = f"{record.passing}/{record.total}" if record.total else ""
    if width >= width_of(left) + len(counted) + len(word) + 1:  # whole, or not at all
        left.append((counted, "muted"))
    right = [(word, of_decision(record.decision))]
    if width > 50:
        right.append((f"  {clock_time(record.at, view.state.utc_offset)}" if record.at else "", "muted"))
    return spread(left, right, width, gap=1)
