"""The monitor's panel: how the sprint is and how each lane is, in plain words; test trend, failing set, guards."""

from __future__ import annotations

from engine.core.model import CheckKind, Health
from engine.core.state import TaskState
from engine.core.status_words import of_health as words_of
from engine.core.task_state import Record
from engine.core.wording import plural
from tui.kit.glyphs import of_health
from tui.kit.meter import spark
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, outside, pad, spread, width_of, wrap_to
from tui.kit.plot import Series, plot
from tui.kit.view import View, health_reason, running_tasks
from tui.panels.panel import Panel

LABEL = 10
HOUR = 3600.0
PLOTTED, PLOT_ROWS = 3, 7
"""Measured iterations from which the trend is drawn with axes, and its rows."""


def health_lines(view: View, width: int, height: int) -> list[Line]:
    """The plot of the tests is there whole or not at all; then what is no news goes, then the blank rows."""
    for drawn, quiet in ((True, True), (True, False), (False, True), (False, False)):
        lines = _lines(view, width, drawn=drawn, quiet=quiet)
        if len(lines) <= height:
            return lines
    for at in reversed([at for at, line in enumerate(lines) if not line]):
        if len(lines) > height:
            del lines[at]
    return lines


def _lines(view: View, width: int, *, drawn: bool, quiet: bool) -> list[Line]:
    task = view.task
    lines = [*_sprint(view, width), *_lanes(view, width), *_status(view, task, width)]
    if task is not None:
        lines += _measured(view, task, width, drawn=drawn)
    return [*lines, *_guards(view, task, width, quiet=quiet)]


def _row(label: str, spans: list[Span], width: int) -> Line:
    return crop([(pad(label, LABEL), "muted"), *spans], width)


def _sprint(view: View, width: int) -> list[Line]:
    """The sprint as a whole, in a sentence."""
    state = view.state
    if not state.running:
        return wrap_to(outside(state.health_reason), width, "muted", 2, ellipsis=view.glyphs.ellipsis)
    sign, style = of_health(state.health, view.glyphs)
    head: Line = ((f"{sign} ", style), (f"sprint {words_of(state.health).said}", f"{style} bold"))
    why, running = health_reason(state), running_tasks(state)
    about = [task for task in running if task.health_reason == why]
    one = about[0] if len(about) == 1 else None
    several = len(running) > 1
    if several and (about or state.health is Health.PROGRESSING):  # the list of the lanes says it
        return [crop(head, width)]
    if one is not None and one.id == view.selected and not _ahead(one) and state.health is Health.PROGRESSING:
        return [crop(head, width)]
    if one is not None:
        why = f"T{one.id}, iteration {one.iteration if _ahead(one) else one.history[-1].iteration}: {why}"
    return [
        crop(head, width),
        *wrap_to(outside(why), width, "muted", 3, first="  ", ellipsis=view.glyphs.ellipsis),
    ]


def _ahead(task: TaskState) -> bool:
    """The checks of an iteration that has not ended are known: what is said of the task is about that one."""
    return not task.history or (bool(task.checks) and task.iteration > task.history[-1].iteration)


def _lanes(view: View, width: int) -> list[Line]:
    """Every lane at work, where there are several: which one needs a look."""
    running = running_tasks(view.state)
    if len(running) < 2:
        return []
    measured = any(_passing(task) for task in running)
    heading: list[Span] = [("tests passing", "muted bold")] if measured else []
    lines: list[Line] = [spread([("lanes", "muted bold")], heading, width)]
    counted = {task.id: _passing(task) for task in running}
    short = any(
        cells_of(f" T{outside(task.id)} {words_of(task.health).said} {found[0]}") + 2 > width
        for task in running
        if (found := counted[task.id])
    )
    for task in running:
        sign, style = of_health(task.health, view.glyphs)
        mark = view.glyphs.cursor if task.id == view.selected else " "
        words = f"T{outside(task.id)} {words_of(task.health).said}"
        left: list[Span] = [(mark, "accent"), (f"{sign} ", style), (words, "fg")]
        why = outside(task.health_reason) if task.health is not Health.PROGRESSING else ""
        room = width - width_of(left) - 1
        said = next((words for words in counted[task.id][short:] if cells_of(words) <= room), "")
        lines.append(spread(left, [(said, "muted")], width, gap=1))
        if why:
            lines += wrap_to(why, width, "muted", 2, first="   ", ellipsis=view.glyphs.ellipsis)
    return lines


def _passing(task: TaskState) -> list[str]:
    """Tests that passed when last measured, longer and shorter: in this iteration, or in the last one that ended."""
    now = [one.counts for one in task.checks if one.kind is CheckKind.TESTS and one.counts is not None]
    measured = [(record.passing, record.total) for record in task.history if record.total]
    if now and (total := sum(one.total for one in now)):
        measured.append((sum(one.passed for one in now), total))
    if not measured:
        return []
    passing, total = measured[-1]
    return [f"{passing} of {total}", f"{passing}/{total}"]


def _status(view: View, task: TaskState | None, width: int) -> list[Line]:
    """The chosen task, where it is worse than the sprint or stands alone."""
    if task is None or not task.health_reason or not view.state.running:
        return []
    if task.health is Health.PROGRESSING or task.health_reason == view.state.health_reason:
        return []
    sign, style = of_health(task.health, view.glyphs)
    head: Line = (
        (f"{sign} ", style),
        (f"T{outside(task.id)} is {words_of(task.health).said}", f"{style} bold"),
    )
    return [
        BLANK,
        crop(head, width),
        *wrap_to(outside(task.health_reason), width, "fg", 3, first="  ", ellipsis=view.glyphs.ellipsis),
    ]


def _measured(view: View, task: TaskState, width: int, *, drawn: bool) -> list[Line]:
    """What the last iteration that ended left of the chosen task, under a heading that says which one that was."""
    if not task.history:
        return []
    last = task.history[-1]
    heading: Line = ((f"T{outside(task.id)} after iteration {last.iteration}", "muted bold"),)
    return [
        BLANK,
        crop(heading, width),
        *_trend(view, task, width, drawn=drawn),
        *_failing(view, last, width),
        *_trace(view, task, width),
        *_progress(view, last, width),
    ]


def _trend(view: View, task: TaskState, width: int, *, drawn: bool) -> list[Line]:
    """Tests that passed after each iteration: a plot where there is something to see and room for it, else a line."""
    measured = [record for record in task.history if record.total]
    if not measured:
        return []
    last = measured[-1]
    style = "good" if last.green else "accent"
    words: Span = (f"{last.passing} of {last.total} pass", "fg")
    if len(measured) < PLOTTED or not drawn:
        trend = spark([float(one.passing) for one in measured], view.glyphs, style) if len(measured) > 1 else []
        whole = [*trend, ("  ", ""), words] if trend else [words]
        return [_row("tests", whole if width_of(whole) <= width - LABEL else [words], width)]
    passing = Series(points=tuple((float(one.iteration), float(one.passing)) for one in measured), style=style)
    rows = plot(
        [passing],
        width,
        PLOT_ROWS,
        view.glyphs,
        y_words=lambda value: f"{value:.0f}",
        x_words=lambda at: f"it {at:.0f}",
        y_marks=(0.0, float(max(one.total for one in measured))),
        x_marks=[float(one.iteration) for one in measured],
    )
    return [_row("tests", [words], width), *rows]


def _failing(view: View, last: Record, width: int) -> list[Line]:
    if not last.failing:
        return []
    lines = [_row("failing", [(plural(len(last.failing), "test"), "bad")], width)]
    for name in last.failing[:3]:
        short = outside(name).rsplit("::", 1)[-1]
        first, *more = wrap_to(
            short, width - 4, "fg", 2, ellipsis=view.glyphs.ellipsis
        )  # a name is never cut beside room
        lines.append(((f"  {view.glyphs.bad} ", "bad"), *first))
        lines += [(("    ", ""), *line) for line in more]
    if len(last.failing) > 3:
        lines.append(crop([(f"    {len(last.failing) - 3} more", "muted")], width))
    return lines


def _trace(view: View, task: TaskState, width: int) -> list[Line]:
    """Trees by letter, in order, where one came again: A B A is a flip-flop, A A A a stall."""
    trees = [record.tree for record in task.history if record.tree]
    if len(trees) < 2:
        return []
    letters: dict[str, str] = {}
    names = []
    for tree in trees[-8:]:
        letters.setdefault(tree, chr(ord("A") + len(letters) % 26))
        names.append(letters[tree])
    if len(set(names)) == len(names):  # every attempt made something new
        return []
    return [_row("repeats", [(view.glyphs.arrow.join(names), "warn"), ("  same code again", "muted")], width)]


def _guards(view: View, task: TaskState | None, width: int, *, quiet: bool = True) -> list[Line]:
    """Breakers, calls, recoveries; without `quiet` only what is news."""
    state = view.state
    lines: list[Line] = [BLANK]
    opened = {name: breaker for name, breaker in state.breakers.items() if breaker.opened_at}
    if opened:
        for name, breaker in opened.items():
            half = view.now - breaker.opened_at >= state.policy.breaker.reset_seconds
            word = "half-open" if half else "open"
            lines.append(_row("breaker", [(f"{word}: ", "bad"), (outside(f"{name} {breaker.reason}"), "fg")], width))
    elif (failures := max((breaker.failures for breaker in state.breakers.values()), default=0)) or quiet:
        words: list[Span] = [("closed", "good")]
        if failures:
            words.append((f"  {failures} of {state.policy.breaker.threshold} failures", "muted"))
        lines.append(_row("breaker", words, width))
    recent = sum(at > view.now - HOUR for at in state.recent_calls)
    limit = state.policy.limits.calls_per_hour
    counted: Span = (f"{recent}", "warn" if recent >= limit else "fg")
    said = f" of {limit} this hour"
    if LABEL + cells_of(counted[0]) + cells_of(said) > width:
        said = f" of {limit}/hour"
    lines.append(_row("calls", [counted, (said, "muted")], width))
    if task is not None:
        used = {key: number for key, number in task.recoveries.items() if number}
        most = state.policy.monitor.recoveries
        if used:
            said = ", ".join(f"{number} of {most} {outside(key).lower()}" for key, number in used.items())
            lines.append(_row("recovery", [(said, "warn")], width))
        elif quiet:
            lines.append(_row("recovery", [("not needed", "muted")], width))
    return lines


def _progress(view: View, last: Record, width: int) -> list[Line]:
    """The progress indicators: files, lines, tests, coverage, build."""
    minus = view.glyphs.minus
    lines: list[Line] = []
    counted = ((last.created, "new"), (last.modified, "changed"), (last.deleted, "removed"))
    files = ", ".join(f"{number} {word}" for number, word in counted if number) or "none changed"
    lines.append(_row("files", [(files, "fg")], width))
    lines.append(_row("lines", [(f"+{last.added}", "added"), (f" {minus}{last.removed}", "removed")], width))
    tests: list[Span] = [(f"+{last.new_tests}", "fg")]
    if last.coverage is not None:
        tests.append((f"  {last.coverage:.1f}% covered", "muted"))
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
