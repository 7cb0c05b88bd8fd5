"""Cost: spend over time, and by rung, role, task and day."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.events import AgentFinished, Envelope
from engine.core.state import Usage
from engine.core.wording import plural
from tui.kit.meter import bar, meter
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, outside, pad, side_by_side, width_of
from tui.kit.plot import Series, plot
from tui.kit.view import View
from tui.kit.wording import count, day_of, duration, money, share
from tui.screens.list_page import SheetPage

DAY = 86400.0
MONEY, LEAST_BAR = 10, 4
"""Cells of an amount of money in a table, and of a bar that still says something."""


def spend_over_time(envelopes: Iterable[Envelope]) -> list[tuple[float, float]]:
    """(time, spent so far) after every agent call."""
    total = 0.0
    points: list[tuple[float, float]] = []
    for envelope in envelopes:
        if isinstance(envelope.event, AgentFinished):
            total += max(0.0, envelope.event.charged_usd)
            points.append((envelope.at, total))
    return points


def cost_lines(view: View, points: list[tuple[float, float]], width: int, height: int) -> list[Line]:
    lines = _budgets(view, width)
    if points and height > 16:
        rows = max(6, min(14, height // 3))
        lines += [BLANK, (("SPENT OVER TIME", "muted bold"),), *_plot(view, points, width, rows)]
    blocks = [_rungs(view, width), _roles(view, width), _tasks(view, width), _days(view, width)]
    if width >= 108:
        half = (width - 3) // 2
        blocks = [_rungs(view, half), _roles(view, half), _tasks(view, half), _days(view, half)]
        lines += [BLANK, *side_by_side(blocks[0], blocks[1], half), BLANK, *side_by_side(blocks[2], blocks[3], half)]
    else:
        for block in blocks:
            lines += [BLANK, *block]
    return lines


def _budgets(view: View, width: int) -> list[Line]:
    state = view.state
    policy = state.policy.budget
    rows: list[Line] = []
    for label, spent, limit in (
        ("sprint", state.spent_usd, policy.session_usd),
        ("today", state.day_spent_usd, policy.day_usd),
    ):
        used = share(spent, limit)
        style = "bad" if used >= 1 else "warn" if used * 100 >= policy.warn_percent else "accent"
        words: list[Span] = [
            (pad(label, 9), "muted"),
            (f"{money(spent):>8}", "fg bold"),
            (f" of {money(limit):<8} ", "muted"),
        ]
        cells = max(8, min(40, width - width_of(words) - 8))
        rows.append(
            crop(
                [*words, *meter(spent, limit, cells, view.glyphs, style), (f" {round(used * 100):>3}%", "muted")],
                width,
            )
        )
    held = state.reserved_usd()
    calls = plural(state.calls, "call") + (f" of {policy.max_calls}" if policy.max_calls else "")
    rate = state.spent_usd / max(view.elapsed(), 1.0) * 3600
    parts = f"{calls}   {duration(view.elapsed())}   {money(rate)} an hour" + (
        f"   {money(held)} reserved" if held else ""
    )
    rows.append(crop([(pad("so far", 9), "muted"), (parts, "fg")], width))
    if any(usage.estimated for usage in state.usage_by_rung.values()):
        rows.append(crop([(" " * 9, ""), ("partly estimated: an agent did not report its cost", "warn")], width))
    return rows


def _plot(view: View, points: list[tuple[float, float]], width: int, height: int) -> list[Line]:
    """Spend so far over the time of the run, and the tests that passed then."""
    start = view.state.created_at or points[0][0]
    end = max(points[-1][0], view.now if view.state.running else view.state.now)
    drawn = ((start, 0.0), *points, (end, points[-1][1]))
    return plot(
        [Series(points=drawn, steps=True, filled=True)],
        width,
        height,
        view.glyphs,
        y_words=money,
        x_words=lambda at: duration(at - start),
    )


def _table(view: View, title: str, rows: list[tuple[str, str, float, str]], width: int) -> list[Line]:
    """Name, style, cost and words; a bar shows each one's share of the dearest."""
    lines: list[Line] = [((title, "muted bold"),)]
    most = max((cost for _, _, cost, _ in rows), default=0.0)
    tail = max((cells_of(words) for *_, words in rows), default=0)
    longest = max((cells_of(name) for name, *_ in rows), default=12)
    name_width = max(12, min(longest + 1, width - MONEY - LEAST_BAR - 2 - tail))
    for name, style, cost, words in rows:
        left: list[Span] = [(pad(name, name_width), style), (f"{money(cost):>8}  ", "fg")]
        room = max(LEAST_BAR, min(24, width - width_of(left) - tail - 2))
        lines.append(
            crop(
                [
                    *left,
                    *bar(cost, most, room, view.glyphs, style if style != "fg" else "accent"),
                    (f"  {words:>{tail}}", "muted"),
                ],
                width,
            )
        )
    if not rows:
        lines.append((("none yet", "muted"),))
    return lines


def _words(usage: Usage) -> str:
    return f"{plural(usage.calls, 'call'):>9} {count(usage.tokens.total()):>7} tokens"


def _rungs(view: View, width: int) -> list[Line]:
    rows = []
    for index, rung in enumerate(view.state.policy.ladder.rungs):
        usage = view.state.usage_by_rung.get(rung.name, Usage())
        rows.append((outside(rung.name), f"rung-{min(index, 3) + 1}", usage.cost_usd, _words(usage)))
    return _table(view, "BY RUNG", rows, width)


def _roles(view: View, width: int) -> list[Line]:
    found = sorted(view.state.usage_by_role.items(), key=lambda item: -item[1].cost_usd)
    return _table(
        view, "BY ROLE", [(outside(role), "fg", usage.cost_usd, _words(usage)) for role, usage in found], width
    )


def _tasks(view: View, width: int) -> list[Line]:
    tasks = sorted((task for task in view.state.tasks.values() if task.spent_usd), key=lambda task: -task.spent_usd)
    rows = [
        (f"{outside(task.id)} {outside(task.spec.title)}", "fg", task.spent_usd, plural(task.iteration, "iteration"))
        for task in tasks[:12]
    ]
    return _table(view, "BY TASK", rows, width)


def _days(view: View, width: int) -> list[Line]:
    rows = []
    for day, spent in sorted(view.state.usage_by_day.items()):
        name = day_of(int(day) * DAY, 0.0) if day.lstrip("-").isdigit() else outside(day)
        rows.append((name, "fg", spent, ""))
    return _table(view, "BY DAY", rows[-7:], width)


class Cost(SheetPage):
    NAME = "cost"
    HEADING = "COST"

    def __init__(self) -> None:
        super().__init__()
        self._older: list[Envelope] = []
        self.loaded = False

    def mounted(self) -> None:
        super().mounted()
        self.run_worker(self._load(), exit_on_error=False)

    async def _load(self) -> None:
        """Calls from before this window was opened."""
        async for page in self.recorded():
            self._older += [envelope for envelope in page if isinstance(envelope.event, AgentFinished)]
        self.loaded = True
        self.dev.redraw()

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        last = self._older[-1].seq if self._older else 0
        live = [envelope for envelope in self.dev.feed.events if envelope.seq > last]
        return cost_lines(view, spend_over_time([*self._older, *live]), width, height)
