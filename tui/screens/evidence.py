"""Evidence: what each check measured, which tests it holds the change answerable for, and where the record lies."""

from __future__ import annotations

from engine.core.clean import clean
from engine.core.evidence import EvidenceRecord
from engine.core.model import CheckResult
from engine.link.protocol import GetEvidence
from tui.kit.glyphs import of_verdict
from tui.kit.paint import BLANK, Line, Span, crop, outside, pad, spread, wrap
from tui.kit.view import View
from tui.kit.wording import short_hash
from tui.panels.report_text import as_printed
from tui.screens.list_page import ListPage

LABEL = 13


def check_lines(view: View, result: CheckResult, record: EvidenceRecord, width: int) -> list[Line]:
    glyphs = view.glyphs
    sign, word, style = of_verdict(result.verdict, glyphs)
    lines: list[Line] = [((f"{sign} ", style), (f"{outside(result.name)}: {word}", f"{style} bold"))]
    if result.reason:
        lines += wrap(outside(result.reason), width, "fg")
    lines.append(BLANK)
    facts: list[tuple[str, str]] = [
        ("command", result.command),
        ("read from", result.source),
        ("exit code", "" if result.exit_code is None else str(result.exit_code)),
        ("took", f"{result.seconds:.1f} s" if result.seconds else ""),
        (
            "coverage",
            "" if result.coverage is None else f"{result.coverage:.1f}%",
        ),
        ("required", "yes" if result.required else "no: informational"),
        ("tree", short_hash(record.tree)),
        ("evidence", result.evidence[:16]),
    ]
    for label, value in facts:
        if value:
            lines += wrap(outside(value), width, "fg", first=pad(label, LABEL))
    lines += _attribution(view, result, width)
    lines += _artefacts(result, record, width)
    for finding in (*result.findings, *record.findings):
        place = f"{outside(finding.path)}{':' + str(finding.line) if finding.line else ''}"
        tone = (
            "bad" if finding.severity in ("error", "critical") else "warn" if finding.severity == "human" else "muted"
        )
        lines += [BLANK, crop([(f"{outside(finding.rule)}  ", f"{tone} bold"), (place, "accent")], width)]
        lines += wrap(outside(finding.text), width, "fg", first="  ")
    if result.output:
        lines += [BLANK, (("last output", "muted bold"),)]
        lines += as_printed(view, clean(result.output).split("\n")[-40:], width)
    return lines


def _artefacts(result: CheckResult, record: EvidenceRecord, width: int) -> list[Line]:
    """Files the check left in the evidence store, named by what they hold."""
    found = next((check.artefacts for check in record.checks if check.name == result.name), {})
    if not found:
        return []
    lines: list[Line] = [BLANK, (("artefacts", "muted bold"),)]
    for name, digest in found.items():
        lines.append(crop([(pad(outside(name), LABEL), "fg"), (f" {outside(digest)[:16]}", "muted")], width))
    return lines


def _attribution(view: View, result: CheckResult, width: int) -> list[Line]:
    """Which tests count against this change, and which do not."""
    counts, glyphs = result.counts, view.glyphs
    if counts is None:
        return []
    lines: list[Line] = [BLANK, (("tests", "muted bold"),)]
    kinds: list[tuple[int, str, str, str]] = [
        (counts.passed, "pass", glyphs.ok, "good"),
        (counts.failed, "fail because of this change", glyphs.bad, "bad"),
        (counts.fixed, "fixed by this change", glyphs.ok, "good"),
        (counts.new, "new in this change", "+", "added"),
        (counts.broken_before, "failed before: not counted", glyphs.none, "muted"),
        (counts.flaky, "flaky: differ on the same code", glyphs.half, "warn"),
        (counts.skipped, "skipped", glyphs.skip, "muted"),
        (counts.gone, "missing: never counted as passed", glyphs.bad, "bad"),
    ]
    for number, words, sign, style in kinds:
        if number:
            lines.append(crop([(f"{sign} ", style), (f"{number:>5}  ", "fg bold"), (words, "fg")], width))
    for name in result.failing[:50]:
        first, *more = wrap(outside(name), width - 4, "fg")
        lines += [((f"  {glyphs.bad} ", "bad"), *first[1:]), *((("    ", ""), *line[1:]) for line in more)]
    return lines


class Evidence(ListPage):
    NAME = "evidence"
    LIST_TITLE = "EVIDENCE"

    def __init__(self) -> None:
        super().__init__()
        self._of_task = ""
        self._records: list[EvidenceRecord] = []
        self._error = ""
        self._entries: list[tuple[EvidenceRecord, CheckResult] | None] = []
        self.loaded = False

    def update_view(self, view: View) -> None:
        task = view.task
        if task is None:
            self.loaded = True  # there is nothing to ask for
        elif (task.id, task.evidence) != self._key():
            self._of_task, self._evidence = task.id, task.evidence
            self._records, self._error, self.loaded = [], "", False
            self.run_worker(self._load(task.id), group="evidence", exclusive=True, exit_on_error=False)
        super().update_view(view)

    def _key(self) -> tuple[str, str]:
        return self._of_task, getattr(self, "_evidence", "?")

    async def _load(self, task: str) -> None:
        key = self._key()
        answer = await self.ask(GetEvidence(task=task))
        if key != self._key():
            return
        self._error = answer.error
        self._records = list(answer.evidence)
        self.loaded = True
        self.dev.redraw()

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        task = view.task
        records = self._records
        if not records and task is not None and task.checks:
            records = [
                EvidenceRecord(
                    task=task.id,
                    iteration=task.iteration,
                    hash=task.evidence,
                    tree=task.tree,
                    results=task.checks,
                    findings=task.findings,
                )
            ]
        rows: list[Line] = []
        self._entries = []
        for number, record in enumerate(records):
            same = [old for old in records[number + 1 :] if old.iteration == record.iteration]
            earlier = any(old.base != record.base for old in same)
            title = (
                f"T{outside(self._of_task)} iteration {record.iteration}{', on the new base' if earlier else ''}"
                if record.iteration
                else f"tree {short_hash(record.tree)}"
            )
            rows.append(crop([(title, "muted bold")], width))
            self._entries.append(None)
            if record.error:
                rows.append(crop([(f" {view.glyphs.bad} ", "bad"), (outside(record.error), "bad")], width))
                self._entries.append(None)
            for result in record.results:
                sign, word, style = of_verdict(result.verdict, view.glyphs)
                counted = f"{result.counts.passed}/{result.counts.total}" if result.counts else word
                left: list[Span] = [(f" {sign} ", style), (outside(result.name), "fg")]
                rows.append(spread(left, [(counted, style)], width, gap=1))
                self._entries.append((record, result))
        headings = [at for at, entry in enumerate(self._entries) if entry is None]
        if not rows:
            why = outside(self._error) or "no check has run for this task yet"
            rows, headings = [crop([(why, "muted")], width)], [0]
        return rows, headings

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        at = self.menu.cursor
        entry = self._entries[at] if 0 <= at < len(self._entries) else None
        if entry is None:
            return [(("choose a check to see what it measured", "muted"),)]
        record, result = entry
        self.sheet.set_title(f"{outside(result.name).upper()} {view.glyphs.sep} T{outside(self._of_task)}")
        return check_lines(view, result, record, width)
