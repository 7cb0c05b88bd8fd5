"""Iterations: every iteration of every task, and the full report of the one under the cursor."""

from __future__ import annotations

from engine.core.model import Verdict
from engine.core.state import Record, TaskState
from engine.core.wording import plural
from engine.link.protocol import GetReport
from tui.kit.glyphs import of_decision, of_verdict
from tui.kit.paint import Line, crop, outside, spread, width_of
from tui.kit.view import View
from tui.kit.wording import clock_time
from tui.screens.list_page import ListPage

RULE = "═" * 63


def composed_report(view: View, task: TaskState, record: Record) -> str:
    """The seed's iteration report from what the state holds, for when the engine cannot be asked."""
    limit = view.state.policy.max_iterations + task.granted
    rung = view.rung_name(record.rung)
    passed = "PASS" if record.total and not record.failing else "FAIL" if record.total else "NOT_RUN"
    lines = [
        RULE,
        f" TASK LOOP - Iteration {record.iteration}/{limit}",
        RULE,
        "",
        f"[Task] {task.id}: {task.spec.title}",
        f"[Model] {rung} (complexity: {task.complexity}/14)",
        "",
        "[Implementation]",
        f"  Status: {'completed' if not record.error or record.total else 'failed'}",
        f"  Files: {plural(len(record.files), 'file')} (+{record.added} -{record.removed})",
        *(f"    {path}" for path in record.files[:12]),
        "",
        "[Quality Gates]",
        f"  Tests:     {passed} ({record.passing}/{record.total})",
        f"  All checks: {'PASS' if record.green else 'FAIL'}",
        *(f"    failing: {name}" for name in record.failing[:12]),
        "",
        "[Decision]",
        f"  {record.decision.value if record.decision else '-'}",
        f"  Reason: {record.reason}",
        "",
        RULE,
    ]
    return "\n".join(lines)


class Iterations(ListPage):
    NAME = "iterations"
    LIST_TITLE = "ITERATIONS"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[tuple[str, int] | None] = []
        self._reports: dict[tuple[str, int], str] = {}
        self._asked: set[tuple[str, int]] = set()
        self._placed = False

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
            return [(("the report of an iteration appears here", "muted"),)]
        self.sheet.set_title(f"REPORT {view.glyphs.sep} T{outside(entry[0])} iteration {entry[1]}")
        if entry not in self._asked:
            self._asked.add(entry)
            self.run_worker(self._load(entry), exit_on_error=False)
        text = self._reports.get(entry)
        if text is None:
            task = view.state.tasks[entry[0]]
            record = next((record for record in task.history if record.iteration == entry[1]), None)
            text = composed_report(view, task, record) if record else ""
        return [_report_line(line, width, view) for line in text.split("\n")]

    def _entry(self) -> tuple[str, int] | None:
        at = self.menu.cursor
        return self._entries[at] if 0 <= at < len(self._entries) else None

    async def _load(self, entry: tuple[str, int]) -> None:
        answer = await self.ask(GetReport(task=entry[0], iteration=entry[1]))
        if answer.text and not answer.error:
            self._reports[entry] = answer.text
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


def _report_line(line: str, width: int, view: View) -> Line:
    """A report's headings and verdicts stand out; its words stay as they are."""
    text = outside(line) if line.strip() else ""
    indent = " " * (len(line) - len(line.lstrip()))
    if set(text) == {"═"}:
        rule = view.glyphs.rule if view.glyphs.ascii else "═"
        return ((rule * min(width, 63), "line"),)
    style = "fg"
    if text.startswith("[") or line.startswith(" TASK LOOP"):
        style = "accent bold"
    elif "PASS" in text or "COMPLETE" in text:
        style = "good"
    elif "FAIL" in text or "HALT" in text:
        style = "bad"
    return crop([(indent + text, style)], width)
