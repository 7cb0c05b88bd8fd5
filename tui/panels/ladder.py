"""The ladder of models: rungs with calls, tokens, cost and success; where the task stands; every escalation and why."""

from __future__ import annotations

from engine.core.state import Usage
from engine.core.wording import plural
from tui.kit.meter import bar
from tui.kit.paint import BLANK, Line, Span, crop, outside, pad, spread, wrap
from tui.kit.view import View
from tui.kit.wording import count, money
from tui.panels.panel import Panel


def ladder_lines(view: View, width: int, height: int) -> list[Line]:
    state, glyphs = view.state, view.glyphs
    rungs = state.policy.ladder.rungs
    task = view.task
    here = task.rung if task is not None and task.iteration and not task.ended else -1
    most = max((usage.calls for usage in state.usage_by_rung.values()), default=0)
    longest = min(8, max((len(rung.name) for rung in rungs), default=0))
    lines: list[Line] = []
    tail = [*_stand(view, width), *_escalations(view, width)]
    brief = bool(height) and 2 * len(rungs) + len(tail) > height
    for index, rung in reversed(list(enumerate(rungs))):
        usage = state.usage_by_rung.get(rung.name, Usage())
        style = f"rung-{min(index, 3) + 1}"
        mark: Span = (f"{glyphs.run} ", "accent") if index == here else ("  ", "")
        left: list[Span] = [mark, (pad(outside(rung.name), longest), f"{style} bold" if index == here else style)]
        if width >= 30:
            left += [(" ", ""), *bar(usage.calls, most, max(3, min(12, width - 27)), glyphs, style)]
        right: list[Span] = [(f"{usage.calls} ", "fg"), ("call " if usage.calls == 1 else "calls", "muted")]
        right.append(
            (f" {money(usage.cost_usd):>6}" if usage.calls else f" {glyphs.none:>6}", "fg" if usage.calls else "muted")
        )
        lines.append(spread(left, right, width, gap=1))
        if usage.calls and width >= 26 and not brief:
            lines.append(_detail(view, usage, width))
    return [*lines, *tail]


def _detail(view: View, usage: Usage, width: int) -> Line:
    glyphs = view.glyphs
    words: list[Span] = [("    ", ""), (f"{glyphs.ok} {usage.successes}", "good"), ("  ", "")]
    words.append((f"{glyphs.bad} {usage.failures}", "bad" if usage.failures else "muted"))
    tokens = f"{count(usage.tokens.total())} tokens"
    return spread(words, [(tokens, "muted")], width, gap=1)


def _stand(view: View, width: int) -> list[Line]:
    """Where the present task stands: failures so far against what its rung may have."""
    task = view.task
    if task is None or not task.iteration or task.ended:
        return []
    if task.council:
        said = "the council sits" if task.council == "sitting" else "the attempt after the council"
        return [BLANK, *wrap(f"T{outside(task.id)} at {view.rung_name(task.rung)}: {said}", width, "fg")]
    failures = task.failures.get("implementer", 0)
    allowed = view.state.policy.ladder.threshold(task.rung)
    name = view.rung_name(task.rung)
    top = task.rung >= len(view.state.policy.ladder.rungs) - 1
    after = "the council" if top else view.rung_name(task.rung + 1)
    words = f"T{outside(task.id)} at {name}: {failures} of {allowed} failures, then {after}"
    return [BLANK, *wrap(words, width, "fg")]


def _escalations(view: View, width: int) -> list[Line]:
    state, glyphs = view.state, view.glyphs
    lines: list[Line] = []
    for step in reversed(state.escalations[-20:]):
        head = f"{glyphs.up} {outside(step.source)}{glyphs.arrow}{outside(step.target)}"
        place = f"T{outside(step.task)} it {step.iteration}"
        lines.append(spread([(head, "warn")], [(place, "muted")], width, gap=1))
        lines.append(crop([("  ", ""), (outside(step.reason), "muted")], width))
    sat = [task for task in state.tasks.values() if task.council]
    for task in sat:
        word = "sits" if task.council == "sitting" else "diagnosed"
        lines.append(
            spread([(f"{glyphs.knob} council {word}", "warn")], [(f"T{outside(task.id)}", "muted")], width, gap=1)
        )
    if lines:
        head = f"{plural(len(state.escalations), 'escalation')}"
        if state.councils or sat:
            head += f", {plural(max(state.councils, len(sat)), 'council')}"
        lines = [BLANK, ((head, "muted bold"),), *lines]
    return lines


class LadderPanel(Panel):
    def __init__(self) -> None:
        super().__init__(id="ladder")

    def title(self, view: View) -> tuple[str, str]:
        return "LADDER", ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return ladder_lines(view, width, height)
