"""The monitor's panel: status and reason, test trend, failing set, flip-flop trace, breakers, permits, progress."""

from __future__ import annotations

from engine.core.model import Health
from engine.core.state import Record, TaskState
from engine.core.wording import plural
from tui.kit.glyphs import of_health
from tui.kit.meter import spark
from tui.kit.paint import BLANK, Line, Span, crop, outside, pad, wrap
from tui.kit.view import View
from tui.panels.panel import Panel

LABEL = 10
HOUR = 3600.0


def health_lines(view: View, width: int, height: int) -> list[Line]:
    task = view.task
    lines = _status(view, task, width)
    if task is not None:
        lines += _trend(view, task, width)
        lines += _failing(view, task, width)
        lines += _trace(view, task, width)
    lines += _guards(view, task, width)
    if task is not None and task.history:
        lines += _progress(view, task.history[-1], width)
    return lines if len(lines) <= height else [line for line in lines if line]


def _row(label: str, spans: list[Span], width: int) -> Line:
    return crop([(pad(label, LABEL), "muted"), *spans], width)


def _status(view: View, task: TaskState | None, width: int) -> list[Line]:
    health, reason = view.state.health, view.state.health_reason
    if task is not None and task.health_reason:
        health, reason = task.health, task.health_reason
    sign, style = of_health(health, view.glyphs)
    if task is None or not view.state.running:
        return wrap(outside(reason), width, "muted")[:2]
    head: Line = ((f"{sign} ", style), (health.value, f"{style} bold"))
    return [head, *wrap(outside(reason), width, "fg" if health is not Health.PROGRESSING else "muted")[:3]]


def _trend(view: View, task: TaskState, width: int) -> list[Line]:
    measured = [record for record in task.history if record.total]
    if not measured:
        return []
    last = measured[-1]
    drawn = spark([float(record.passing) for record in measured], view.glyphs, "good" if last.green else "accent")
    return [BLANK, _row("tests", [*drawn, (f"  {last.passing} of {last.total}", "fg")], width)]


def _failing(view: View, task: TaskState, width: int) -> list[Line]:
    last = task.history[-1] if task.history else None
    if last is None or not last.failing:
        return []
    lines = [_row("failing", [(plural(len(last.failing), "failure"), "bad")], width)]
    for name in last.failing[:3]:
        short = outside(name).rsplit("::", 1)[-1]
        lines.append(crop([(f"  {view.glyphs.bad} ", "bad"), (short, "fg")], width))
    if len(last.failing) > 3:
        lines.append(crop([(f"    {len(last.failing) - 3} more", "muted")], width))
    return lines


def _trace(view: View, task: TaskState, width: int) -> list[Line]:
    """Trees by letter, in order: A B A is a flip-flop, A A A a stall."""
    trees = [record.tree for record in task.history if record.tree]
    if len(trees) < 2:
        return []
    letters: dict[str, str] = {}
    names = []
    for tree in trees[-8:]:
        letters.setdefault(tree, chr(ord("A") + len(letters) % 26))
        names.append(letters[tree])
    repeats = len(set(names)) < len(names)
    return [_row("trees", [(view.glyphs.arrow.join(names), "warn" if repeats else "fg")], width)]


def _guards(view: View, task: TaskState | None, width: int) -> list[Line]:
    state = view.state
    lines: list[Line] = [BLANK]
    opened = {name: breaker for name, breaker in state.breakers.items() if breaker.opened_at}
    if opened:
        for name, breaker in opened.items():
            half = view.now - breaker.opened_at >= state.policy.breaker.reset_seconds
            word = "half-open" if half else "open"
            lines.append(_row("breaker", [(f"{word}: ", "bad"), (outside(f"{name} {breaker.reason}"), "fg")], width))
    else:
        failures = max((breaker.failures for breaker in state.breakers.values()), default=0)
        words: list[Span] = [("closed", "good")]
        if failures:
            words.append((f"  {failures} of {state.policy.breaker.threshold} failures", "muted"))
        lines.append(_row("breaker", words, width))
    recent = sum(at > view.now - HOUR for at in state.recent_calls)
    limit = state.policy.limits.calls_per_hour
    lines.append(
        _row("calls", [(f"{recent}", "warn" if recent >= limit else "fg"), (f" of {limit} an hour", "muted")], width)
    )
    if task is not None:
        used = {key: number for key, number in task.recoveries.items() if number}
        most = state.policy.monitor.recoveries
        if used:
            said = ", ".join(f"{number} of {most} {outside(key).lower()}" for key, number in used.items())
            lines.append(_row("recovered", [(said, "warn")], width))
        else:
            lines.append(_row("recovered", [("no need", "muted")], width))
    return lines


def _progress(view: View, last: Record, width: int) -> list[Line]:
    """The progress indicators: files, lines, tests, coverage, build."""
    minus = view.glyphs.minus
    lines: list[Line] = [BLANK]
    files = f"{last.created} new {last.modified} mod {last.deleted} del"
    lines.append(_row("files", [(files, "fg")], width))
    lines.append(_row("lines", [(f"+{last.added}", "added"), (f" {minus}{last.removed}", "removed")], width))
    tests: list[Span] = [(f"+{last.new_tests}", "fg")]
    if last.coverage is not None:
        tests.append((f"  {last.coverage:.1f} % covered", "muted"))
    lines.append(_row("new tests", tests, width))
    build = plural(last.build_errors, "error") if last.build_errors else "no errors" if last.built else "not built"
    if last.build_warnings:
        build += f", {plural(last.build_warnings, 'warning')}"
    lines.append(_row("build", [(build, "bad" if last.build_errors else "fg")], width))
    return lines


class HealthPanel(Panel):
    def __init__(self) -> None:
        super().__init__(id="health")

    def title(self, view: View) -> tuple[str, str]:
        return "HEALTH", ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return health_lines(view, width, height)
