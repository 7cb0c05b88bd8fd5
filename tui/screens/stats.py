"""Statistics: what every sprint of the repository adds up to, as plots over sprints and as words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.core.statistics import SprintStatistics, Statistics, together
from engine.core.wording import plural
from engine.link.protocol import Answered, GetStatistics
from tui.kit.meter import bar
from tui.kit.paint import BLANK, Line, Span, crop, outside, pad, side_by_side, spread, wrap
from tui.kit.plot import Series, plot
from tui.kit.view import View
from tui.kit.wording import money, short_sprint
from tui.screens.list_page import SheetPage

TWO_COLUMNS = 100
LABEL = 33


def _share(part: float, whole: float) -> float | None:
    return 100.0 * part / whole if whole else None


Measure = Callable[[Statistics], float | None]
MEASURES: tuple[tuple[str, str, Measure, Callable[[float], str]], ...] = (
    ("FIRST-PASS RATE", "good", lambda one: _share(one.first_pass, one.complete), lambda value: f"{value:.0f}%"),
    (
        "COST PER COMPLETED TASK",
        "accent",
        lambda one: one.usd_complete / one.complete if one.complete else None,
        money,
    ),
    (
        "CLAIMS CONTRADICTED BY EVIDENCE",
        "bad",
        lambda one: _share(one.contradicted, one.claims),
        lambda value: f"{value:.0f}%",
    ),
    (
        "MINUTES PER COMPLETED TASK",
        "rung-3",
        lambda one: one.seconds_complete / 60 / one.complete if one.complete else None,
        lambda value: f"{value:.1f}",
    ),
)


def stats_lines(view: View, sprints: Sequence[SprintStatistics], width: int, height: int) -> list[Line]:
    if not sprints:
        return wrap(
            "No sprint has run in this repository yet. This page shows statistics after the first one.", width, "muted"
        )
    total = together(one.figures for one in sprints)
    words = _words(total, width if width < TWO_COLUMNS else (width - 3) // 2)
    who = _resolved(view, total, width if width < TWO_COLUMNS else (width - 3) // 2)
    if width >= TWO_COLUMNS:
        half = (width - 3) // 2
        rows = max(8, min(12, (height - len(words) - 4) // 2))
        plots = [_plot(view, sprints, measure, half, rows) for measure in MEASURES]
        top = side_by_side(words, [*who, *_forecast(view, total, width - half - 3)], half)
        lines = [*top, BLANK]
        for left, right in zip(plots[::2], plots[1::2], strict=True):
            lines += [*side_by_side(left, right, half), BLANK]
    else:
        lines = [*words, BLANK, *who, *_forecast(view, total, width), BLANK]
        for measure in MEASURES:
            lines += [*_plot(view, sprints, measure, width, 9), BLANK]
    return [*lines, *_sprints(view, sprints, width)]


def _words(total: Statistics, width: int) -> list[Line]:
    lines: list[Line] = [((f"{plural(total.sprints, 'sprint').upper()} IN TOTAL", "muted bold"),)]
    for label, value in total.rows():
        if label in ("sprints", "resolved by", "forecast against outcome"):
            continue
        lines.append(crop([(pad(label, LABEL), "muted"), (value, "fg bold")], width))
    return lines


def _resolved(view: View, total: Statistics, width: int) -> list[Line]:
    """Who made tasks complete: a rung by itself, the council, a human."""
    lines: list[Line] = [(("RESOLVED BY", "muted bold"),)]
    most = max(total.resolved_by.values(), default=0)
    for name, count in sorted(total.resolved_by.items(), key=lambda one: -one[1])[:6]:
        left: list[Span] = [(pad(outside(name), 12), "fg"), (f"{count:>4}  ", "fg bold")]
        lines.append(crop([*left, *bar(count, most, max(4, min(30, width - 20)), view.glyphs, "accent")], width))
    return lines if total.resolved_by else [*lines, (("no task is complete yet", "muted"),)]


def _forecast(view: View, total: Statistics, width: int) -> list[Line]:
    if not total.forecast_tasks:
        return []
    glyphs = view.glyphs
    said = (
        f"{money(total.forecast_usd)} {glyphs.arrow} {money(total.forecast_spent)}, "
        f"{total.forecast_seconds / 60:.0f} min {glyphs.arrow} {total.forecast_took / 60:.0f} min"
    )
    heading: Line = (("FORECAST AND ACTUAL", "muted bold"),)
    basis = f"of {plural(total.forecast_tasks, 'task')} with a forecast"
    return [BLANK, heading, crop([(said, "fg")], width), crop([(basis, "muted")], width)]


def _plot(
    view: View,
    sprints: Sequence[SprintStatistics],
    measure: tuple[str, str, Measure, Callable[[float], str]],
    width: int,
    height: int,
) -> list[Line]:
    """One measure over the sprints, oldest at the left; of one sprint a line says it."""
    title, style, value_of, words = measure
    values = [(float(number), value_of(one.figures)) for number, one in enumerate(sprints, 1)]
    points = tuple((at, value) for at, value in values if value is not None)
    heading: Line = ((title, "muted bold"),)
    if len(points) < 2:
        said = f"{words(points[0][1])} in one sprint" if points else "nothing measured yet"
        return [heading, crop([(said, "fg")], width)]
    names = [short_sprint(outside(one.sprint)) for one in sprints]

    def sprint_at(at: float) -> str:
        return names[max(0, min(len(names) - 1, round(at) - 1))]

    series = Series(points=points, style=style)
    places = [float(number) for number in range(1, len(sprints) + 1)]
    drawn = plot([series], width, height - 1, view.glyphs, y_words=words, x_words=sprint_at, x_marks=places)
    return [spread([(title, "muted bold")], [(f"last {words(points[-1][1])}", style)], width), *drawn]


def _sprints(view: View, sprints: Sequence[SprintStatistics], width: int) -> list[Line]:
    lines: list[Line] = [(("SPRINTS", "muted bold"),)]
    for one in reversed(sprints):
        figures = one.figures
        first = f"{_share(figures.first_pass, figures.complete) or 0:.0f}% first pass" if figures.complete else ""
        right: list[Span] = [
            (f"{figures.complete} of {figures.tasks}", "fg"),
            (f"  {first:>16}" if width >= 80 else "", "muted"),
            (f"  {money(figures.usd):>8}", "fg"),
        ]
        left: list[Span] = [(outside(one.sprint), "fg"), (f"  {outside(one.title)}", "muted")]
        lines.append(spread(left, right, width, gap=2))
    return lines


class Stats(SheetPage):
    NAME = "stats"
    HEADING = "STATISTICS"
    QUERY = GetStatistics()

    def __init__(self) -> None:
        super().__init__()
        self._sprints: tuple[SprintStatistics, ...] = ()

    def taken(self, answer: Answered) -> None:
        self._sprints = answer.statistics

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        if self.error:
            return wrap(outside(self.error), width, "bad")
        if not self.loaded:
            return [(("loading the sprints", "muted"),)]
        return stats_lines(view, self._sprints, width, height)
